"""The compose file and the manifests, read for tests."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
BYTECODE = {
    name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ
}
"""Where Python keeps it: a process that is not told compiles 1,500 modules."""
OURS = ("migrate", "web", "watch", "worker", "beat")
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::-([^}]*))?\}")

Json = dict[str, Any]


def compose(**variables: str) -> Json:
    """The file with ``${NAME:-default}`` filled in, as ``docker compose`` does."""

    def value(found: re.Match[str]) -> str:
        return variables.get(found[1]) or found[2] or ""

    def filled(node: Any) -> Any:
        if isinstance(node, str):
            return _VARIABLE.sub(value, node)
        if isinstance(node, dict):
            return {key: filled(each) for key, each in node.items()}
        return [filled(each) for each in node] if isinstance(node, list) else node

    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    read: Json = filled(yaml.safe_load(text))
    return read


@functools.cache
def manifests() -> list[Json]:
    """What the kustomization names, the roles of ``deploy/rbac`` included."""
    found: list[Json] = []

    def read(folder: Path) -> None:
        kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
        for name in kustomization["resources"]:
            path = (folder / name).resolve()
            if path.is_dir():
                read(path)
            else:
                found.extend(yaml.safe_load_all(path.read_text(encoding="utf-8")))

    read(ROOT / "deploy" / "kubernetes")
    return found


def of_kind(*kinds: str) -> dict[str, Json]:
    """By name."""
    return {m["metadata"]["name"]: m for m in manifests() if m["kind"] in kinds}


def pods() -> dict[str, Json]:
    """The pod spec of everything that runs, by the name without ``dra-portal-``."""
    return {
        name.removeprefix("dra-portal-"): m["spec"]["template"]["spec"]
        for name, m in of_kind("Deployment", "StatefulSet", "Job").items()
    }


def settings() -> dict[str, str]:
    data: dict[str, str] = of_kind("ConfigMap")["dra-portal-settings"]["data"]
    return data
