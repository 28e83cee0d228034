"""Hints for an expression that does not compile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra.cel.advice import misnamed, mistyped, slips
from dra.cel.advice.misfit import Misfit
from dra.cel.advice.sites import descendants
from dra.cel.advice.slips import Hint
from dra.cel.advice.warnings import Warning, ranked  # noqa: A004 - the word of the field
from dra.cel.ast import Node, children
from dra.cel.catalog import Catalog, catalog
from dra.cel.devices import clean
from dra.cel.environments import DEFAULT, CelFeatures
from dra.cel.errors import CompileError, Issue
from dra.cel.parser import parse
from dra.cel.program import MAX_LENGTH, compile, with_room  # noqa: A004 - the word of the field
from dra.cel.source import Problem
from dra.cel.table import DeviceTable
from dra.errors import NotSupportedError

_MOST: Final = 8
"""Issues that are looked at."""
_LONG: Final = 2_000
"""Characters of a text in which only the first issue is looked at: trying a
suggestion means to compile it."""


def explain_error(
    expression: str,
    error: CompileError,
    *,
    table: DeviceTable | None = None,
    features: CelFeatures = DEFAULT,
) -> tuple[Warning, ...]:
    """What was probably meant, for the issues of ``error`` that are known mistakes.

    ``table`` lets hints name what devices publish. A suggestion was compiled: with it
    the issue is gone, though others may remain.
    """
    text = clean(expression)
    if len(text.encode()) > MAX_LENGTH:
        hint = Hint(
            f"A selector may have {MAX_LENGTH:,} bytes. A device class takes up to 32 "
            "selectors, all of which have to be true: split it at &&.",
            0,
            len(text),
        )
        return ranked([_warning(hint)])
    return with_room(
        lambda: ranked(_warnings(text, error, table, features)),
        "an expression nested this deep",
    )


def _warnings(
    text: str, error: CompileError, table: DeviceTable | None, features: CelFeatures
) -> Iterator[Warning]:
    root = _root(text)
    known = None if table is None else catalog(table)
    parents = {} if root is None else _parents(root)
    for issue in error.issues[: _MOST if len(text) < _LONG else 1]:
        if root is None:
            hint = slips.hint(text, issue)
        elif issue.start is None:
            hint = _result(text, root, issue)
        else:
            hint = _misfit(text, parents, issue, known)
        if hint is not None:
            if hint.suggestion and not _helps(text, hint, issue, features):
                hint = hint._replace(suggestion="")
            yield _warning(hint)


def _parents(root: Node) -> Mapping[Node, Node | None]:
    """Every node in the order of the text, with the node around it."""
    found: dict[Node, Node | None] = {root: None}
    for node in descendants(root):
        found |= dict.fromkeys(children(node), node)
    return found


def _misfit(
    text: str,
    parents: Mapping[Node, Node | None],
    issue: Issue,
    known: Catalog | None,
) -> Hint | None:
    for node in parents:
        if node.at != issue.start:
            continue
        misfit = Misfit(text, issue, node, parents, known)
        for rule in (*misnamed.RULES, *mistyped.RULES):
            found = rule(misfit)
            if found is not None:
                return found
    return None


_NO_BOOL: Final = "must evaluate to bool or the unknown type, not "


def _result(text: str, root: Node, issue: Issue) -> Hint | None:
    """The whole is neither true nor false."""
    if not issue.message.startswith(_NO_BOOL):
        return None
    kind = issue.message.removeprefix(_NO_BOOL)
    return mistyped.compare_it(text, root, kind)


def _root(text: str) -> Node | None:
    try:
        return with_room(lambda: parse(text), "an expression nested this deep")
    except (Problem, NotSupportedError):
        return None


def _helps(text: str, hint: Hint, issue: Issue, features: CelFeatures) -> bool:
    """Whether the issue is gone with the suggestion in place."""
    changed = f"{text[: hint.start]}{hint.suggestion}{text[hint.end :]}"
    try:
        compile(changed, features=features)
    except NotSupportedError:
        return False
    except CompileError as error:
        return all(
            (left.message, left.start) != (issue.message, issue.start)
            for left in error.issues
        )
    return True


def _warning(hint: Hint) -> Warning:
    return Warning(
        "does-not-compile",
        hint.message,
        hint.start,
        hint.end,
        suggestion=hint.suggestion,
    )
