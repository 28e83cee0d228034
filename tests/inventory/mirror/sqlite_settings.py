"""The settings of the tests, with a database file that threads can share."""

from __future__ import annotations

from pathlib import Path

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES

_FILE = Path(str(DATABASES["default"]["NAME"]))
DATABASES["default"]["TEST"] = {"NAME": str(_FILE.with_suffix(".tests.sqlite3"))}
