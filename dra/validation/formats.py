"""Formats of texts: each function gives the messages of what is wrong, none if nothing is.

Rules and wording: ``k8s.io/apimachinery/pkg/util/validation`` and
``pkg/api/validate/content``. Both have the same formats, but the first counts
"characters" in its messages and the second "bytes" (both count bytes).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from dra.validation.causes import (
    Causes,
    all_invalid,
    invalid,
    quoted,
    required,
    size,
    too_long,
)

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253
DRIVER_LENGTH: Final = 63
IDENTIFIER_LENGTH: Final = 32
KEY_LENGTH: Final = DRIVER_LENGTH + 1 + IDENTIFIER_LENGTH
"""Of an attribute's or capacity's qualified name."""

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_NAME_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_CONDITION_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_NUMBER = r"(0|[1-9][0-9]*)"
_PRERELEASE = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"


def _explained(what: str, pattern: str, *examples: str) -> str:
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{what} (e.g. {listed}regex used for validation is '{pattern}')"


_DNS_LABEL_RULE: Final = _explained(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
    "or '-', and must start and end with an alphanumeric character",
    _DNS_LABEL, "my-name", "123-abc",
)  # fmt: skip
_DNS_SUBDOMAIN_RULE: Final = _explained(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character",
    _DNS_SUBDOMAIN, "example.com",
)  # fmt: skip
_NAME_PART_RULE: Final = _explained(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character",
    _NAME_PART, "MyName", "my.name", "123-abc",
)  # fmt: skip
_LABEL_VALUE_RULE: Final = _explained(
    "a valid label must be an empty string or consist of alphanumeric characters, "
    "'-', '_' or '.', and must start and end with an alphanumeric character",
    f"({_NAME_PART})?", "MyValue", "my_value", "12345",
)  # fmt: skip
_C_IDENTIFIER_RULE: Final = _explained(
    "a valid C identifier must start with alphabetic character or '_', followed by a "
    "string of alphanumeric characters or '_'",
    _C_IDENTIFIER, "my_name", "MY_NAME", "MyName",
)  # fmt: skip
_CONDITION_REASON_RULE: Final = _explained(
    "a condition reason must start with alphabetic character, optionally followed by "
    "a string of alphanumeric characters or '_,:', and must end with an alphanumeric "
    "character or '_'",
    _CONDITION_REASON, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)  # fmt: skip

_IS_DNS_LABEL: Final = re.compile(_DNS_LABEL)
_IS_DNS_SUBDOMAIN: Final = re.compile(_DNS_SUBDOMAIN)
_IS_NAME_PART: Final = re.compile(_NAME_PART)
_IS_C_IDENTIFIER: Final = re.compile(_C_IDENTIFIER)
_IS_CONDITION_REASON: Final = re.compile(_CONDITION_REASON)
_IS_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?"
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BARE_UUID: Final = re.compile(r"[0-9a-fA-F]{32}")


def dns_label(text: str) -> Iterator[str]:
    if size(text) > LABEL_LENGTH:
        yield f"must be no more than {LABEL_LENGTH} characters"
    if not _IS_DNS_LABEL.fullmatch(text):
        dots = _IS_DNS_SUBDOMAIN.fullmatch(text)
        yield "must not contain dots" if dots else _DNS_LABEL_RULE


def dns_subdomain(text: str, *, unit: str = "characters") -> Iterator[str]:
    if size(text) > SUBDOMAIN_LENGTH:
        yield f"must be no more than {SUBDOMAIN_LENGTH} {unit}"
    if not _IS_DNS_SUBDOMAIN.fullmatch(text):
        yield _DNS_SUBDOMAIN_RULE


def long_name(text: str) -> Iterator[str]:
    """A DNS subdomain, as the newer validation calls it."""
    return dns_subdomain(text, unit="bytes")


def label_key(text: str) -> Iterator[str]:
    prefix, slash, name = text.partition("/")
    if not slash:
        name = prefix
    elif "/" in name:
        yield (
            f"a valid label key {_NAME_PART_RULE} with an optional DNS subdomain prefix "
            "and '/' (e.g. 'example.com/MyName')"
        )
        return
    elif not prefix:
        yield "prefix part must be non-empty"
    else:
        for message in long_name(prefix):
            yield f"prefix part {message}"
    if not name:
        yield "name part must be non-empty"
    elif size(name) > LABEL_LENGTH:
        yield f"name part must be no more than {LABEL_LENGTH} bytes"
    if not _IS_NAME_PART.fullmatch(name):
        yield f"name part {_NAME_PART_RULE}"


def label_value(text: str) -> Iterator[str]:
    if size(text) > LABEL_LENGTH:
        yield f"must be no more than {LABEL_LENGTH} bytes"
    if text and not _IS_NAME_PART.fullmatch(text):
        yield _LABEL_VALUE_RULE


def condition_reason(text: str) -> Iterator[str]:
    if not _IS_CONDITION_REASON.fullmatch(text):
        yield _CONDITION_REASON_RULE


def path_segment(text: str) -> Iterator[str]:
    """What may stand in an address; the least that every name has to fulfil."""
    if text in {".", ".."}:
        yield f"may not be '{text}'"
    else:
        yield from path_segment_prefix(text)


def path_segment_prefix(text: str) -> Iterator[str]:
    for character in "/%":
        if character in text:
            yield f"may not contain '{character}'"


def is_semver(text: str) -> bool:
    """Strictly semver.org 2.0.0: what an attribute of type version has to be."""
    return _IS_SEMVER.fullmatch(text) is not None


def is_extended_resource_name(text: str) -> bool:
    """A name with a domain that is not Kubernetes' own and fits into quota names."""
    if is_native(text) or text.startswith("requests."):
        return False
    return next(label_key(f"requests.{text}"), None) is None


