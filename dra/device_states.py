"""What can be done with every device of a snapshot, as numbers in table order."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import State, device_states

type StateCodes = NDArray[np.uint8]

STATES: Final = tuple(State)
"""A code is the place of the state here."""
_MEMO: Final = "device states"
_CODES: Final = {state: code for code, state in enumerate(STATES)}


def table_states(snapshot: Snapshot) -> StateCodes:
    """The code of each device's state, in the order of the snapshot's device table."""
    rules = TaintRules(snapshot.taint_rules.values())
    codes: list[int] = []
    for key in sorted(snapshot.pools):
        pool = snapshot.pools[key]
        use = snapshot.in_use.pool(key)
        taints = rules.for_pool(pool)
        known = pool.memo.get(_MEMO)
        if known is not None and known[0] is use and not taints:
            codes += known[1]
            continue
        states = device_states(pool, use.results(), taints)
        found = [_CODES[states[device.name].state] for device in pool.devices()]
        if not taints:
            pool.memo[_MEMO] = (use, found)
        codes += found
    return np.array(codes, np.uint8)
