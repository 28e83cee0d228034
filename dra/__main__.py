"""``python -m dra``: the core as a command, without Django, database or network."""

from __future__ import annotations

import sys

from dra.allocation.command import run_lines

if __name__ == "__main__":
    for answer in run_lines(sys.stdin):
        print(answer)
