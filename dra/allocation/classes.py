"""Which devices each DeviceClass selects, and what can be done with them now.

For people: a class's page and the overview. Selectors run on every device of
the newest generation of every pool, in use or not, whatever node it is on.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

from dra.allocation.features import DEFAULT, Features
from dra.allocation.matching import (
    Subject,
    Trouble,
    Verdict,
    judge_all,
    verdict_of,
    verdicts,
)
from dra.allocation.views import Candidate, view_of
from dra.errors import NotSupportedError
from dra.names import DeviceID, PoolKey
from dra.objects import DeviceClass
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import State, device_states

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
    tallies: dict[Chain, Counter[State]] = {c: Counter() for c in chains.values()}
    troubles: dict[Chain, list[str]] = {c: [] for c in chains.values()}
    lists = features.list_type_attributes
    _prepare(snapshot, tallies, lists=lists)
    rules = TaintRules(snapshot.taint_rules.values())
    for pool in snapshot.pools.values():
        results = snapshot.in_use.pool(pool.key).results()
        states = device_states(pool, results, rules.for_pool(pool))
        for piece in pool.device_slices:
            view = view_of(piece)
            tables = [(c, verdicts(c, view, lists=lists)) for c in tallies]
            for candidate in view.candidates:
                state = states[candidate.device.name].state
                for chain, table in tables:
                    verdict = table[candidate.index]
                    if verdict is None:
                        subject = Subject(candidate, lists=lists)
                        verdict = _verdict(chain, candidate, subject)
                    if isinstance(verdict, Trouble):
                        troubles[chain].append(f"{candidate.id}: {verdict.text}")
                    elif verdict:
                        tallies[chain][state] += 1
    return {
        name: _usage(tallies[chain], troubles[chain]) for name, chain in chains.items()
    }


def _prepare(snapshot: Snapshot, chains: Iterable[Chain], *, lists: bool) -> None:
    """Judge all devices at once."""
    views = [
        view_of(piece)
        for pool in snapshot.pools.values()
        for piece in pool.device_slices
    ]
    judge_all(chains, views, lists=lists)


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


def _usage(tally: Counter[State], troubles: list[str]) -> ClassUsage:
    return ClassUsage(
        matched=tally.total(),
        free=tally[State.FREE],
        in_use=tally[State.IN_USE],
        shared=tally[State.SHARED],
        tainted=tally[State.TAINTED],
        blocked=tally[State.BLOCKED],
        incomplete=tally[State.INCOMPLETE],
        invalid=tally[State.INVALID],
        errors=len(troubles),
        error=troubles[0] if troubles else "",
    )
