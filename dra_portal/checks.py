"""What ``manage.py check`` says about ``clusters.yaml`` and the limits of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks

from cluster.config import ClusterConfig, load_clusters
from cluster.errors import ConfigError
from dra_portal.queues import soft
from inventory import clients

HINT = "DRA_PORTAL_CLUSTERS names the file; docs/operations.md shows what it holds."


def clusters_file_problem() -> str:
    """Why no cluster can be read from the file, in one sentence; empty when all is well."""
    try:
        load_clusters(Path(settings.CLUSTERS_FILE))
    except ConfigError as error:
        return str(error)
    return ""


def longest_run_seconds() -> float:
    """How long one run may take when each of its steps uses all of its time."""
    try:
        configs = load_clusters(Path(settings.CLUSTERS_FILE))
    except ConfigError:
        configs = []
    write = max((_write_seconds(config) for config in configs), default=0.0)
    write += settings.RUN_SERVER_SECONDS
    attempt = settings.RUN_MIRROR_SECONDS + settings.RUN_PLAN_SECONDS + write
    return float(
        settings.RUN_LOCK_SECONDS
        + settings.RUN_MAX_ATTEMPTS * attempt
        + settings.RUN_VERIFY_SECONDS
    )


def _write_seconds(config: ClusterConfig) -> float:
    carrier, guard = config.options.carrier, config.options.guard
    match config.writer:
        case "carrier":
            return carrier.wait + carrier.clean
        case "direct":
            barriers = 2 * len(config.options.scheduler.names) * guard.barrier
            return 2 * guard.settle + barriers + 2 * guard.marks
        case _:
            return 0.0


@checks.register()
def check_time_of_a_run(**_: Any) -> list[checks.CheckMessage]:
    """A limit that is too short would end runs that are well."""
    needed = longest_run_seconds()
    if soft(settings.TASK_SECONDS) >= needed:
        return []
    return [
        checks.Warning(
            f"A run may need {needed:,.0f} s and is ended after "
            f"{soft(settings.TASK_SECONDS):,.0f} s.",
            hint="Raise DRA_PORTAL_TASK_SECONDS, or shorten what a step may take.",
            id="dra_portal.W002",
        )
    ]


@checks.register()
def check_clusters_file(**_: Any) -> list[checks.CheckMessage]:
    """No error: pages start all the same and say what to do."""
    problem = clusters_file_problem()
    if not problem:
        return []
    if not Path(settings.CLUSTERS_FILE).exists():
        return [checks.Info(f"{problem}.", hint=HINT, id="dra_portal.I001")]
    return [checks.Warning(f"{problem}.", hint=HINT, id="dra_portal.W001")]


@checks.register()
def check_word_about_taint_rules(**_: Any) -> list[checks.CheckMessage]:
    """An administrator's word is obeyed, and told wherever somebody looks."""
    return [
        checks.Warning(f"{name}: {risk}", id="dra_portal.W003")
        for name, risk in clients.rule_risks().items()
    ]
