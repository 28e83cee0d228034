"""Rules for derived attributes (1.37, alpha), as documented; there was no reference to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra import cel
from dra.validation import formats
from dra.validation.causes import Causes, invalid, required, size, too_long
from dra.validation.rules import Rule, Scope, each
from dra.validation.selectors import EXPRESSION_LENGTH

LIMIT: Final = 32
"""Of derived attributes in one request."""

_OF_OTHER_TYPE: Final = "must evaluate to bool or the unknown type, not "
_RESULTS: Final = ("string", "int", "kubernetes.Semver")

type _Used = Mapping[str, set[str]]


def check_derived_attributes(
    devices: Mapping[str, Any], path: str, scope: Scope
) -> Causes:
    """Unique names, each used by a constraint that applies to its request."""
    used = _constraint_attributes(devices.get("constraints") or ())
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
            rule = _attributes_of(target, used)
            yield from rule(attributes, f"{field}.derivedAttributes", scope)


def _attributes_of(target: str, used: _Used) -> Rule:
    def check(value: Any, path: str, scope: Scope) -> Causes:
        yield from _name(value.get("name", ""), f"{path}.name", target, used)
        yield from _expression(value.get("expression", ""), f"{path}.expression", scope)

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


def _expression(expression: str, path: str, scope: Scope) -> Causes:
    """Texts, integers, booleans and versions may come out; lists with their gate."""
    if not expression:
        yield required(path)
    elif size(expression) > EXPRESSION_LENGTH:
        yield too_long(path, EXPRESSION_LENGTH)
    else:
        try:
            cel.compile(expression, features=scope.gates.cel, environment="new")
        except cel.CompileError as error:
            kind = error.message.removeprefix(_OF_OTHER_TYPE)
            if kind == error.message:
                yield invalid(path, expression, str(error))
            elif not _can_be_attribute(kind, scope):
                yield invalid(path, expression, f"cannot be an attribute: {kind}")


def _can_be_attribute(kind: str, scope: Scope) -> bool:
    if scope.gates.list_type_attributes:
        kind = kind.removeprefix("list(").removesuffix(")")
        return kind in {*_RESULTS, "bool", "dyn"}
    return kind in _RESULTS


def _constraint_attributes(constraints: Iterable[Mapping[str, Any]]) -> _Used:
    """What constraints look at, by what they apply to ("" stands for every request)."""
    used: dict[str, set[str]] = {}
    for constraint in constraints:
        name = constraint.get("matchAttribute", constraint.get("distinctAttribute"))
        if name is not None:
            for request in constraint.get("requests") or ("",):
                used.setdefault(request, set()).add(name)
    return used
