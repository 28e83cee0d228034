from __future__ import annotations

from itertools import pairwise

import pytest

from dra.errors import SemverError
from dra.semver import parse


def test_a_full_version_has_its_parts():
    version = parse("1.10.0-rc.1+build.007")
    assert (version.major, version.minor, version.patch) == (1, 10, 0)
    assert version.prerelease == ("rc", 1)
    assert version.build == ("build", "007")
    assert str(version) == "1.10.0-rc.1+build.007"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.2",
        "v1.2.3",
        "01.2.3",
        "1.02.3",
        "1.2.03",
        "570.124.06",
        "1.2.3.4",
        " 1.2.3",
        "1.2.3 ",
        "1.2.3\n",
        "1.2.3-",
        "1.2.3+",
        "1.2.3-a..b",
        "1.2.3-01",
        "1.2.3-a_b",
        "1.2.3+a_b",
        "1.2.-3",
        "1..3",
        "-1.2.3",
        "1.2.٣",
        "18446744073709551616.0.0",
        "1." * 600,
    ],
)
def test_strict_reading_refuses_what_is_no_full_version(text):
    with pytest.raises(SemverError):
        parse(text)


def test_the_largest_number_has_64_bits():
    assert parse("18446744073709551615.0.0").major == 2**64 - 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("v1.2.3", "1.2.3"),
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("01.2.3", "1.2.3"),
        ("570.124.06", "570.124.6"),
        ("00.00.00", "0.0.0"),
        ("1.2.003-rc.1+b", "1.2.3-rc.1+b"),
        ("1.2.00-rc", "1.2.0-rc"),
    ],
)
def test_normalising_strips_one_v_and_zeros_and_fills_in(text, meant):
    version = parse(text, normalise=True)
    assert version == parse(meant)
    assert str(version) == meant


@pytest.mark.parametrize(
    "text",
    ["", "v", "vv1.2.3", "V1.2.3", "1.2-rc", "1+b", " 1.2", "1.2.3.4", "1.2.3-01"],
)
def test_normalising_does_not_help_everything(text):
    with pytest.raises(SemverError):
        parse(text, normalise=True)


def test_the_error_names_the_text_as_it_was_given():
    with pytest.raises(SemverError, match=r'"v1\.x"'):
        parse("v1.x", normalise=True)


def test_precedence_is_that_of_semver_org():
    """The example of rule 11, lowest first."""
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.9.0",
        "1.10.0",
        "2.0.0",
    ]
    versions = [parse(text) for text in ordered]
    assert all(a < b for a, b in pairwise(versions))
    assert len(set(versions)) == len(versions)


def test_build_metadata_plays_no_part():
    assert parse("1.0.0+a") == parse("1.0.0+b")
    assert hash(parse("1.0.0+a")) == hash(parse("1.0.0"))
    assert not parse("1.0.0+a") < parse("1.0.0+b")


def test_a_version_is_not_its_text():
    assert parse("1.0.0") != "1.0.0"
