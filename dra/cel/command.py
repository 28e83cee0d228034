"""``python -m dra cel``: one selector and one device a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from dra import cel, objects
from dra.errors import NotSupportedError, ObjectError


def run_lines(stdin: Iterable[str], stdout: TextIO) -> None:
    """Answer every line of ``stdin`` with one line, in order.

    In: ``{"id", "expression", "device", "features", "envType"}``. Out: ``{"id",
    "compileError", "result", "runtimeError", "cost"}``; a line that cannot be
    read gets ``{"id", "error"}``, and so does what is not supported (:class:`~dra.errors.NotSupportedError`).
    """
    for line in stdin:
        if line.strip():
            stdout.write(json.dumps(answer(line)) + "\n")


def answer(line: str) -> dict[str, Any]:
    """The answer to one line."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"not JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "error": "a JSON object is expected"}
    out: dict[str, Any] = {"id": case.get("id")}
    try:
        return out | _evaluate(case)
    except (NotSupportedError, ObjectError, TypeError) as error:
        return out | {"error": str(error)}


def _evaluate(case: dict[str, Any]) -> dict[str, Any]:
    expression = case.get("expression", "")
    if not isinstance(expression, str):
        raise TypeError("expression: a string is expected")
    gates = case.get("features") or {}
    features = cel.CelFeatures(
        consumable_capacity=bool(gates.get("consumableCapacity")),
        list_type_attributes=bool(gates.get("listTypeAttributes")),
    )
    out: dict[str, Any] = {
        "compileError": None,
        "result": None,
        "runtimeError": None,
        "cost": None,
    }
    try:
        program = cel.compile(
            expression,
            features=features,
            environment="new" if case.get("envType") == "new" else "stored",
        )
    except cel.CompileError as error:
        return out | {"compileError": str(error)}
    out["cost"] = program.cost.high
    try:
        out["result"] = program.evaluate(_device(case.get("device") or {}))
    except cel.EvaluationError as error:
        out["runtimeError"] = str(error)
    return out


def _device(raw: Any) -> cel.DeviceInput:
    device = objects.read(raw, objects.Device)
    return cel.DeviceInput(
        driver=str(raw.get("driver") or ""),
        attributes=device.attributes or {},
        capacity=device.capacity or {},
        allow_multiple_allocations=bool(device.allow_multiple_allocations),
    )
