"""What ``manage.py check`` says about ``clusters.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks

from cluster.config import load_clusters
from cluster.errors import ConfigError

HINT = "DRA_PORTAL_CLUSTERS names the file; docs/operations.md shows what it holds."


def clusters_file_problem() -> str:
    """Why no cluster can be read from the file, in one sentence; empty when all is well."""
    try:
        load_clusters(Path(settings.CLUSTERS_FILE))
    except ConfigError as error:
        return str(error)
    return ""


@checks.register()
def check_clusters_file(**_: Any) -> list[checks.CheckMessage]:
    """No error: pages start all the same and say what to do."""
    problem = clusters_file_problem()
    if not problem:
        return []
    if not Path(settings.CLUSTERS_FILE).exists():
        return [checks.Info(f"{problem}.", hint=HINT, id="dra_portal.I001")]
    return [checks.Warning(f"{problem}.", hint=HINT, id="dra_portal.W001")]
