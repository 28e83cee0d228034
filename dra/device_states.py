"""What can be done with every device of a snapshot, as numbers in table order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dra.names import PoolKey
from dra.objects import DeviceTaintRule
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import InUse, State, device_states

type StateCodes = NDArray[np.uint8]

STATES: Final = tuple(State)
"""A code is the place of the state here."""
_MEMO: Final = "device states"
_CODES: Final = {state: code for code, state in enumerate(STATES)}


class _Known(NamedTuple):
    """The states, and what they were worked out from."""

    pools: Mapping[PoolKey, Pool]
    in_use: InUse
    rules: Mapping[str, DeviceTaintRule]
    codes: StateCodes


def table_states(snapshot: Snapshot) -> StateCodes:
    """The code of each device's state, in the order of the snapshot's device table.

    Worked out once per state of the cluster; not to be written to.
    """
    memo = snapshot.device_tables.memo
    known = cast("_Known | None", memo.get(_MEMO))
    if (
        known is None
        or known.pools is not snapshot.pools
        or known.in_use is not snapshot.in_use
        or known.rules is not snapshot.taint_rules
    ):
        codes = _codes(snapshot)
        codes.setflags(write=False)
        known = memo[_MEMO] = _Known(
            snapshot.pools, snapshot.in_use, snapshot.taint_rules, codes
        )
    return known.codes


def _codes(snapshot: Snapshot) -> StateCodes:
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
