"""Rows of figures, printed for people."""

from __future__ import annotations

import math
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_QUOTED: Final = "the reference, quoted"
NO_COMPARISON: Final = float("nan")


@dataclass(frozen=True, slots=True)
class Figure:
    """``ours`` and ``against`` in milliseconds; ``memory`` in MB of the process."""

    what: str
    ours: float
    against: float
    versus: str
    memory: float

    @property
    def ratio(self) -> float:
        return self.ours / self.against if self.against else float("nan")


def milliseconds(work: Callable[[], object], *, times: int = 5, warm: int = 1) -> float:
    """The median of ``times`` runs after ``warm`` unmeasured ones."""
    for _ in range(warm):
        work()
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    return milliseconds(work, times=1, warm=0)


def peak_megabytes() -> float:
    """The largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figure(
    what: str, ours: float, against: float = NO_COMPARISON, versus: str = _QUOTED
) -> Figure:
    """With the largest size of the process so far."""
    if math.isnan(against):
        versus = "-"
    return Figure(what, ours, against, versus, peak_megabytes())


def show(title: str, figures: list[Figure]) -> None:
    width = max(len(figure.what) for figure in figures)
    print(f"\n{title}")
    print(
        f"{'':{width}}  {'ours':>12}  {'comparison':>12}  {'ratio':>6}  {'memory':>8}  versus"
    )
    for f in figures:
        compared = f"{'-':>12}  {'-':>6}"
        if not math.isnan(f.against):
            ratio = f"{f.ratio:6.2f}" if f.ratio >= 0.01 else f"{f.ratio:6.0e}"
            compared = f"{f.against:9.1f} ms  {ratio}"
        print(
            f"{f.what:{width}}  {f.ours:9.1f} ms  {compared}"
            f"  {f.memory:5.0f} MB  {f.versus}"
        )
