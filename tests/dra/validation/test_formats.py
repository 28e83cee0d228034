"""Formats of names, versions, uids and addresses."""

from __future__ import annotations

import pytest

from dra.validation import formats

FIELD = "spec.name"


def _reasons(check, text: str, **more) -> list[str]:
    return [cause.reason for cause in check(text, FIELD, **more)]


@pytest.mark.parametrize("text", ["a", "0", "a-b", "a" * 63])
def test_labels_of_a_domain_are_lower_case_letters_digits_and_dashes(text):
    assert not list(formats.dns_label(text))


@pytest.mark.parametrize("text", ["", "-a", "a-", "A", "a_b", "ä", "a\n", "a b"])
def test_other_labels_of_a_domain_are_told_what_is_allowed(text):
    (told,) = formats.dns_label(text)
    assert "RFC 1123 label" in told


def test_a_label_with_dots_is_told_just_that():
    assert list(formats.dns_label("a.b")) == ["must not contain dots"]


def test_a_label_can_be_too_long_and_wrong_at_once():
    told = list(formats.dns_label("A" * 64))
    assert [message[:12] for message in told] == ["must be no m", "a lowercase "]


@pytest.mark.parametrize("text", ["a.b", "a-b.c", "1.2", "a" * 253])
def test_subdomains_are_labels_with_dots(text):
    assert not list(formats.dns_subdomain(text))


@pytest.mark.parametrize("text", ["", "a..b", ".a", "a.", "a.-b", "A.b", "a/b"])
def test_other_subdomains_are_told_what_is_allowed(text):
    (told,) = formats.dns_subdomain(text)
    assert "RFC 1123 subdomain" in told


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("a/b/c", ["a valid label key"]),
        ("/b", ["prefix part must be non-empty"]),
        ("A/b", ["prefix part a lowercase"]),
        ("a/", ["name part must be non-empty", "name part must consist"]),
        ("", ["name part must be non-empty", "name part must consist"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("-", ["name part must consist"]),
        (f"{'a' * 254}/b", ["prefix part must be no more than 253 bytes"]),
    ],
)
def test_keys_of_labels_say_which_part_is_wrong(text, starts):
    told = list(formats.label_key(text))
    assert len(told) == len(starts)
    assert all(m.startswith(s) for m, s in zip(told, starts, strict=True))


@pytest.mark.parametrize("text", ["", "a", "A_b.c-1", "a" * 63])
def test_values_of_labels_may_be_empty(text):
    assert not list(formats.label_value(text))


def test_values_of_labels_count_bytes():
    assert len(list(formats.label_value("ä" * 32))) == 2


@pytest.mark.parametrize(
    "text",
    ["0.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3+build.5", "1.2.3-0a.b-c+001", "1.0.0--"],
)
def test_versions_are_those_of_semver_2(text):
    assert formats.is_semver(text)


@pytest.mark.parametrize(
    "text",
    ["580.159.04", "1.2", "v1.2.3", "", "1.2.3.4", "1.2.3-", "1.2.3-01", "1.2.3\n",
     "1.2.3-rc..1", " 1.2.3", "1.2.x", "-1.2.3", "１.2.3"],
)  # fmt: skip
def test_what_semver_does_not_allow_is_no_version(text):
    assert not formats.is_semver(text)


@pytest.mark.parametrize("text", ["a.example.com", "GPU.Example.com", "a" * 63])
def test_names_of_drivers_may_have_upper_case(text):
    assert _reasons(formats.driver_name, text) == []


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("", ["FieldValueRequired"]),
        ("a" * 64, ["FieldValueTooLong"]),
        ("a_b", ["FieldValueInvalid"]),
        ("_" * 64, ["FieldValueTooLong", "FieldValueInvalid"]),
    ],
)
def test_names_of_drivers_are_short_subdomains(text, reasons):
    assert _reasons(formats.driver_name, text) == reasons


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("a/b.c/d", []),
        ("", ["FieldValueRequired"]),
        ("a//b", ["FieldValueInvalid"]),
        ("/", ["FieldValueInvalid", "FieldValueInvalid"]),
        (f"{'a' * 130}/{'b' * 130}", ["FieldValueTooLong"]),
    ],
)
def test_names_of_pools_are_subdomains_with_slashes(text, reasons):
    assert _reasons(formats.pool_name, text) == reasons


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("model", []),
        ("_a1", []),
        ("a.example.com/model", []),
        ("a" * 32, []),
        ("a" * 33, ["FieldValueTooLong"]),
        ("1a", ["FieldValueInvalid"]),
        ("numa-1", ["FieldValueInvalid"]),
        ("", ["FieldValueInvalid"]),
        ("/a", ["FieldValueInvalid"]),
        ("a/", ["FieldValueInvalid"]),
        ("/", ["FieldValueInvalid", "FieldValueInvalid"]),
    ],
)
def test_names_of_attributes_are_identifiers_with_an_optional_domain(text, reasons):
    assert _reasons(formats.qualified_name, text) == reasons


