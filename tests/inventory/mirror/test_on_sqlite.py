"""The core of the mirror again, on the other database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

HERE = Path(__file__).parent
DRA_PORTAL = HERE.parents[1] / "dra_portal"


@pytest.mark.skipif(
    connection.vendor == "sqlite",
    reason="this run is on SQLite already",
)
@pytest.mark.parametrize(
    "files",
    [
        [HERE / "test_store.py", HERE / "test_pools.py", HERE / "test_any_order.py"],
        [DRA_PORTAL / "test_watch_lock.py", DRA_PORTAL / "test_watch.py"],
    ],
    ids=["mirror", "watch"],
)
def test_it_holds_on_sqlite_too(tmp_path: Path, files: list[Path]) -> None:
    environment = {
        **os.environ,
        "DRA_PORTAL_TEST_DATABASE": f"sqlite:///{tmp_path / 'mirror.sqlite3'}",
        "DRA_PORTAL_VAR": str(tmp_path),
    }
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
            "--ds=tests.inventory.mirror.sqlite_settings",
            *map(str, files),
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
