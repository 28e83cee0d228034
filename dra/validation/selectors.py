"""CEL expressions of claims and classes, as the API server checks them on writing."""

from __future__ import annotations

from typing import Any, Final

from dra import cel
from dra.cel.cost import LIMIT
from dra.cel.environments import Age
from dra.errors import NotSupportedError
from dra.validation.causes import (
    Causes,
    forbidden,
    invalid,
    required,
    size,
    too_long,
)
from dra.validation.rules import Rule, Scope, each, fields, given

EXPRESSION_LENGTH: Final = 10 * 1024


def _expression(value: Any, path: str, scope: Scope) -> Causes:
    """What is stored may use more of CEL; after 1.36 it is not looked at again."""
    if not (scope.stored and scope.gates.strict):
        yield from check_expression(value or "", path, scope)


def check_expression(text: str, path: str, scope: Scope) -> Causes:
    if size(text) > EXPRESSION_LENGTH:
        yield too_long(path, EXPRESSION_LENGTH)
        return
    environment: Age = "stored" if scope.stored else "new"
    try:
        program = cel.compile(text, features=scope.gates.cel, environment=environment)
    except cel.CompileError as error:
        yield invalid(path, text, str(error))
        return
    except NotSupportedError:
        return
    if program.cost.high > LIMIT:
        yield forbidden(
            path,
            "too complex, exceeds cost limit "
            f"(estimated cost {program.cost.high}, limit {LIMIT})",
        )


def _selector(value: Any, path: str, scope: Scope) -> Causes:
    selection = value.get("cel")
    if selection is None:
        yield required(f"{path}.cel")
    else:
        yield from _EXPRESSION(selection, f"{path}.cel", scope)


_EXPRESSION: Final[Rule] = fields({"expression": _expression})
SELECTORS: Final[Rule] = given(each(_selector, at_most=32))
