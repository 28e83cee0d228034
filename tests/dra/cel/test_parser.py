"""Where the nodes of a tree lie in the text."""

from __future__ import annotations

import pytest

from dra.cel.ast import Node, children
from dra.cel.parser import parse


def _texts(text: str) -> set[str]:
    found: set[str] = set()
    pending: list[Node] = [parse(text)]
    while pending:
        node = pending.pop()
        found.add(text[node.start : node.end])
        pending.extend(children(node))
    return found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(a || b) && c", {"(a || b) && c", "a || b", "a", "b", "c"}),
        ("a && ((b || c))", {"a && ((b || c))", "a", "b || c", "b", "c"}),
        ("!(a && (b))", {"!(a && (b))", "a && (b)", "a", "b"}),
        ("!!(a) == b", {"!!(a) == b", "a", "b"}),
        ("(a) ? b : (c)", {"(a) ? b : (c)", "a", "b", "c"}),
        ("(a + b).c", {"(a + b).c", "a + b", "a", "b"}),
        ("(a + b)[(c)]", {"(a + b)[(c)]", "a + b", "a", "b", "c"}),
        ("(a + b).size()", {"(a + b).size()", "a + b", "a", "b"}),
    ],
)
def test_the_text_of_a_node_has_the_parentheses_of_its_parts(text, parts):
    assert _texts(text) == parts
