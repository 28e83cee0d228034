"""How long to wait after a failure: longer each time, never in step with others."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Clock = Callable[[], float]
Uniform = Callable[[float, float], float]


@dataclass(slots=True, kw_only=True)
class Backoff:
    """Waits of 0.8 to 10 s that double, each drawn from the upper half of its step.

    Begins anew when nothing failed for ``quiet`` seconds, or at once when something
    ``worked``. As Kubernetes' own clients do it, but for the end: theirs go on to 30 s, as
    there is one on every node. We are one, and people wait for what we show.
    """

    first: float = 0.8
    most: float = 10.0
    quiet: float = 120.0
    clock: Clock = time.monotonic
    uniform: Uniform = random.uniform
    _step: float = field(default=0.0, init=False)
    _last: float = field(default=0.0, init=False)

    def next(self) -> float:
        """Seconds to wait after the failure that happened now."""
        now = self.clock()
        if not self._step or now - self._last > self.quiet:
            self._step = self.first
        self._step = min(self._step * 2, self.most)
        self._last = now
        return max(self.first, self.uniform(self._step / 2, self._step))

    def worked(self) -> None:
        """What is tried again and again was done: the next failure is a first one."""
        self._step = 0.0
