"""``dra`` runs without the web, the database, the broker and the cluster client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORBIDDEN = {"django", "celery", "redis", "kubernetes", "rest_framework", "structlog"}
OURS = {"dra_portal", "allocator", "claims", "inventory", "web", "cluster"}
ENTRANCE = "dra.__main__"
"""The command line; it alone may read YAML."""

WALK = """
import importlib, json, pkgutil, sys
import dra
names = [m.name for m in pkgutil.walk_packages(dra.__path__, "dra.")]
command = [n for n in names if n == "dra.__main__" or n.startswith("dra.command")]
for name in set(names) - set(command):
    importlib.import_module(name)
core = sorted(sys.modules)
for name in command:
    importlib.import_module(name)
print(json.dumps({"names": names, "core": core, "all": sorted(sys.modules)}))
"""


def loaded():
    """Top-level names in ``sys.modules`` of a fresh interpreter, and what it walked."""
    done = subprocess.run(
        [sys.executable, "-c", WALK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    found = json.loads(done.stdout)
    core, everything = (
        {name.partition(".")[0] for name in found[part]} for part in ("core", "all")
    )
    return found["names"], core, everything


def test_importing_all_of_dra_loads_nothing_of_the_other_rooms():
    names, core, everything = loaded()
    assert {"dra.snapshot", "dra.pools", "dra.cel", "dra.allocation"} <= set(names)
    assert not everything & (FORBIDDEN | OURS)
    assert "yaml" not in core
