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
    """Waits of 0.8 to 30 s that double, each drawn from the upper half of its step.

    Begins anew when nothing failed for ``quiet`` seconds. The numbers are those
    of Kubernetes' own clients, so we load a server in trouble no more than they do.
    """

    first: float = 0.8
    most: float = 30.0
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
