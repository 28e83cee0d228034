"""The core of the mirror again, on the other database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

HERE = Path(__file__).parent
FILES = ("test_store.py", "test_pools.py", "test_any_order.py")


@pytest.mark.skipif(
    "sqlite" in settings.DATABASES["default"]["ENGINE"],
    reason="this run is on SQLite already",
)
def test_the_mirror_holds_on_sqlite_too(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DRA_PORTAL_TEST_DATABASE": f"sqlite:///{tmp_path / 'mirror.sqlite3'}",
        "DRA_PORTAL_VAR": str(tmp_path),
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        + [str(HERE / name) for name in FILES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
