"""Laws of versions; each quotes the rule of semver.org 2.0.0 it checks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dra.semver import Version, parse

NUMBERS = st.integers(0, 2**64 - 1) | st.integers(0, 3)
WORDS = st.from_regex(r"\A[0-9A-Za-z-]{1,6}\Z").filter(lambda t: not t.isdigit())
PRERELEASES = st.lists(NUMBERS | WORDS, max_size=3).map(tuple)
BUILDS = st.lists(st.from_regex(r"\A[0-9A-Za-z-]{1,6}\Z"), max_size=2).map(tuple)
VERSIONS = st.builds(Version, NUMBERS, NUMBERS, NUMBERS, PRERELEASES, BUILDS)


@given(VERSIONS)
def test_a_version_is_read_back_as_it_is_written(version):
    """ "A normal version number MUST take the form X.Y.Z" with its two suffixes."""
    again = parse(str(version))
    assert again == version
    assert (again.prerelease, again.build) == (version.prerelease, version.build)


@given(VERSIONS)
def test_normalising_leaves_a_full_version_alone(version):
    assert str(parse(str(version), normalise=True)) == str(version)
    assert parse(f"v{version}", normalise=True) == version


@given(VERSIONS, BUILDS)
def test_build_metadata_is_ignored(version, build):
    """ "Build metadata MUST be ignored when determining version precedence." """
    other = Version(
        version.major, version.minor, version.patch, version.prerelease, build
    )
    assert other == version
    assert hash(other) == hash(version)
    assert not other < version


@given(VERSIONS, VERSIONS, VERSIONS)
def test_precedence_is_a_total_order(a, b, c):
    """ "Precedence refers to how versions are compared to each other when ordered." """
    assert (a < b) + (a == b) + (a > b) == 1
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high


@given(VERSIONS, PRERELEASES.filter(bool))
def test_a_pre_release_comes_before_its_release(version, prerelease):
    """ "a pre-release version has lower precedence than a normal version" """
    numbers = (version.major, version.minor, version.patch)
    assert Version(*numbers, prerelease) < Version(*numbers)


@given(VERSIONS, NUMBERS, WORDS)
def test_numeric_identifiers_come_before_words(version, number, word):
    """ "Numeric identifiers always have lower precedence than non-numeric" """
    numbers = (version.major, version.minor, version.patch)
    assert Version(*numbers, (number,)) < Version(*numbers, (word,))


@given(VERSIONS, NUMBERS | WORDS)
def test_more_identifiers_come_after_fewer(version, extra):
    """ "A larger set of pre-release fields has a higher precedence" """
    numbers = (version.major, version.minor, version.patch)
    shorter = (*version.prerelease, "x")
    assert Version(*numbers, shorter) < Version(*numbers, (*shorter, extra))
