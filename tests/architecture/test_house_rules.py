"""What every file of the project keeps to, read from its syntax.

Lists of exceptions may only shrink: what is on one and keeps the rule has to go.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("dra", "cluster", "web", "inventory", "claims", "allocator", "dra_portal")
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
"""Lines, as an editor counts them."""

LONGER_FILES: frozenset[str] = frozenset(
    {
        "tests/api/test_authoring.py",
        "tests/api/test_objects.py",
        "tests/browser/test_cel_editor.py",
        "tests/browser/test_yaml_editor.py",
        "tests/claims/authoring/test_manifests.py",
        "tests/claims/authoring/test_workloads.py",
        "tests/claims/views/editor/test_page.py",
        "tests/dra/whatif/test_edits.py",
        "tests/dra/whatif/test_workload.py",
    }
)
LONGER_FUNCTIONS = frozenset(
    {
        # Columns of a table and kinds of hits: lists that happen to be code.
        "dra_portal/views/search.py: search",
        "inventory/views/devices.py: _own_columns",
        "inventory/views/pools.py: available_columns",
    }
)
NAMES_OF_NOTHING = {"util", "utils", "helper", "helpers", "misc", "common", "tools"}
PROMISES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
CATCHING_ALL = re.compile(r"\b(Base)?Exception\b")


@cache
def files() -> tuple[str, ...]:
    """Every Python file of ours, by its path in the project."""
    folders = (*ROOMS, "tests", "bench", "bin")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    names = (path.relative_to(ROOT).as_posix() for path in found)
    return tuple(sorted(name for name in names if "/migrations/" not in name))


def of_rooms() -> list[str]:
    return [name for name in files() if name.partition("/")[0] in ROOMS]


@cache
def text(name: str) -> str:
    return (ROOT / name).read_text()


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules ask of a file's syntax, which itself would fill the memory."""

    says_what_it_is_for: bool
    long_functions: tuple[str, ...]
    unexplained: tuple[int, ...]
    """Lines that catch everything and do not say why."""


@cache
def facts(name: str) -> Facts:
    module = ast.parse(text(name))
    lines = text(name).splitlines()
    return Facts(
        says_what_it_is_for=bool(ast.get_docstring(module)),
        long_functions=tuple(
            node.name
            for node in ast.walk(module)
            if isinstance(node, ast.FunctionDef)
            and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
        ),
        unexplained=tuple(
            handler.lineno
            for handler in catching_all(module)
            if not is_explained(lines, handler)
        ),
    )


def test_a_file_has_one_topic_and_four_hundred_lines_at_most():
    longer = {name for name in files() if text(name).count("\n") > LONGEST_FILE}
    assert not longer - LONGER_FILES, "split by topic"
    assert not LONGER_FILES - longer, "take these off the list"


def test_a_function_fits_on_a_screen():
    longer = {
        f"{name}: {function}"
        for name in of_rooms()
        for function in facts(name).long_functions
    }
    assert not longer - LONGER_FUNCTIONS, "split"
    assert not LONGER_FUNCTIONS - longer, "take these off the list"


def test_every_module_says_what_it_is_for():
    silent = [
        name
        for name in of_rooms()
        if text(name).strip() and not facts(name).says_what_it_is_for
    ]
    assert silent == []


def test_no_module_is_named_for_anything_and_everything():
    assert [name for name in files() if Path(name).stem in NAMES_OF_NOTHING] == []


def test_what_catches_everything_says_why_or_passes_it_on():
    unexplained = [
        f"{name}:{line}" for name in of_rooms() for line in facts(name).unexplained
    ]
    assert unexplained == []


def catching_all(module: ast.Module) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(module):
        if isinstance(node, ast.ExceptHandler):
            caught = "Exception" if node.type is None else ast.unparse(node.type)
            if CATCHING_ALL.search(caught):
                yield node


def is_explained(lines: list[str], handler: ast.ExceptHandler) -> bool:
    """It raises again, or has a comment before it or at its beginning."""
    if any(isinstance(node, ast.Raise) for node in handler.body):
        return True
    near = lines[handler.lineno - 2 : handler.body[0].lineno]
    return any("#" in line for line in near)


@pytest.mark.parametrize(
    ("code", "explained"),
    [
        ("try:\n    f()\nexcept Exception:\n    pass", False),
        ("try:\n    f()\n# It may fail.\nexcept Exception:\n    pass", True),
        ("try:\n    f()\nexcept Exception:  # it may\n    pass", True),
        ("try:\n    f()\nexcept (OSError, BaseException):\n    g()\n    raise", True),
        ("try:\n    f()\nexcept:\n    g()", False),
    ],
)
def test_an_explanation_is_found(code: str, explained: bool):
    (handler,) = catching_all(ast.parse(code))
    assert is_explained(code.splitlines(), handler) is explained


def test_nothing_of_ours_is_replaced_by_a_mock():
    mocking = [
        name
        for name in files()
        if "mock" in text(name)
        for node in ast.walk(ast.parse(text(name)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and re.search(r"\bmock\b", ast.unparse(node))
    ]
    assert mocking == []


def test_no_comment_promises_work():
    promising = [
        f"{name}:{token.start[0]}"
        for name in files()
        if PROMISES.search(text(name))
        for token in tokenize.generate_tokens(io.StringIO(text(name)).readline)
        if token.type == tokenize.COMMENT and PROMISES.search(token.string)
    ]
    assert promising == []
