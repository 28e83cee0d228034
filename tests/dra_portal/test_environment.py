"""Numbers from the environment: odd ones stop the start with their name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from dra_portal import environment

NAME = "DRA_PORTAL_NUMBER_OF_A_TEST"


@pytest.mark.parametrize("raw", ["", "0", "17"])
def test_a_whole_number_or_nothing_will_do(
    monkeypatch: pytest.MonkeyPatch, raw: str
) -> None:
    monkeypatch.setenv(NAME, raw)
    assert environment.integer(NAME, 5) == int(raw or 5)


@pytest.mark.parametrize(
    ("raw", "least", "said"),
    [
        ("1.5", 0, "use a whole number"),
        ("-1", 0, "use a whole number of at least 0"),
        ("0", 1, "use a whole number of at least 1"),
    ],
)
def test_what_no_time_or_count_can_be_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, raw: str, least: int, said: str
) -> None:
    """A lease of no seconds would have two workers at each run."""
    monkeypatch.setenv(NAME, raw)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is '{raw}': {said}"):
        environment.integer(NAME, 5, least=least)


@pytest.mark.parametrize(
    "name",
    [
        "DRA_PORTAL_TASK_SECONDS",
        "DRA_PORTAL_RUN_LEASE_SECONDS",
        "DRA_PORTAL_RUN_ATTEMPTS",
    ],
)
def test_the_portal_does_not_start_without_time_for_its_runs(name: str) -> None:
    told = {**os.environ, name: "0"}
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(
        command, env=told, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"{name} is '0'" in done.stderr
