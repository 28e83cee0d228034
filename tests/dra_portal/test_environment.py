"""Numbers from the environment: odd ones stop the start with their name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
    ("name", "value"),
    [
        ("DRA_PORTAL_TASK_SECONDS", "0"),
        ("DRA_PORTAL_RUN_LEASE_SECONDS", "0"),
        ("DRA_PORTAL_RUN_ATTEMPTS", "0"),
        ("DRA_PORTAL_DATABASE", "postgresql://portal:secret@db:port/portal"),
        ("DRA_PORTAL_BROKER", "127.0.0.1"),
        ("DRA_PORTAL_ORIGINS", "dra.example.com"),
        ("DRA_PORTAL_LOG_LEVEL", "loud"),
        ("DRA_PORTAL_METRICS_DIR", f"{__file__}/metrics"),
    ],
)
def test_the_portal_does_not_start_with_a_value_that_is_none(
    name: str, value: str, tmp_path: Path
) -> None:
    told = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
        "DRA_PORTAL_VAR": str(tmp_path),
        name: value,
    }
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(
        command, env=told, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured: " + name)
    assert "secret" not in last
