"""The one way in which a run changes its state.

A change is an update that expects the state the caller believes in; the row count
says whether it was still so (somebody may have cancelled the run, or another worker
may have taken it over). The transition's record is in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import transaction
from django.db.models.functions import Now

from allocator.choices import FINAL, RunState
from allocator.models import AllocationRun, RunTransition

log = structlog.get_logger("allocator.runs")


class RunMovedError(Exception):
    """The run is not in the state, or no longer with the worker, that we thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A change that is to happen; see :func:`move`."""

    run: AllocationRun
    to: RunState
    actor: str
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Of the run, as they will be."""
        over: dict[str, Any] = {}
        if self.to in FINAL:
            over = {
                "finished_at": Now(),
                "reason": self.reason,
                "worker": "",
                "lease_until": None,
            }
        not_waiting = {"takeovers": 0, "waits_for": "", "waits_since": None}
        return self.changes | over | not_waiting | {"state": self.to}


def move(
    run: AllocationRun,
    to: RunState,
    *,
    actor: str,
    reason: str = "",
    details: dict[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Bring ``run`` from the state it is in (as loaded) to ``to``, all or nothing.

    ``changes`` are further columns; ``run`` gets them too. A final state gets the
    time and ``reason`` as the run's own. What it waited for is over. Raises RunMovedError
    when the row is not as ``run`` says.
    """
    wanted = Move(
        run=run,
        to=to,
        actor=actor,
        reason=reason,
        details=details or {},
        changes=changes,
    )
    came_from = run.state
    if not move_together([wanted]):
        raise RunMovedError(f"run {run.pk} is no longer {came_from}")


def move_together(moves: Sequence[Move]) -> list[AllocationRun]:
    """As :func:`move` of each, in one transaction; those runs that were moved.

    One whose row is not as the run says is left as it is.
    """
    done: list[tuple[Move, dict[str, Any]]] = []
    with transaction.atomic():
        for wanted in moves:
            run, columns = wanted.run, wanted.columns()
            as_loaded = AllocationRun.objects.filter(
                pk=run.pk, state=run.state, worker=run.worker
            )
            if as_loaded.update(**columns):
                done.append((wanted, columns))
        RunTransition.objects.bulk_create(
            RunTransition(
                run=wanted.run,
                from_state=wanted.run.state,
                to_state=wanted.to,
                actor=wanted.actor,
                reason=wanted.reason,
                details=wanted.details,
            )
            for wanted, _ in done
        )
    for wanted, columns in done:
        _take_note(wanted, columns)
    return [wanted.run for wanted, _ in done]


def _take_note(moved: Move, columns: dict[str, Any]) -> None:
    run, came_from = moved.run, moved.run.state
    for name, value in columns.items():
        if hasattr(value, "resolve_expression"):
            # A time by the database's clock: it is read when somebody asks for it.
            run.__dict__.pop(name, None)
        else:
            setattr(run, name, value)
    log.info(
        "run.moved",
        run=str(run.pk),
        from_state=str(came_from),
        to_state=str(moved.to),
        reason=moved.reason,
    )
