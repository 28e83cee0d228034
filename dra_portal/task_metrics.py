"""Numbers of workers and beat, which have no address of their own."""

from __future__ import annotations

from typing import Any

from celery.signals import beat_init, worker_init, worker_ready


@worker_init.connect(dispatch_uid="dra_portal.begin_metrics")
def begin(**_: Any) -> None:
    """Before the first child, which counts in the same directory."""
    from dra_portal import metrics  # what it imports, not every process needs

    metrics.begin()


@worker_ready.connect(dispatch_uid="dra_portal.listen_for_metrics")
@beat_init.connect(dispatch_uid="dra_portal.listen_for_metrics")
def listen(**_: Any) -> None:
    """After the first children, so that they do not inherit the socket."""
    from dra_portal import metrics

    metrics.listen()
