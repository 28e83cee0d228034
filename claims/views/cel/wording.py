"""The sentences of the CEL page."""

from __future__ import annotations

from typing import Final

from dra.cel.cost import Range
from inventory.selecting import Scope
from web.pages.cells import count

REFUSED: Final = "The API server would refuse it."
TOO_EXPENSIVE: Final = "The API server would refuse it: it may cost too much."
LATE: Final = "There is no answer in time."
SECOND_REFUSED: Final = "The API server would refuse the second expression."
SECOND_LATE: Final = "There is no answer in time for the second expression."
NO_DEVICES: Final = "There is no device to compare them on."

_LEAST_SHARE: Final = 0.001


def invitation(devices: int) -> str:
    """What the page says before anything is asked."""
    if not devices:
        return (
            "The cluster has no device yet. An expression can be checked all the same: "
            "type one."
        )
    return f"Type an expression to try it on {count(devices, 'device')}."


def devices_of(scope: Scope, number: int) -> str:
    """``free devices of class c on node n``: the noun of a question, without its number."""
    noun = "device" if number == 1 else "devices"
    parts = [f"{scope.state} {noun}" if scope.state else noun]
    if scope.device_class:
        parts.append(f"of class {scope.device_class}")
    if scope.driver:
        parts.append(f"of driver {scope.driver}")
    if scope.node:
        parts.append(f"on node {scope.node}")
    if scope.pool:
        parts.append(f"in pool {scope.pool}")
    return " ".join(parts)


def outcome(scope: Scope, devices: int, matched: int, failed: int) -> str:
    """The answer in one sentence.

    >>> outcome(Scope(), 10245, 8192, 12)
    'Matches 8,192 of 10,245 devices; 12 have no answer, so the scheduler would stop at the first of them.'
    """
    what = devices_of(scope, devices)
    if not devices:
        if scope:
            return f"There are no {devices_of(scope, 0)} to try it on."
        return "The cluster has no device to try it on."
    if failed == devices:
        if devices == 1:
            return f"The only {what} has no answer: the scheduler would stop at it."
        return (
            f"None of the {devices:,} {what} has an answer: the scheduler would stop at "
            "the first."
        )
    return f"{_matches(devices, matched, what)}{_failing(failed)}."


def _matches(devices: int, matched: int, what: str) -> str:
    if devices == 1:
        return f"{'Matches' if matched else 'Does not match'} the only {what}"
    if matched == devices:
        return f"Matches all {devices:,} {what}"
    if not matched:
        return f"Matches none of {devices:,} {what}"
    return f"Matches {matched:,} of {devices:,} {what}"


def _failing(failed: int) -> str:
    if not failed:
        return ""
    if failed == 1:
        return "; 1 has no answer, so the scheduler would stop at it"
    return (
        f"; {failed:,} have no answer, so the scheduler would stop at the first of them"
    )


def of_one_device(*, result: bool | None, error: str) -> str:
    """What an expression says about one device."""
    if result is None:
        return f"It has no answer: {error}. The scheduler would stop at this device."
    return "The device matches." if result else "The device does not match."


def comparison(both: int, first: int, second: int) -> str:
    """How two expressions differ in what they match."""
    if not first and not second:
        if not both:
            return "Neither matches any of these devices."
        return f"Both match the same {count(both, 'device')}."
    parts = []
    if first:
        parts.append(f"only the first matches {count(first, 'device')}")
    if second:
        parts.append(f"only the second matches {count(second, 'device')}")
    said = ", ".join(parts)
    return f"{said[0].upper()}{said[1:]}; both match {both:,}."


def cost(range_: Range, limit: int) -> str:
    """What the API server estimates one evaluation to cost.

    >>> cost(Range(4, 9), 1_000_000)
    'Costs 4 to 9 of the 1,000,000 that the API server allows.'
    """
    low, high = range_.low, range_.high
    span = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    if high > limit:
        return f"May cost up to {high:,}; the API server allows {limit:,}."
    return f"Costs {span} of the {limit:,} that the API server allows."


def share(part: int, whole: int) -> str:
    """``79.9 %``; never 0 or 100 for what is not, and nothing for nothing."""
    if not part:
        return ""
    value = part / whole
    if 0 < value < _LEAST_SHARE:
        return "<0.1 %"
    if 1 - _LEAST_SHARE < value < 1:
        return ">99.9 %"
    return f"{value:.1%}".replace("%", " %").replace(".0 ", " ")
