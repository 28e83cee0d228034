"""Named formats: ``format.dns1123Label()`` and its relatives.

The rules and messages are those of Kubernetes' validation of names.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dra.cel.urls import url_problem

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_UUID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
)
_BASE64 = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*"
    r"(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))"
)
_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format: equal by name.

    ``check`` lists what is wrong with a text. ``regex_size`` stands for the size
    of the pattern in the cost of a check.
    """

    name: str
    check: Callable[[str], list[str]]
    regex_size: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _matching(
    text: str, pattern: re.Pattern[str], limit: int, message: str
) -> list[str]:
    found: list[str] = []
    if len(text.encode("utf-8", "surrogateescape")) > limit:
        found.append(_too_long(limit))
    if not pattern.fullmatch(text):
        found.append(message)
    return found


def dns1123_label(text: str) -> list[str]:
    message = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric "
        "characters or '-', and must start and end with an alphanumeric character"
    )
    if not _LABEL.fullmatch(text) and _SUBDOMAIN.fullmatch(text):
        message = "must not contain dots"
    return _matching(text, _LABEL, _MAX_LABEL, message)


def dns1123_subdomain(text: str) -> list[str]:
    return _matching(
        text,
        _SUBDOMAIN,
        _MAX_SUBDOMAIN,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
        "characters, '-' or '.', and must start and end with an alphanumeric "
        "character",
    )


def dns1035_label(text: str) -> list[str]:
    return _matching(
        text,
        _LABEL_1035,
        _MAX_LABEL,
        "a DNS-1035 label must consist of lower case alphanumeric characters or "
        "'-', start with an alphabetic character, and end with an alphanumeric "
        "character",
    )


def qualified_name(text: str) -> list[str]:
    """A name with an optional DNS subdomain before a slash."""
    shape = (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character"
    )
    parts = text.split("/")
    if len(parts) > 2:
        return [f"a qualified name {shape} with an optional DNS subdomain prefix"]
    found: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        else:
            found += [f"prefix part {issue}" for issue in dns1123_subdomain(parts[0])]
    name = parts[-1]
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode("utf-8", "surrogateescape")) > _MAX_LABEL:
        found.append(f"name part {_too_long(_MAX_LABEL)}")
    if not _QUALIFIED.fullmatch(name):
        found.append(f"name part {shape}")
    return found


def label_value(text: str) -> list[str]:
    return _matching(
        text,
        _LABEL_VALUE,
        _MAX_LABEL,
        "a valid label must be an empty string or consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character",
    )


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The check for the beginning of a generated name, which may end in a dash."""

    def run(text: str) -> list[str]:
        if len(text.encode("utf-8", "surrogateescape")) > 1 and text.endswith("-"):
            text = f"{text[:-2]}a"
        return check(text)

    return run


def _uri(text: str) -> list[str]:
    problem = url_problem(text)
    return [] if problem is None else [problem]


def is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    if text.startswith("0000"):
        # Go has a year 0, a leap year.
        text = f"0004{text[4:]}"
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not is_date(parts[0]):
        return False
    found = _TIME.fullmatch(parts[1])
    if found is None:
        return False
    return found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _unless(holds: Callable[[str], object], message: str) -> Callable[[str], list[str]]:
    return lambda text: [] if holds(text) else [message]


_DATETIME_REGEX_SIZE: Final = 71

FORMATS: Final = {
    "dns1123Label": NamedFormat("DNS1123Label", dns1123_label, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", dns1123_subdomain, 60),
    "dns1035Label": NamedFormat("DNS1035Label", dns1035_label, 30),
    "qualifiedName": NamedFormat("QualifiedName", qualified_name, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(dns1123_label), 30),
    "dns1123SubdomainPrefix": NamedFormat(
        "DNS1123SubdomainPrefix", _prefix(dns1123_subdomain), 60
    ),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(dns1035_label), 30),
    "labelValue": NamedFormat("LabelValue", label_value, 40),
    "uri": NamedFormat("URI", _uri, 1103),
    "uuid": NamedFormat(
        "uuid", _unless(_UUID.fullmatch, "does not match the UUID format"), 70
    ),
    "byte": NamedFormat("byte", _unless(_BASE64.fullmatch, "invalid base64"), 84),
    "date": NamedFormat("date", _unless(is_date, "invalid date"), _DATETIME_REGEX_SIZE),
    "datetime": NamedFormat(
        "datetime", _unless(is_datetime, "invalid datetime"), _DATETIME_REGEX_SIZE
    ),
}
