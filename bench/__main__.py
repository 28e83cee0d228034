"""Run the benchmarks, each size in a process of its own so that memory is its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

SERVED: Final = {
    "bench.runs": {
        "DRA_PORTAL_DATABASE": "DRA_PORTAL_BENCH_DATABASE",
        "DRA_PORTAL_BROKER": "DRA_PORTAL_BENCH_BROKER",
    }
}
"""Parts that need servers: which setting comes from which variable."""


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
        if module in SERVED:
            if not all(os.environ.get(name) for name in SERVED[module].values()):
                named = " and ".join(SERVED[module].values())
                print(f"bench: {module} was left out; set {named} for it")
                return 0
            env |= {key: os.environ[name] for key, name in SERVED[module].items()}
            env["DRA_PORTAL_QUEUE"] = f"bench-{os.getpid()}"
        command = [sys.executable, "-m", module, *arguments, name]
        return subprocess.run(command, env=env, check=False).returncode


PARTS: Final[dict[str, list[tuple[str, ...]]]] = {
    "authoring": [("bench.authoring", "5000")],
    "cel": [
        ("bench.cel", "compile"),
        ("bench.cel", "select"),
        ("bench.cel", "alone"),
        ("bench.cel", "explain"),
    ],
    "engine": [
        ("bench.engine", "gpu", "5000"),
        ("bench.engine", "cap", "5000"),
        ("bench.engine", "mig", "100"),
    ],
    "whatif": [("bench.whatif", "5000")],
    "audits": [("bench.audits", "11250")],
    "history": [("bench.history", "5000")],
    "runs": [("bench.runs", "100")],
    "portal": [("bench.portal", "200"), ("bench.portal", "2000")],
}


def main() -> None:
    """``python -m bench [PART …] [NODES …]``: everything, some parts, or pages at a size."""
    wanted = sys.argv[1:] or list(PARTS)
    work = [
        run_ for part in wanted for run_ in PARTS.get(part, [("bench.portal", part)])
    ]
    failed = [" ".join(each) for each in work if run(*each)]
    if failed:
        sys.exit(f"bench: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
