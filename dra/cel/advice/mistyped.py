"""Hints for values of types that an operator or a function does not take."""

from __future__ import annotations

import re
from typing import Final

from dra.cel.advice import words
from dra.cel.advice.comparisons import FLIPPED
from dra.cel.advice.kinds import as_version
from dra.cel.advice.misfit import Misfit
from dra.cel.advice.misnamed import domain_access, no_domain
from dra.cel.advice.slips import Hint
from dra.cel.ast import Call, Literal, Node
from dra.cel.functions.quantities import is_quantity

_OVERLOAD: Final = re.compile(
    r"found no matching overload for '(?P<function>[^']*)' applied to '(?P<types>.*)'"
)
_EXPECTED: Final = re.compile(
    r"expected type '(?P<wanted>.*)' but found '(?P<found>.*)'"
)
_ORDERED: Final = {
    "_==_": "==",
    "_!=_": "!=",
    "_<_": "<",
    "_<=_": "<=",
    "_>_": ">",
    "_>=_": ">=",
}
_QUANTITY: Final = "kubernetes.Quantity"
_SEMVER: Final = "kubernetes.Semver"
_COMPARABLE: Final = (_QUANTITY, _SEMVER)
_SHOWN: Final = {
    _QUANTITY: "a quantity",
    _SEMVER: "a version",
    "string": "a string",
    "int": "a number",
    "double": "a number",
}
_COMPARED: Final = frozenset({"compareTo", "isGreaterThan", "isLessThan", "add", "sub"})


def _comparison(misfit: Misfit) -> Hint | None:
    """Quantities and versions have no ``<``, and are not equal to texts."""
    found = _OVERLOAD.match(misfit.issue.message)
    node = misfit.node
    if found is None or not isinstance(node, Call) or len(node.args) != 2:
        return None
    symbol = _ORDERED.get(node.function)
    if symbol is None:
        return None
    types = found["types"].strip("()").split(", ")
    if len(types) != 2:
        return None
    left, right = node.args
    left_type, right_type = types
    if right_type in _COMPARABLE and left_type not in (*_COMPARABLE, "any", "dyn"):
        left, right, symbol = right, left, FLIPPED[symbol]
        left_type, right_type = right_type, left_type
    kind = left_type if left_type in _COMPARABLE else right_type
    if kind not in _COMPARABLE:
        return None
    if kind == _QUANTITY and "any" in types:
        return _attribute_as_quantity(misfit, left)
    subject, other = _operand(misfit, left), _typed(misfit, right, kind)
    what = "Quantities" if kind == _QUANTITY else "Versions"
    if not other:
        return Hint(
            f"{what} are compared with compareTo, isGreaterThan or isLessThan.",
            node.start,
            node.end,
        )
    text = f"{subject}.compareTo({other}) {symbol} 0"
    return Hint(
        f"{what} are compared with compareTo: {text}", node.start, node.end, text
    )


def _operand(misfit: Misfit, node: Node) -> str:
    """The text of ``node`` where a method can follow."""
    text = misfit.source(node)
    if isinstance(node, Call) and node.function.startswith(("_", "!", "@", "-")):
        return text if node.function in ("_[_]", "_[?_]", "_?._") else f"({text})"
    return text


def _typed(misfit: Misfit, node: Node, kind: str) -> str:
    """``node`` as an argument of type ``kind``; a literal is wrapped. Or empty."""
    if not isinstance(node, Literal):
        return misfit.source(node)
    value = node.value
    text = value if isinstance(value, str) else misfit.source(node)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if kind == _SEMVER:
        return as_version(text)
    text = text.removesuffix("B") if isinstance(value, str) else text
    return f"quantity({words.literal(text)})" if is_quantity(text) else ""


def _attribute_as_quantity(misfit: Misfit, subject: Node) -> Hint:
    """An attribute is compared with a quantity, which only capacities are."""
    text = misfit.source(subject)
    path = text.replace("device.attributes", "device.capacity", 1)
    message = "Only what is under device.capacity is a quantity, no attribute is."
    if path == text:
        return Hint(message, subject.start, subject.end)
    return Hint(f"{message} Did you mean {path}?", subject.start, subject.end, path)


def _argument(misfit: Misfit) -> Hint | None:
    """``memory.isGreaterThan("40Gi")``"""
    found = _OVERLOAD.match(misfit.issue.message)
    node = misfit.node
    if found is None or not isinstance(node, Call) or node.target is None:
        return None
    function, types = found["function"], found["types"]
    if function == "sign" and not node.args:
        text = f"sign({misfit.source(node.target)})"
        return Hint(
            f"sign is a function, no method: {text}", node.start, node.end, text
        )
    if function not in _COMPARED or len(node.args) != 1:
        return None
    (argument,) = node.args
    if not isinstance(argument, Literal):
        return None
    if types.startswith(_QUANTITY):
        text = _typed(misfit, argument, _QUANTITY)
    elif types.startswith(_SEMVER):
        text = _typed(misfit, argument, _SEMVER)
    else:
        text = _typed(misfit, argument, _SEMVER) or _typed(misfit, argument, _QUANTITY)
    if not text:
        return None
    return Hint(
        f"{function}() takes a version or a quantity, not {misfit.source(argument)}: "
        f"write {text}",
        argument.start,
        argument.end,
        text,
    )


