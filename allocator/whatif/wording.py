"""What is wrong with a scenario, in words for people who fill in a form."""

from __future__ import annotations

import re
from typing import Final

from dra.whatif import ScenarioError

_EXPECTED: Final = re.compile(r"^Expected `(\w+)`(?:, got `(\w+)`)?$")
_KINDS: Final = {
    "str": "a text",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object with fields",
    "null": "nothing",
    "float": "a number",
}
_MISSING: Final = re.compile(r"^Object missing required field `(\w+)`$")


def reason_of(error: ScenarioError) -> str:
    """The reason in plain words; what needs none stays as it is."""
    reason = error.reason
    if "matching regex" in reason:
        return "must be namespace/name"
    if match := _MISSING.match(reason):
        return f"{match[1]} is missing"
    match = _EXPECTED.match(reason)
    if match is None or match[1] not in _KINDS:
        return reason
    got = f", not {_KINDS[match[2]]}" if match[2] in _KINDS else ""
    return f"must be {_KINDS[match[1]]}{got}"
