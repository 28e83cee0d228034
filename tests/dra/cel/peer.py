"""cel-python as a second opinion, in a process of its own.

Its environment sets the recursion limit for everybody and keeps one parser for all,
so it never comes into ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

_PROGRAM = """
import json, logging, sys, celpy
logging.disable(logging.CRITICAL)
environment = celpy.Environment()
variables = {"device": celpy.json_to_cel(json.loads(next(sys.stdin)))}
for line in sys.stdin:
    try:
        program = environment.program(environment.compile(json.loads(line)))
        value = program.evaluate(variables)
        answer = bool(value) if isinstance(value, celpy.celtypes.BoolType) else "other"
    except celpy.CELParseError:
        answer = "parse error"
    except RecursionError:
        answer = "recursion"
    except (celpy.CELEvalError, TypeError, ValueError, KeyError, AttributeError):
        answer = "error"
    print(json.dumps(answer), flush=True)
"""


def answers(device: Any, expressions: Iterable[str]) -> list[bool | str]:
    """True, false, "error", "parse error", "recursion", or "other" for no bool.

    ``device`` is the variable as JSON has it.
    """
    lines = [json.dumps(device), *map(json.dumps, expressions)]
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in found.stdout.splitlines()]
