"""Which devices each DeviceClass selects, and what can be done with them now.

For people: a class's page and the overview. Selectors run on every device of
the newest generation of every pool, in use or not, whatever node it is on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from dra.allocation.features import DEFAULT, Features
from dra.allocation.matching import (
    Subject,
    Trouble,
    Verdict,
    chain_verdicts,
    verdict_of,
)
from dra.allocation.views import Candidate, view_of
from dra.cel.table import DeviceTable
from dra.device_states import STATES, StateCodes, table_states
from dra.errors import NotSupportedError
from dra.names import DeviceID, PoolKey
from dra.objects import DeviceClass
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.usage import State

type Chain = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class ClassUsage:
    """How many devices a class selects, by what can be done with them.

    ``matched`` is the sum of the states after it. ``errors`` are devices on
    which a selector fails: they are not among the matched ones, and a claim that
    reaches one of them cannot be scheduled; ``error`` is the first such text.
    """

    matched: int = 0
    free: int = 0
    in_use: int = 0
    shared: int = 0
    tainted: int = 0
    blocked: int = 0
    incomplete: int = 0
    invalid: int = 0
    errors: int = 0
    error: str = ""


def class_usage(
    snapshot: Snapshot, *, features: Features = DEFAULT
) -> dict[str, ClassUsage]:
    """The usage of every DeviceClass, by its name."""
    chains = {name: chain_of(c) for name, c in snapshot.classes.items()}
    table = snapshot.devices(lists=features.list_type_attributes)
    states = table_states(snapshot)
    usage = {chain: _usage(chain, table, states) for chain in set(chains.values())}
    return {name: usage[chain] for name, chain in chains.items()}


def matching_classes(
    snapshot: Snapshot, device: DeviceID, *, features: Features = DEFAULT
) -> dict[str, bool | str]:
    """What every DeviceClass, by name, says about one device.

    True, False, or the text of the error with which a selector fails. Empty when
    the newest generation of the device's pool does not have it.
    """
    pool = snapshot.pools.get(PoolKey(device.driver, device.pool))
    if pool is None:
        return {}
    for candidate in _candidates(pool):
        if candidate.device.name == device.device:
            subject = Subject(candidate, lists=features.list_type_attributes)
            return {
                name: _said(_verdict(chain_of(c), candidate, subject))
                for name, c in sorted(snapshot.classes.items())
            }
    return {}


def chain_of(device_class: DeviceClass) -> Chain:
    """The expressions of a class in order; one without CEL selects nothing."""
    return tuple(
        selector.cel.expression if selector.cel else "false"
        for selector in device_class.spec.selectors or ()
    )


def _candidates(pool: Pool) -> Iterator[Candidate]:
    for piece in pool.device_slices:
        yield from view_of(piece).candidates


def _verdict(chain: Chain, candidate: Candidate, subject: Subject) -> Verdict:
    try:
        return verdict_of(chain, candidate, lists=subject.lists, subject=subject)
    except NotSupportedError as error:
        return Trouble(0, str(error))


def _said(verdict: Verdict) -> bool | str:
    return verdict.text if isinstance(verdict, Trouble) else verdict


def _usage(chain: Chain, table: DeviceTable, states: StateCodes) -> ClassUsage:
    try:
        codes, verdicts = chain_verdicts(chain, table)
    except NotSupportedError as refusal:
        return ClassUsage(errors=len(table), error=str(refusal))
    tally = np.bincount(states[codes == 0], minlength=len(STATES)).tolist()
    failed = np.isin(codes, [c for c, v in enumerate(verdicts) if type(v) is Trouble])
    rows = np.flatnonzero(failed)
    error = ""
    if len(rows):
        first = int(rows[0])
        trouble = verdicts[codes[first]]
        assert isinstance(trouble, Trouble)
        error = f"{table.ids[first]}: {trouble.text}"
    return ClassUsage(
        matched=sum(tally),
        errors=len(rows),
        error=error,
        **{_FIELDS[state]: number for state, number in zip(STATES, tally, strict=True)},
    )


_FIELDS: Final = {state: state.value.replace(" ", "_") for state in State}
