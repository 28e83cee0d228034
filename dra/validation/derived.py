"""Rules for derived attributes (1.37, alpha), as documented; there was no reference to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra import cel
from dra.cel.cost import LIMIT as COST_LIMIT
from dra.errors import NotSupportedError
from dra.validation import formats
from dra.validation.causes import (
    Causes,
    forbidden,
    invalid,
    required,
    size,
    too_long,
)
from dra.validation.rules import Rule, Scope, each
from dra.validation.selectors import EXPRESSION_LENGTH

LIMIT: Final = 32
"""Of derived attributes in one request."""

type _Used = Mapping[str, set[str]]


def check_derived_attributes(
    devices: Mapping[str, Any], path: str, scope: Scope
) -> Causes:
    """Unique names, each used by a constraint that applies to its request.

    All expressions of a claim together may cost as much as one selector.
    """
    used = _constraint_attributes(devices.get("constraints") or ())
    costs: list[int] = []
    for index, request in enumerate(devices.get("requests") or ()):
        at, name = f"{path}.requests[{index}]", request.get("name", "")
        for details, field, target in (
            (request.get("exactly"), f"{at}.exactly", name),
            *(
                (sub, f"{at}.firstAvailable[{number}]", f"{name}/{sub.get('name', '')}")
                for number, sub in enumerate(request.get("firstAvailable") or ())
            ),
        ):
            attributes = (details or {}).get("derivedAttributes")
            rule = _attributes_of(target, used, costs)
            yield from rule(attributes, f"{field}.derivedAttributes", scope)
    if sum(costs) > COST_LIMIT:
        yield forbidden(
            path,
            "too complex, total cost of derived attribute CEL expressions in the "
            f"claim exceeds cost limit (estimated cost {sum(costs)}, limit {COST_LIMIT})",
        )


def _attributes_of(target: str, used: _Used, costs: list[int]) -> Rule:
    def check(value: Any, path: str, scope: Scope) -> Causes:
        yield from _name(value.get("name", ""), f"{path}.name", target, used)
        expression = value.get("expression", "")
        yield from _expression(expression, f"{path}.expression", scope, costs)

    return each(check, at_most=LIMIT, key=lambda value: value.get("name", ""))


def _name(name: str, path: str, target: str, used: _Used) -> Causes:
    if not name:
        yield required(path)
        return
    yield from formats.fully_qualified_name(name, path, strict=True)
    request = target.partition("/")[0]
    if not any(name in used.get(place, ()) for place in ("", target, request)):
        yield invalid(
            path,
            name,
            "must be referenced by at least one matchAttribute or distinctAttribute "
            "constraint targeting this request",
        )


def _expression(expression: str, path: str, scope: Scope, costs: list[int]) -> Causes:
    """Adds to ``costs`` what it may cost."""
    if not expression:
        yield required(path)
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