def test_two_slashes_in_a_name_passed_unchecked_until_1_37():
    assert _reasons(formats.qualified_name, "a.example.com/b/c") == []
    strict = _reasons(formats.qualified_name, "a.example.com/b/c", strict=True)
    assert strict == ["FieldValueInvalid"]


def test_constraints_need_a_domain():
    assert _reasons(formats.fully_qualified_name, "model") == ["FieldValueInvalid"]
    assert _reasons(formats.fully_qualified_name, "a.b/model") == []


UID = "0b1ecf9f-0d5c-4b0a-9d4b-3f3a3f0b6d11"


def test_a_uid_in_its_normal_form_is_fine():
    assert _reasons(formats.uid, UID) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (UID.upper(), "normalized form"),
        (UID.replace("-", ""), "normalized form"),
        (f"{{{UID}}}", "normalized form"),
        (f"urn:uuid:{UID}", "normalized form"),
        (f"urn:uuix:{UID}", "invalid urn prefix"),
        (f"[{UID}]", "invalid bracketed UUID format"),
        (UID.replace("-", "_"), "invalid UUID format"),
        (UID.replace("b", "g"), "invalid UUID format"),
        ("g" * 32, "invalid UUID format"),
        ("", "invalid UUID length: 0"),
        (UID[:-1], "invalid UUID length: 35"),
    ],
)
def test_a_uid_in_another_form_is_told_why_not(text, told):
    (cause,) = formats.uid(text, FIELD)
    assert told in cause.message


@pytest.mark.parametrize("text", ["10.9.8.7/24", "0.0.0.0/0", "2001:db8::1/64", "::/0"])
def test_addresses_of_interfaces_have_a_prefix_length(text):
    assert _reasons(formats.interface_address, text) == []


@pytest.mark.parametrize(
    "text",
    ["10.9.8.7", "10.9.8.7/33", "10.9.8/24", "2001:db8::1/129", "::1%eth0/64", "",
     "a/24", "10.9.8.7/24/1", "10.9.8.7/-1", "10.9.8.7/"],
)  # fmt: skip
def test_what_is_no_such_address_is_told(text):
    (cause,) = formats.interface_address(text, FIELD)
    assert "CIDR form" in cause.message


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("010.009.8.7/24", "10.9.8.7/24"),
        ("10.9.8.7/024", "10.9.8.7/24"),
        ("2001:DB8::1/64", "2001:db8::1/64"),
        ("2001:db8:0:0::1/64", "2001:db8::1/64"),
        ("::ffff:10.9.8.7/120", "10.9.8.7/24"),
    ],
)
def test_an_address_in_another_spelling_is_told_the_usual_one(text, canonical):
    (cause,) = formats.interface_address(text, FIELD)
    assert cause.message.endswith(f'must be in canonical form ("{canonical}")')


@pytest.mark.parametrize("text", ["example.com/gpu", "example.com/GPU_1"])
def test_names_of_extended_resources_have_a_domain(text):
    assert formats.is_extended_resource_name(text)


@pytest.mark.parametrize(
    "text",
    ["gpu", "kubernetes.io/gpu", "a.kubernetes.io/gpu", "requests.a.com/gpu", "a/b/c",
     "Example.com/gpu", "example.com/", f"example.com/{'g' * 64}"],
)  # fmt: skip
def test_other_names_of_resources_are_not_extended(text):
    assert not formats.is_extended_resource_name(text)
