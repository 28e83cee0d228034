"""cel-python's own evaluators on a sample of the devices, each in its own process.

    python -m bench.cel_python RUNNER < question > answer

What it lacks is given to it as functions in Python, with the values of our own.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import bench
from dra import quantity, semver

RUNNERS: Final = {"interpreted": "InterpretedRunner", "compiled": "CompiledRunner"}
_TIMES: Final = 3

type Json = dict[str, Any]


def ask(runner: str, devices: Sequence[Json], expressions: Mapping[str, str]) -> Json:
    """Seconds for all ``devices`` and what came out.

    ``converted`` for making the values, then by the name of the expression
    ``compiled``, ``evaluated`` (the median of a few) and ``answers``.
    """
    question = {"devices": list(devices), "expressions": dict(expressions)}
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.cel_python", runner],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: Json = json.loads(found.stdout)
    return answer


# --- what selectors need and cel-python does not have ---


class Quantity:
    def __init__(self, text: str) -> None:
        self.nanos = quantity.parse(text).nanos


class Version:
    def __init__(self, text: str) -> None:
        self.precedence = semver.parse(text).precedence


def make_quantity(text: str) -> Quantity:
    return Quantity(str(text))


def make_version(text: str) -> Version:
    return Version(str(text))


def compare_to(left: Quantity, right: Quantity) -> Any:
    from celpy.celtypes import IntType

    return IntType((left.nanos > right.nanos) - (left.nanos < right.nanos))


def is_greater_than(left: Version, right: Version) -> Any:
    from celpy.celtypes import BoolType

    return BoolType(left.precedence > right.precedence)


def lower_ascii(text: str) -> Any:
    from celpy.celtypes import StringType

    return StringType(str(text).lower())


_FUNCTIONS: Final[dict[str, Any]] = {
    "quantity": make_quantity,
    "semver": make_version,
    "compareTo": compare_to,
    "isGreaterThan": is_greater_than,
    "lowerAscii": lower_ascii,
}


def converted(device: Json) -> Any:
    """The variable ``device`` in cel-python's types."""
    from celpy import celtypes

    text, driver = celtypes.StringType, device["driver"]
    makers = {
        "string": text,
        "int": celtypes.IntType,
        "bool": celtypes.BoolType,
        "version": Version,
        "value": Quantity,
    }

    def domains(named: Json) -> Any:
        found: Json = {}
        for name, raw in named.items():
            domain, slash, identifier = name.partition("/")
            if not slash:
                domain, identifier = driver, name
            ((kind, value),) = raw.items()
            found.setdefault(domain, {})[text(identifier)] = makers[kind](value)
        return celtypes.MapType(
            {text(k): celtypes.MapType(v) for k, v in found.items()}
        )

    return celtypes.MapType(
        {
            text("driver"): text(driver),
            text("attributes"): domains(device["attributes"]),
            text("capacity"): domains(device["capacity"]),
        }
    )


def main() -> None:
    import celpy
    import celpy.evaluation

    logging.disable(logging.CRITICAL)
    # Compiled code calls functions by the names of their modules.
    setattr(celpy.evaluation, "bench", bench)  # noqa: B010 - a module has no such name
    question = json.load(sys.stdin)
    started = time.perf_counter()
    variables = [{"device": converted(device)} for device in question["devices"]]
    answer: Json = {"converted": time.perf_counter() - started}
    environment = celpy.Environment(runner_class=getattr(celpy, RUNNERS[sys.argv[1]]))
    for name, text in question["expressions"].items():
        spent = []
        for _ in range(_TIMES):
            started = time.perf_counter()
            program = environment.program(environment.compile(text), _FUNCTIONS)
            spent.append(time.perf_counter() - started)
        answer[name] = {"compiled": sorted(spent)[_TIMES // 2]}
        spent = []
        for _ in range(_TIMES):
            started = time.perf_counter()
            answers = [bool(program.evaluate(each)) for each in variables]
            spent.append(time.perf_counter() - started)
        answer[name] |= {"evaluated": sorted(spent)[_TIMES // 2], "answers": answers}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    # Under its own name, by which compiled code finds the functions.
    from bench import cel_python

    cel_python.main()
