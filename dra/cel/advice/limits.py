"""What the API server says to an expression before any device is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra.cel.advice.sites import descendants
from dra.cel.advice.warnings import Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Comprehension, Node, children
from dra.cel.cost import LIMIT
from dra.cel.errors import CompileError, Issue
from dra.cel.program import Program, compile  # noqa: A004 - the word of the field
from dra.cel.turns import LOOPS
from dra.errors import NotSupportedError

_CLOSE: Final = LIMIT * 4 // 5
_GATED: Final = ("includes", "allowMultipleAllocations")
"""What only some clusters know in new expressions, see dra.cel.environments."""


def check(program: Program) -> Iterator[Warning]:
    yield from _cost(program)
    yield from _new(program)


def _cost(program: Program) -> Iterator[Warning]:
    cost = program.cost.high
    if cost <= _CLOSE:
        return
    node = _costliest(program.root)
    advice = (
        "Each loop in a loop multiplies it: loop less deep, or over one domain "
        "instead of all."
        if isinstance(node, Comprehension)
        else "Long patterns and many operations on texts add up."
    )
    if cost > LIMIT:
        code = "too-costly"
        message = (
            f"The API server refuses this: it may cost {cost:,}, and {LIMIT:,} is "
            f"allowed. {advice}"
        )
    else:
        code = "costly"
        message = (
            f"This may cost {cost:,} of the {LIMIT:,} that the API server allows. "
            f"{advice}"
        )
    yield Warning(code, message, node.start, node.end)


def _costliest(root: Node) -> Node:
    """The first loop among those with most loops around; the whole where none is."""
    best, deepest = root, 0
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, Comprehension) and node.macro in LOOPS:
            depth += 1
            if depth > deepest:
                best, deepest = node, depth
        pending.extend((child, depth) for child in reversed(children(node)))
    return best


def _new(program: Program) -> Iterator[Warning]:
    """Whether the API server would take it as new."""
    if not any(word in program.expression for word in _GATED):
        return
    try:
        compile(program.expression, features=program.features, environment="new")
    except CompileError as error:
        issue = error.issues[0]
        start, end = _place(program, issue)
        yield Warning(
            "refused-when-new",
            "A selector that is stored with this keeps working, but a new or changed "
            "one is refused, because a feature gate of this cluster is off: "
            f"{issue.message}.",
            start,
            end,
        )
    except NotSupportedError:
        return


def _place(program: Program, issue: Issue) -> tuple[int, int]:
    """The part that is refused."""
    for node in descendants(program.root):
        if node.at == issue.start:
            return node.start, node.end
    return 0, len(program.expression)