def is_native(text: str) -> bool:
    """A resource without a domain, or with one of Kubernetes."""
    return "/" not in text or "kubernetes.io/" in text


def is_node_allocatable(text: str) -> bool:
    """A resource that nodes report and that is no extended resource."""
    return text in {"cpu", "memory", "ephemeral-storage"} or text.startswith(
        "hugepages-"
    )


# --- formats with causes of several kinds ----------------------------------


def driver_name(text: str, field: str) -> Causes:
    if not text:
        yield required(field)
        return
    if size(text) > DRIVER_LENGTH:
        yield too_long(field, DRIVER_LENGTH)
    lowered = "".join(character.lower()[0] for character in text)
    yield from all_invalid(field, text, dns_subdomain(lowered))


def pool_name(text: str, field: str) -> Causes:
    """One or more DNS subdomains with slashes between them."""
    if not text:
        yield required(field)
        return
    if size(text) > SUBDOMAIN_LENGTH:
        yield too_long(field, SUBDOMAIN_LENGTH)
    for part in text.split("/"):
        yield from all_invalid(field, part, dns_subdomain(part))


def c_identifier(text: str, field: str) -> Causes:
    if size(text) > IDENTIFIER_LENGTH:
        yield too_long(field, IDENTIFIER_LENGTH)
    if not _IS_C_IDENTIFIER.fullmatch(text):
        yield invalid(field, text, _C_IDENTIFIER_RULE)


def qualified_name(text: str, field: str, *, strict: bool = False) -> Causes:
    """``name`` or ``domain/name``. Up to 1.36 more slashes passed unchecked (not ``strict``)."""
    parts = text.split("/")
    if len(parts) > 2:
        if strict:
            yield invalid(field, text, "must not contain more than one slash")
        return
    if len(parts) == 2:
        if parts[0]:
            yield from driver_name(parts[0], field)
        else:
            yield invalid(field, "", "the domain must not be empty")
    if parts[-1] or len(parts) == 1:
        yield from c_identifier(parts[-1], field)
    else:
        yield invalid(field, "", "the name must not be empty")


def fully_qualified_name(text: str, field: str, *, strict: bool = False) -> Causes:
    yield from qualified_name(text, field, strict=strict)
    if "/" not in text:
        yield invalid(
            field,
            text,
            "a fully qualified name must be a domain and a name separated by a slash",
        )


def uid(text: str, field: str) -> Causes:
    """A UUID in lower case, nothing around it."""
    problem = _uuid_problem(text)
    if problem:
        yield invalid(field, text, f"error validating uid: {problem}")
    elif len(text) != 36 or text != text.lower():
        yield invalid(
            field,
            text,
            "uid must be in RFC 4122 normalized form, "
            "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
        )


def _uuid_problem(text: str) -> str:
    """What a lenient reader of UUIDs (urn, braces, without dashes) says against it."""
    length = size(text)
    if length == 45:
        if text[:9].lower() != "urn:uuid:":
            return f"invalid urn prefix: {quoted(text[:9])}"
        text = text[9:]
    elif length == 38:
        if text[0] != "{" or text[-1] != "}":
            return "invalid bracketed UUID format"
        text = text[1:-1]
    elif length == 32:
        return "" if _BARE_UUID.fullmatch(text) else "invalid UUID format"
    elif length != 36:
        return f"invalid UUID length: {length}"
    return "" if _UUID.fullmatch(text) else "invalid UUID format"


_CIDR: Final = re.compile(r"(?P<address>[0-9A-Fa-f.:]+)/(?P<bits>[0-9]{1,9})")
_OCTET_ZEROS: Final = re.compile(
    r"(?<![0-9A-Fa-f:])0+(?=[0-9]+(\.|$))|(?<=\.)0+(?=[0-9])"
)


def interface_address(text: str, field: str) -> Causes:
    """An address with its prefix length (``10.9.8.7/24``), in canonical form."""
    canonical = _interface_address(text)
    if canonical is None:
        yield invalid(
            field,
            text,
            "must be a valid address in CIDR form, "
            "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
        )
    elif canonical != text:
        yield invalid(field, text, f"must be in canonical form ({quoted(canonical)})")


def _interface_address(text: str) -> str | None:
    """The canonical form; None when it is no address with prefix length.

    As sloppy as Kubernetes: leading zeros in IPv4 addresses are read as decimal.
    """
    found = _CIDR.fullmatch(text)
    if found is None:
        return None
    try:
        address = ipaddress.ip_address(_OCTET_ZEROS.sub("", found["address"]))
    except ValueError:
        return None
    bits = int(found["bits"])
    if bits > address.max_prefixlen:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return f"{address.ipv4_mapped}/{bits - 96 if bits > 32 else bits}"
    return f"{address}/{bits}"
