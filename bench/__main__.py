"""Run every benchmark, each size in a process of its own so that memory is its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(module: str, *arguments: str) -> int:
    with tempfile.TemporaryDirectory(prefix="dra-portal-bench-") as name:
        directory = Path(name)
        env = os.environ | {
            "DRA_PORTAL_VAR": name,
            "DRA_PORTAL_DATABASE": f"sqlite:///{directory / 'bench.sqlite3'}",
            "DRA_PORTAL_CLUSTERS": str(directory / "clusters.yaml"),
            "DRA_PORTAL_BROKER": "memory://localhost",
            "DRA_PORTAL_LOG_LEVEL": "WARNING",
        }
        command = [sys.executable, "-m", module, *arguments, name]
        return subprocess.run(command, env=env, check=False).returncode


def main() -> None:
    sizes = sys.argv[1:] or ["200", "2000"]
    failed = [size for size in sizes if run("bench.portal", size)]
    if failed:
        sys.exit(f"bench: failed for {', '.join(failed)} nodes")


if __name__ == "__main__":
    main()
