"""The core of the mirror and what leases are, again on the other database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

HERE = Path(__file__).parent
DRA_PORTAL = HERE.parents[1] / "dra_portal"
ALLOCATOR = HERE.parents[1] / "allocator"
FAULTS = "test_the_tables_equal_the_server_after_faults_and_restarts_of_either_side"


@pytest.mark.skipif(
    connection.vendor == "sqlite",
    reason="this run is on SQLite already",
)
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "tests",
    [
        [
            str(HERE / "test_store.py"),
            str(HERE / "test_pools.py"),
            str(HERE / "test_any_order.py"),
            str(ALLOCATOR / "test_wrong_clocks.py"),
        ],
        [
            str(DRA_PORTAL / "test_watch_lock.py"),
            f"{DRA_PORTAL / 'test_watch.py'}::{FAULTS}",
            f"{DRA_PORTAL / 'test_watch.py'}::test_a_store_that_fails_loses_no_event",
        ],
    ],
    ids=["mirror and leases", "watch"],
)
def test_it_holds_on_sqlite_too(tmp_path: Path, tests: list[str]) -> None:
    environment = {
        **os.environ,
        "DRA_PORTAL_TEST_DATABASE": f"sqlite:///{tmp_path / 'mirror.sqlite3'}",
        "DRA_PORTAL_VAR": str(tmp_path),
    }
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
            "--ds=tests.inventory.mirror.sqlite_settings",
            *tests,
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1100,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
