"""Which queue a task goes to, how long it may take, and what runs by the clock.

Plain values for the settings, by the names of tasks: a name without a task is not an
error, it is left out of the schedule (:mod:`dra_portal.beating`) and never sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kombu import Queue

RUN: Final = "allocator.tasks.run_allocation"
WAITING: Final = "allocator.tasks.explain_waiting"
REPAIR: Final = "allocator.tasks.repair_step"

PERIODS: Final = {
    "dra_portal.tasks.nudge_waiting": 60,
    "allocator.tasks.sweep_runs": 60,
    "allocator.tasks.sweep_repairs": 60,
    "allocator.tasks.sweep_leftovers": 120,
    "allocator.tasks.follow_rules": 15,
    "allocator.tasks.sample_usage": 60,
    "allocator.tasks.prune_usage": 3600,
    "allocator.tasks.sample_headroom": 300,
    "allocator.tasks.sweep_what_ifs": 60,
    "allocator.tasks.prune_history": 3600,
    "dra_portal.tasks.tidy": 3600,
    "dra_portal.tasks.delete_left_clusters": 60,
}
"""Seconds between two times. None above an hour: beat keeps nothing on disk, so one
that is restarted daily would never come to a daily task."""

_PERIODIC_SECONDS: Final = 120
_GRACE: Final = 30
"""Seconds between the soft limit, which a task can tell of, and the hard one."""


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues of one portal; ``base`` takes what has no queue of its own."""

    base: str

    @property
    def plan(self) -> str:
        """Searching and explaining: takes processor time, may wait."""
        return f"{self.base}.plan"

    @property
    def write(self) -> str:
        """Runs that somebody waits for."""
        return f"{self.base}.write"

    @property
    def periodic(self) -> str:
        """What the clock asks for."""
        return f"{self.base}.periodic"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.base, self.plan, self.write, self.periodic)

    def declared(self) -> list[Queue]:
        """A worker without ``-Q`` takes from all of them in turn."""
        return [Queue(name, routing_key=name) for name in self.names]

    def routes(self) -> dict[str, dict[str, str]]:
        return {
            # Dry runs go to ``plan``; whoever enqueues a run looks at that.
            RUN: {"queue": self.write},
            REPAIR: {"queue": self.write},
            WAITING: {"queue": self.plan},
            # Whatever else the allocator has workers do is thinking, not writing.
            "allocator.*": {"queue": self.plan},
            **{name: {"queue": self.periodic} for name in PERIODS},
        }

    def schedule(self) -> dict[str, dict[str, Any]]:
        """For beat. What nobody took in time is dropped: the next one does its work."""
        return {
            name: {
                "task": name,
                "schedule": float(seconds),
                "options": {"expires": float(seconds), "queue": self.periodic},
            }
            for name, seconds in PERIODS.items()
        }


def limits(*, run: int, waiting_pass: int) -> dict[str, dict[str, float]]:
    """Annotations with the limits of each task, in seconds.

    At the soft one the task is told and ends its run with a reason. At the hard one
    its process is killed; for a run the message goes back to the queue then, and the
    next worker waits for the lease of the killed one to end.
    """
    return {
        RUN: {
            "time_limit": run,
            "soft_time_limit": soft(run),
            "acks_on_timeout": False,
        },
        WAITING: {
            "time_limit": waiting_pass + 2 * _GRACE,
            "soft_time_limit": waiting_pass + _GRACE,
        },
        REPAIR: {
            "time_limit": _PERIODIC_SECONDS + _GRACE,
            "soft_time_limit": _PERIODIC_SECONDS,
        },
        **{
            name: {
                "time_limit": _PERIODIC_SECONDS + _GRACE,
                "soft_time_limit": _PERIODIC_SECONDS,
            }
            for name in PERIODS
        },
    }


def soft(hard: int) -> float:
    """The soft limit that goes with a hard one."""
    return max(hard - _GRACE, hard / 2)


def visibility_seconds(*, run: int, lease: int) -> int:
    """After which Redis gives a message that nobody acknowledged to another worker.

    Longer than a task with its countdown can take, or a run would be delivered while
    its worker is still on it.
    """
    return run + lease + 2 * _GRACE
