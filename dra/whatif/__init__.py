"""What if: a changed cluster, and what fits into it.

``run`` answers a scenario on a snapshot, ``headroom`` how many more of given shapes fit.
Both take values and return values: nothing is read, written or logged.

>>> from dra.snapshot import EMPTY
>>> run(EMPTY, read_scenario({"edits": [{"edit": "features", "version": "1.37"}]})).fits
True
"""

from __future__ import annotations

from dra.whatif.errors import ScenarioError
from dra.whatif.headroom import Headroom, Shape, headroom
from dra.whatif.result import Result
from dra.whatif.run import Progress, Simulation, run, simulate
from dra.whatif.scenario import (
    POLICIES,
    Policy,
    Scenario,
    read_scenario,
    scenario_hash,
    write_scenario,
)
from dra.whatif.sentences import of_scenario

__all__ = [
    "POLICIES",
    "Headroom",
    "Policy",
    "Progress",
    "Result",
    "Scenario",
    "ScenarioError",
    "Shape",
    "Simulation",
    "headroom",
    "of_scenario",
    "read_scenario",
    "run",
    "scenario_hash",
    "simulate",
    "write_scenario",
]
