"""What nodes are preferred by: better alternatives, and how much is taken already."""

from __future__ import annotations

from typing import Final

from dra.allocation.choices import Solution
from dra.allocation.groups import Pattern
from dra.allocation.request import Plan
from dra.names import PoolKey
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.usage import PoolUse, State, device_states

MOST_ALTERNATIVES: Final = 8
"""Alternatives that a firstAvailable request may have."""
_TAKEN: Final = frozenset({State.IN_USE, State.SHARED, State.BLOCKED})
_MEMO: Final = "whatif taken"


def rank_of(found: Pattern | Solution, plan: Plan) -> int:
    """The scheduler's score of a node for its alternatives.

    Each firstAvailable request that got devices counts 8 for its first alternative,
    7 for its second and so on; other requests count nothing.
    """
    score = 0
    for claim, request, alternative in _got(found, plan):
        if plan.claims[claim].requests[request].optional:
            score += MOST_ALTERNATIVES - alternative
    return score


def _got(found: Pattern | Solution, plan: Plan) -> set[tuple[int, int, int]]:
    """Claim, request and alternative of everything that got a device."""
    if isinstance(found, Pattern):
        return {(p.claim, p.request, p.alternative) for p in found.places}
    where = {
        ask: (claim, number, alternative)
        for claim, claim_plan in enumerate(plan.claims)
        for number, request in enumerate(claim_plan.requests)
        for alternative, ask in enumerate(request.alternatives)
    }
    return {where[pick.ask] for pick in found.picks if pick.ask in where}


def taken_part(snapshot: Snapshot, node: str) -> float:
    """Which part of a node's own devices is taken, from 0 to 1.

    Taken are those that claims hold alone or shared, and partitions for which the
    counters left do not suffice. A node without devices of its own has 0.
    """
    taken = total = 0
    for key in snapshot.pool_index.by_node.get(node, ()):
        pool_taken, pool_total = _taken(snapshot.pools[key], snapshot, key)
        taken += pool_taken
        total += pool_total
    return taken / total if total else 0.0


def _taken(pool: Pool, snapshot: Snapshot, key: PoolKey) -> tuple[int, int]:
    use: PoolUse = snapshot.in_use.pool(key)
    known = pool.memo.get(_MEMO)
    if known is None or known[0] is not use:
        states = device_states(pool, use.results(), {})
        taken = sum(one.state in _TAKEN for one in states.values())
        known = pool.memo[_MEMO] = (use, taken, len(states))
    return known[1], known[2]
