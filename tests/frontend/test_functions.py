"""The functions that the editor proposes are those of the environment, no more, no less."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra import cel
from dra.cel import functions, macros
from dra.cel import types as t
from dra.objects import DeviceAttribute, DeviceCapacity

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "frontend/src/functions.json").read_text("utf-8"))
EXAMPLES = json.loads((Path(__file__).parent / "function_examples.json").read_text())
KINDS = {
    "string": "string",
    "bytes": "bytes",
    "list": "list",
    "map": "map",
    "optional_type": "optional",
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
    "kubernetes.Quantity": "quantity",
    "kubernetes.Semver": "semver",
    "kubernetes.URL": "url",
    "kubernetes.NamedFormat": "format",
    "net.IP": "ip",
    "net.CIDR": "cidr",
}


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("global", row) for row in TABLE["globals"])
    for kind, methods in TABLE["methods"].items():
        yield from ((kind, row) for row in methods)


def declared() -> set[tuple[str, str]]:
    """``(kind of the receiver or "global", name)`` of all that an expression may call."""
    found = set()
    declarations = functions.declarations(includes=True)
    for name in declarations.names():
        function = declarations.find(name)
        assert function is not None
        if not re.fullmatch(r"[A-Za-z_.]\w*(\.\w+)?", name):
            continue  # operators, and what macros become
        for overload in function.overloads:
            if not overload.method:
                found.add(("global", name))
            elif overload.args[0] == t.DYN:  # of any value; meant for lists
                found.add(("list", name))
            else:
                found.add((KINDS[overload.args[0].name], name))
    return found


MACROS = {
    **dict.fromkeys(("all", "exists", "exists_one", "existsOne"), ("list", "map")),
    **dict.fromkeys(("map", "filter"), ("list", "map")),
    **dict.fromkeys(
        ("transformList", "transformMap", "transformMapEntry"), ("list", "map")
    ),
    **dict.fromkeys(("optMap", "optFlatMap"), ("optional",)),
    "sortBy": ("list",),
}


def test_every_function_is_proposed_and_none_that_does_not_exist() -> None:
    proposed = {(kind, row["name"]) for kind, row in rows() if not row.get("macro")}
    assert proposed == declared()


def test_every_macro_is_proposed_and_none_that_does_not_exist() -> None:
    proposed = {(kind, row["name"]) for kind, row in rows() if row.get("macro")}
    assert proposed == {("global", "has"), ("global", "cel.bind")} | {
        (kind, name) for name, kinds in MACROS.items() for kind in kinds
    }
    known = {name for name, _ in macros.METHODS} | {name for name, _ in macros.GLOBAL}
    assert known == {"has", "bind"} | set(MACROS)


DEVICE = cel.DeviceInput(
    driver="gpu.nvidia.com",
    attributes={
        "type": DeviceAttribute(string="gpu"),
        "productName": DeviceAttribute(string="NVIDIA H100 80GB HBM3"),
        "driverVersion": DeviceAttribute(version="580.105.8"),
    },
    capacity={"memory": DeviceCapacity(value="81559Mi")},
)


@pytest.mark.parametrize(
    ("kind", "row"),
    [pytest.param(kind, row, id=f"{kind}.{row['name']}") for kind, row in rows()],
)
def test_a_function_does_what_its_entry_says(kind: str, row: dict[str, Any]) -> None:
    name = row["name"]
    example = EXAMPLES[kind][name]
    assert f"{name}(" in example
    assert row["signature"].startswith(f"{name}(")
    assert row["text"].endswith(".")
    assert cel.compile(example).evaluate(DEVICE) is True


def test_no_example_is_left_over() -> None:
    assert {(kind, name) for kind, each in EXAMPLES.items() for name in each} == {
        (kind, row["name"]) for kind, row in rows()
    }


def simple(result: t.Type) -> str:
    return KINDS.get(result.name, result.name)


def test_results_are_those_of_the_environment() -> None:
    declarations = functions.declarations(includes=True)
    for kind, row in rows():
        if row.get("macro") or row["result"] in {"same", "element", "unknown"}:
            continue
        function = declarations.find(row["name"])
        assert function is not None
        results = {
            simple(overload.result)
            for overload in function.overloads
            if overload.method == (kind != "global")
            and (kind == "global" or KINDS.get(overload.args[0].name, "list") == kind)
        }
        assert results == {row["result"].partition("(")[0]}, (kind, row["name"])
