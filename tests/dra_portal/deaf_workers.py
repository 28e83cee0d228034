"""With ``--include``: a worker's child processes hear no soft limit, only the hard one.

So it is with code that is busy in C for long.
"""

from __future__ import annotations

import signal
from typing import Any

from celery.signals import worker_process_init


@worker_process_init.connect
def hear_nothing(**_: Any) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
