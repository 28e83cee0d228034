"""Every setting is in the one table of docs/operations.md, with its default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("allocator", "claims", "cluster", "dra", "dra_portal", "inventory", "web")
NAME = re.compile(r"DRA_PORTAL_[A-Z_]+")
OF_COMPOSE = {"DRA_PORTAL_IMAGE"}


def read_in_code() -> Iterator[tuple[str, str | None]]:
    """(name, default as the table writes it; None where it is worked out)."""
    tree = ast.parse((ROOT / "dra_portal" / "settings.py").read_text("utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="env")),
                args=[ast.Constant(value=str(name)), *rest],
            ):
                defaults = [*rest, *(keyword.value for keyword in node.keywords)]
                yield name, _default(defaults[0]) if defaults else ""


def _default(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=bool(value)):
            return str(value).lower()
        case ast.Constant(value=int(value)):
            return str(value)
        case ast.Constant(value=str(value)):
            return value
        case _:
            return None


def table() -> dict[str, str]:
    """Name → default; two names in a line have two defaults."""
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    section = text.partition("\n## Settings\n")[2].partition("\n## ")[0]
    found: dict[str, str] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4 or not (names := NAME.findall(cells[1])):
            continue
        defaults = re.findall(r"`([^`]*)`", cells[2])
        for index, name in enumerate(names):
            assert name not in found, f"{name} is there twice"
            found[name] = defaults[index] if index < len(defaults) else ""
    return found


def test_the_table_has_every_setting_and_no_other() -> None:
    assert set(table()) == {name for name, _ in read_in_code()}


def test_the_defaults_are_those_of_the_code() -> None:
    told = table()
    kept = {
        "DRA_PORTAL_DATABASE",  # worked out
        "DRA_PORTAL_SECRET_KEY",
        "DRA_PORTAL_BROKER",
    }
    wrong = {
        name: (told[name], default)
        for name, default in read_in_code()
        if default is not None and name not in kept and told[name] != default
    }
    assert wrong == {}


def test_the_worked_out_defaults_are_right_too() -> None:
    source = (ROOT / "dra_portal" / "settings.py").read_text("utf-8")
    assert f'or "{table()["DRA_PORTAL_BROKER"]}"' in source
    assert "/ 'portal.sqlite3'}" in source
    assert table()["DRA_PORTAL_DATABASE"] == "sqlite:///var/portal.sqlite3"


def test_only_settings_are_named_elsewhere() -> None:
    """In documents, and where the portal is started."""
    started = ("docker-compose.yml", "Dockerfile", "bin/demo", "README.md")
    files = [
        *(ROOT / name for name in started),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "deploy").rglob("*.yaml"),
    ]
    text = "\n".join(path.read_text("utf-8") for path in files)
    named = {name.removesuffix("_FILE").rstrip("_") for name in NAME.findall(text)}
    assert named - OF_COMPOSE <= set(table())


def test_the_environment_is_read_in_one_place() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"(environ|getenv).*DRA_PORTAL_", path.read_text("utf-8"))
    }
    assert readers == set()
