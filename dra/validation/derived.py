"""Rules for derived attributes (1.37, alpha), as documented; there was no reference to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dra import cel
from dra.cel.cost import LIMIT as COST_LIMIT
from dra.errors import NotSupportedError
from dra.validation import formats
from dra.validation.causes import (
    Causes,
    forbidden,
    invalid,
    size,
    too_long,
)
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    each,
    fields,
    needed,
    nothing,
)
from dra.validation.selectors import EXPRESSION_LENGTH

LIMIT: Final = 32
"""Of derived attributes in one request."""
REQUESTS_LIMIT: Final = 32
SUBREQUESTS_LIMIT: Final = 8

type _Used = Mapping[str, set[str]]


def check_derived_attributes(
    devices: Mapping[str, Any], path: str, scope: Scope
) -> Causes:
    """Unique names, each used by a constraint that applies to its request.

    All expressions of a claim together may cost as much as one selector.
    """
    used = _constraint_attributes(devices.get("constraints") or ())
    costs: list[int] = []
    for details, field, target in _details(devices, path):
        check = _attributes_of(target, used, costs)
        attributes = details.get("derivedAttributes")
        yield from check(attributes, f"{field}.derivedAttributes", scope)
    if sum(costs) > COST_LIMIT:
        yield forbidden(
            path,
            "too complex, total cost of derived attribute CEL expressions in the "
            f"claim exceeds cost limit (estimated cost {sum(costs)}, limit {COST_LIMIT})",
        )


def _details(
    devices: Mapping[str, Any], path: str
) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """What requests and subrequests ask for, where, and how constraints refer to it.

    Without what nobody looks into: lists with too many entries, and a request that is
    both exact and a list of alternatives.
    """
    requests = devices.get("requests") or ()
    if len(requests) > REQUESTS_LIMIT:
        return
    for index, request in enumerate(requests):
        at, name = f"{path}.requests[{index}]", request.get("name", "")
        exactly, subrequests = request.get("exactly"), request.get("firstAvailable")
        if not subrequests:
            yield exactly or {}, f"{at}.exactly", name
        elif exactly is None and len(subrequests) <= SUBREQUESTS_LIMIT:
            for number, sub in enumerate(subrequests):
                target = f"{name}/{sub.get('name', '')}"
                yield sub, f"{at}.firstAvailable[{number}]", target


def _attributes_of(target: str, used: _Used, costs: list[int]) -> Rule:
    """Too many attributes hide what is wrong with their form, nothing else."""

    def use(value: Any, path: str, scope: Scope) -> Causes:
        yield from _use(value.get("name", ""), f"{path}.name", target, used)
        expression = value.get("expression", "")
        yield from _expression(expression, f"{path}.expression", scope, costs)

    return all_of(
        each(_FORM, at_most=LIMIT), each(use, key=lambda value: value.get("name", ""))
    )


def _name(value: Any, path: str, _scope: Scope) -> Causes:
    return formats.fully_qualified_name(value, path, strict=True)


_FORM: Final = fields({"name": needed(_name), "expression": needed(nothing)})


def _use(name: str, path: str, target: str, used: _Used) -> Causes:
    request = target.partition("/")[0]
    places = ("", target, request)
    if name and not any(name in used.get(place, ()) for place in places):
        yield invalid(
            path,
            name,
            "must be referenced by at least one matchAttribute or distinctAttribute "
            "constraint targeting this request",
        )


def _expression(expression: str, path: str, scope: Scope, costs: list[int]) -> Causes:
    """Adds to ``costs`` what it may cost."""
    if not expression:
        return
    if size(expression) > EXPRESSION_LENGTH:
        yield too_long(path, EXPRESSION_LENGTH)
        return
    try:
        program = cel.compile(
            expression, features=scope.gates.cel, environment="new", derived=True
        )
    except cel.CompileError as error:
        yield invalid(path, expression, str(error))
        return
    except NotSupportedError:
        return
    costs.append(program.cost.high)
    if program.cost.high > COST_LIMIT:
        yield forbidden(
            path,
            "too complex, exceeds cost limit "
            f"(estimated cost {program.cost.high}, limit {COST_LIMIT})",
        )


def _constraint_attributes(constraints: Iterable[Mapping[str, Any]]) -> _Used:
    """What constraints look at, by what they apply to ("" stands for every request)."""
    used: dict[str, set[str]] = {}
    for constraint in constraints:
        name = constraint.get("matchAttribute", constraint.get("distinctAttribute"))
        if name is not None:
            for request in constraint.get("requests") or ("",):
                used.setdefault(request, set()).add(name)
    return used
