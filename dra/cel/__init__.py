"""Device selectors in CEL, as Kubernetes 1.36 compiles and runs them.

>>> program = compile('device.driver == "gpu.example.com"')
>>> program.evaluate(DeviceInput(driver="gpu.example.com"))
True
"""

from __future__ import annotations

from dra.cel.derived import derive
from dra.cel.devices import DeviceInput, device_value
from dra.cel.environments import CelFeatures
from dra.cel.errors import CompileError, EvaluationError, Issue
from dra.cel.program import Program, compile  # noqa: A004 - the word of the field
from dra.cel.reads import Read
from dra.cel.selection import Selection, Stopped
from dra.cel.table import DeviceTable, evaluate_many

__all__ = [
    "CelFeatures",
    "CompileError",
    "DeviceInput",
    "DeviceTable",
    "EvaluationError",
    "Issue",
    "Program",
    "Read",
    "Selection",
    "Stopped",
    "compile",
    "derive",
    "device_value",
    "evaluate_many",
]
