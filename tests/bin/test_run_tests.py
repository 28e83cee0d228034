"""What ``make test`` runs: lanes beside each other, and the first failure ends all."""

from __future__ import annotations

import importlib.util
import os
import re
import select
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "bin" / "run_tests.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    found = importlib.util.spec_from_file_location("run_tests", PROGRAM)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules["run_tests"] = module
    found.loader.exec_module(module)
    return module


def test_lanes_run_beside_each_other_and_steps_in_order(
    program: ModuleType, tmp_path: Path
) -> None:
    # Each lane waits for a file that the other one makes.
    first = program.Step("first", meeting(tmp_path / "a", tmp_path / "b"))
    second = program.Step("second", meeting(tmp_path / "b", tmp_path / "a"))
    last = program.Step("last", ["sh", "-c", f"mv {tmp_path}/a {tmp_path}/end"])
    assert program.Lanes().run([first], [second, last])
    assert (tmp_path / "end").exists()


def meeting(mine: Path, other: Path) -> list[str]:
    return ["sh", "-c", f"touch {mine}; until test -e {other}; do sleep 0.05; done"]


def test_the_first_failure_ends_what_runs_and_what_would_come(
    program: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    started = tmp_path / "started"
    # The child of what runs has to go as well; both hold the other end of this.
    held = tmp_path / "held"
    os.mkfifo(held)
    end = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    until_they_go = select.poll()
    until_they_go.register(end, 0)
    code = (
        f"import subprocess; held = open({str(held)!r}, 'w'); "
        "child = subprocess.Popen(['sleep', '600'], stdout=held); "
        f"open({str(started)!r}, 'w'); child.wait()"
    )
    long = program.Step("long", [sys.executable, "-c", code], live=True)
    fails = f"until test -e {started}; do sleep 0.05; done; echo what is wrong; exit 3"
    bad = program.Step("bad", ["sh", "-c", fails])
    never = program.Step("never", ["touch", str(tmp_path / "never")])
    assert not program.Lanes().run([long, never], [bad, never])
    assert until_they_go.poll(120_000)
    os.close(end)
    assert not (tmp_path / "never").exists()
    said = capfd.readouterr().err
    assert re.search(r"what is wrong\ntest: bad: \d+ s, failed", said)
    assert "test: never" not in said


def test_what_a_step_prints_comes_in_one_piece(
    program: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    step = program.Step("a step", ["sh", "-c", "echo one; echo two >&2"])
    assert program.Lanes().run([step])
    said = capfd.readouterr().err
    assert re.search(r"\none\ntwo\ntest: a step: \d+ s\n$", said)
