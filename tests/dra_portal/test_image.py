"""The image has what the locked dependencies bring, and nothing that only tests bring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

from tests.dra_portal.deployed import ROOT

ROOMS = ("allocator", "claims", "cluster", "dra", "dra_portal", "inventory", "web")
PROGRAM = """
import importlib, json, os, pkgutil, sys

missing = set(json.loads(sys.argv[1]))

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
os.environ["DJANGO_SETTINGS_MODULE"] = "dra_portal.settings"
import django
django.setup()
for room in json.loads(sys.argv[2]):
    package = importlib.import_module(room)
    for found in pkgutil.walk_packages(package.__path__, f"{room}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
import celery.apps.beat, celery.apps.worker, celery.concurrency.prefork
import django.db.backends.postgresql.base
import uvicorn.main, uvicorn.protocols.http.auto, uvicorn.protocols.websockets.auto
from kombu import Connection
for address in ("redis://127.0.0.1:1/0", "memory://localhost"):
    Connection(address).transport
"""


def name_of(text: str) -> str:
    return text.lower().replace("_", "-").replace(".", "-")


def locked() -> set[str]:
    """Names of what ``uv sync --locked --no-default-groups`` installs, and more where
    a marker would leave something out."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    packages: dict[str, Any] = {package["name"]: package for package in lock["package"]}
    waiting: list[tuple[str, str]] = [("dra-portal", "")]
    seen: set[tuple[str, str]] = set()
    while waiting:
        name, extra = one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        package = packages[name]
        needs = package.get("optional-dependencies", {}).get(extra, [])
        for need in needs if extra else package.get("dependencies", []):
            extras = need.get("extra", ())
            waiting += [(need["name"], each) for each in ("", *extras)]
    return {name_of(name) for name, _ in seen}


def test_every_process_starts_without_what_only_developers_have() -> None:
    there = locked()
    assert {"django", "celery", "kombu", "redis", "uvicorn"} <= there
    assert not {"pytest", "mypy", "playwright"} & there
    missing = [
        module
        for module, owners in packages_distributions().items()
        if not {name_of(owner) for owner in owners} & there
    ]
    assert "pytest" in missing
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(missing), json.dumps(ROOMS)],
        cwd=ROOT,
        # A thread that warms would only be in the way when it ends.
        env=os.environ | {"DRA_PORTAL_WARM_SECONDS": "0"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