def _sum(misfit: Misfit) -> Hint | None:
    """Quantities have no ``+``."""
    node = misfit.node
    if not isinstance(node, Call) or _QUANTITY not in misfit.issue.message:
        return None
    method = {"_+_": "add", "_-_": "sub"}.get(node.function)
    if method is None or not misfit.issue.message.startswith("found no"):
        return None
    left, right = node.args
    argument = misfit.source(right)
    if isinstance(right, Literal) and isinstance(right.value, str):
        argument = f"quantity({argument})"
    text = f"{_operand(misfit, left)}.{method}({argument})"
    return Hint(
        f"Quantities are added and subtracted with add() and sub(): {text}",
        node.start,
        node.end,
        text,
    )


def _membership(misfit: Misfit) -> Hint | None:
    """``x in "a"``"""
    node = misfit.node
    if not isinstance(node, Call) or node.function != "@in":
        return None
    element, container = node.args
    if isinstance(container, Literal):
        text = f"[{misfit.source(container)}]"
        return Hint(
            "in looks into a list or a map: a single value goes in square brackets.",
            container.start,
            container.end,
            text,
        )
    domain = domain_access(element)
    return None if domain is None else no_domain(misfit)


def _negation(misfit: Misfit) -> Hint | None:
    """``!device.driver == "x"``: ``!`` binds first."""
    node = misfit.node
    if not isinstance(node, Call) or node.function != "!_":
        return None
    parent = misfit.parents[node]
    if (
        isinstance(parent, Call)
        and parent.function == "_==_"
        and parent.args[0] is node
    ):
        text = f"{misfit.source(node.args[0])} != {misfit.source(parent.args[1])}"
        return Hint(
            f"! belongs only to what follows it directly. Write {text}",
            parent.start,
            parent.end,
            text,
        )
    return None


def _logic(misfit: Misfit) -> Hint | None:
    """A term that is neither true nor false."""
    found = _EXPECTED.match(misfit.issue.message)
    parent = misfit.parents[misfit.node]
    if found is None or not isinstance(parent, Call):
        return None
    if parent.function not in ("_&&_", "_||_"):
        return None
    return compare_it(misfit.text, misfit.node, found["found"])


def _mixed_list(misfit: Misfit) -> Hint | None:
    found = _EXPECTED.match(misfit.issue.message)
    if found is None:
        return None
    node = misfit.node
    return Hint(
        f"All of a list or map has to be of one type: this is {found['found']}, what "
        f"came before {found['wanted']}. dyn(…) around every one of them allows it.",
        node.start,
        node.end,
    )


def _null(misfit: Misfit) -> Hint | None:
    if not misfit.issue.message.endswith("null)'"):
        return None
    node = misfit.node
    return Hint(
        "Nothing of a device is null. has(…) tells whether there is an attribute.",
        node.start,
        node.end,
    )


def _loop(misfit: Misfit) -> Hint | None:
    if "cannot be range of a comprehension" not in misfit.issue.message:
        return None
    node = misfit.node
    return Hint(
        "An attribute has one value here: lists need the feature gate "
        "DRAListTypeAttributes. Compare the value itself.",
        node.start,
        node.end,
    )


def _pattern(misfit: Misfit) -> Hint | None:
    if misfit.issue.message != "invalid matches argument":
        return None
    node = misfit.node
    return Hint(
        "This is no regular expression of RE2, which knows no look-ahead, no "
        "look-behind and no references to groups.",
        node.start,
        node.end,
    )


def compare_it(text: str, node: Node, kind: str) -> Hint:
    domain = domain_access(node)
    if domain is not None:
        suggestion = f"{words.literal(domain[1])} in device.{domain[0]}"
        return Hint(
            f"This is a map, neither true nor false. Write {suggestion} to ask whether "
            "a device has it.",
            node.start,
            node.end,
            suggestion,
        )
    shown = text[node.start : node.end]
    example = {"string": f'{shown} == "…"', "int": f"{shown} > 0"}.get(kind)
    how = f": {example}" if example and len(shown) < 60 else " with something"
    return Hint(
        f"This is {_SHOWN.get(kind, f'of type {kind}')}, neither true nor false: "
        f"compare it{how}.",
        node.start,
        node.end,
    )


RULES: Final = (
    _negation,
    _comparison,
    _argument,
    _sum,
    _membership,
    _logic,
    _null,
    _loop,
    _pattern,
    _mixed_list,
)
