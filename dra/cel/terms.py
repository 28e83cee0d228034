"""An expression as terms: split through ``&&``, ``||``, ``!`` and ``?:``.

Each term is a part of the tree that was checked already, with closures of its own,
so that a table can be asked about it like about a whole selector.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from dra.cel import budget, evaluator
from dra.cel.ast import Call, Node, chained
from dra.cel.cost import estimate
from dra.cel.devices import clean
from dra.cel.environments import CelFeatures
from dra.cel.errors import EvaluationError
from dra.cel.operators import no_such_overload
from dra.cel.program import Program, as_answer, may_exceed, reads_of, run
from dra.cel.reads import Read
from dra.cel.values import DeviceMap, Value
from dra.errors import NotSupportedError

type Kind = Literal["and", "or", "not", "conditional", "leaf"]

type Place = Literal["whole", "operand", "negated"]
"""Where a term stands, which decides how it is refused when it is no bool."""


@dataclass(slots=True)
class Condition:
    """A part of an expression that is a condition itself.

    ``parts`` are the places of its terms in the list that :func:`split` gives.
    """

    kind: Kind
    node: Node
    text: str
    place: Place
    parts: list[int] = field(default_factory=list)


def split(program: Program) -> list[Condition]:
    """The conditions of ``program``, each before its terms; the first is the whole.

    A chain of ``&&`` or ``||`` is one condition, parentheses within make no
    difference. Macros are leaves, and so is a ``cel.bind`` around everything.
    """
    text = clean(program.expression)
    found: list[Condition] = []
    pending: list[tuple[Node, Place, int]] = [(program.root, "whole", -1)]
    while pending:
        node, place, above = pending.pop()
        if above >= 0:
            found[above].parts.append(len(found))
        kind, terms = _terms(node, place, text)
        pending.extend((term, at, len(found)) for term, at in reversed(terms))
        found.append(Condition(kind, node, text[node.start : node.end], place))
    return found


def _terms(
    node: Node, place: Place, text: str
) -> tuple[Kind, list[tuple[Node, Place]]]:
    match node:
        case Call(function="_&&_"):
            return "and", [(term, "operand") for term in chained(node)]
        case Call(function="_||_"):
            return "or", [(term, "operand") for term in chained(node)]
        case Call(function="!_", args=(term,)):
            return "not", [(term, "negated")]
        case Call(function="_?_:_", args=(test, yes, no)) if text[node.at] == "?":
            return "conditional", [(test, "operand"), (yes, place), (no, place)]
    # That of optMap, for one, is no ?: that anybody wrote.
    return "leaf", []


def _operand(value: Value) -> bool:
    if type(value) is bool:
        return value
    raise no_such_overload()


def _negated(value: Value) -> bool:
    if type(value) is bool:
        return value
    raise no_such_overload("!_", value)


_ACCEPT: Final[dict[Place, Callable[[Value], bool]]] = {
    "whole": as_answer,
    "operand": _operand,
    "negated": _negated,
}


class TermProgram:
    """One condition of an expression as something that a table can be asked.

    ``key`` is equal for the same text in another expression: a term that stays
    while its neighbours are edited keeps its answers.
    """

    key: Hashable
    features: CelFeatures
    reads: frozenset[Read] | None

    __slots__ = ("_accept", "_metered", "_slots", "_step", "features", "key", "reads")

    def __init__(self, program: Program, condition: Condition) -> None:
        checked = replace(program.checked, root=condition.node)
        self._metered = program.metered and may_exceed(checked, estimate(checked))
        budget.begin()
        self._step, self._slots = evaluator.build(checked, metered=self._metered)
        self._accept = _ACCEPT[condition.place]
        self.features = program.features
        self.key = key(program, condition)
        self.reads = reads_of(checked)

    def evaluate_value(self, device: DeviceMap) -> bool:
        """Whether the condition holds.

        Raises :class:`EvaluationError`, also for what is not supported: the whole
        expression might never have come here.
        """
        try:
            value = run(self._step, self._slots, device, metered=self._metered)
        except NotSupportedError as error:
            raise EvaluationError(str(error)) from error
        return self._accept(value)


def key(program: Program, condition: Condition) -> Hashable:
    """The key of the :class:`TermProgram`."""
    return ("term", condition.text, condition.place, program.features)
