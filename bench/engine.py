"""The engine on whole clusters, one kind and size in a process of its own.

    python -m bench.engine KIND NODES

The comparison is Kubernetes 1.36.2's own allocator (Go) on the same work, trying
one node after another, as it was measured once on an idle machine of two cores:
machines differ, so take the ratio as the order of magnitude.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from bench import hopeless
from bench.clusters import CLAIMS, ONE_GPU, claim, held, objects
from bench.table import NO_COMPARISON, Figure, figure, milliseconds, show, timed
from dra.allocation import Features, Fits, allocate, place
from dra.allocation.explaining import explain
from dra.allocation.groups import forget_answers
from dra.allocation.placing import Question
from dra.objects import ResourceClaim, ResourceClaimStatus
from dra.snapshot import Snapshot

FEATURES: Final = Features.preset("1.36")
ONE_NODE: Final = {
    "1 GPU": 0.15,
    "4 GPUs on one PCIe root": 0.3,
    "first available of 3": 0.55,
    "all GPUs": 0.3,
    "one 3g": 3.5,
    "3g + 2g + 2 × 1g of one GPU": 52.0,
}
"""Milliseconds of the reference on one node that fits."""
ALL_NODES: Final = {
    "1 GPU": 1.6,
    "4 GPUs on one PCIe root": 1.7,
    "first available of 3": 5.3,
    "all GPUs": 1.8,
    "one share": 2.2,
    "4 shares of different GPUs": 2.0,
}
"""Seconds of the reference on 5,000 nodes."""
CUT_NODES: Final = {"one 3g": 12.8, "3g + 2g + 2 × 1g of one GPU": 12.0}
"""Seconds on 100 nodes of cut GPUs."""


def main() -> None:
    kind, nodes = sys.argv[1], int(sys.argv[2])
    figures: list[Figure] = []
    snapshot, read_it, plain = from_dump(kind, nodes)
    figures.append(figure("snapshot of a dump", read_it, plain, "json.loads alone"))
    names = sorted(snapshot.nodes)
    figures += one_node(kind, snapshot, names[-1])
    figures += every_node(kind, snapshot, names)
    figures += next_snapshots(snapshot)
    if kind == "gpu":
        figures += placing(snapshot)
        figures += [hopeless.matched(), hopeless.paired()]
    if kind == "mig":
        figures += hopeless.cut(snapshot, names[-1])
    figures += reasons(kind, snapshot, names)
    show(
        f"{nodes:,} nodes of kind {kind}, {len(snapshot.devices()):,} devices", figures
    )


def from_dump(kind: str, nodes: int) -> tuple[Snapshot, float, float]:
    """The snapshot of a dump, how long that took, and reading the JSON alone."""
    dump = json.dumps(list(objects(kind, nodes)))
    started = time.perf_counter()
    loaded = json.loads(dump)
    between = time.perf_counter()
    snapshot = Snapshot.build(loaded)
    ended = time.perf_counter()
    return snapshot, (ended - between) * 1000, (between - started) * 1000


def one_node(kind: str, snapshot: Snapshot, name: str) -> list[Figure]:
    found = []
    for what, wanted in CLAIMS[kind].items():

        def work(wanted: ResourceClaim = wanted) -> None:
            outcome = allocate(
                snapshot, [wanted], name, features=FEATURES, quirks="1.36"
            )
            assert isinstance(outcome, Fits)

        spent = milliseconds(work, times=50, warm=5)
        found.append(
            figure(f"one node: {what}", spent, ONE_NODE.get(what, NO_COMPARISON))
        )
    return found


def every_node(kind: str, snapshot: Snapshot, names: list[str]) -> list[Figure]:
    """The answer of every node: at first, as a new question, and again."""
    found = []
    reference = CUT_NODES if kind == "mig" else ALL_NODES
    standard = {"gpu": 5000, "cap": 5000, "mig": 100}[kind]
    for number, (what, wanted) in enumerate(CLAIMS[kind].items()):

        def work(wanted: ResourceClaim = wanted) -> None:
            question = Question(snapshot, [wanted], features=FEATURES, quirks="1.36")
            assert question.on_nodes(names).fitting == (names[-1],)

        against = reference[what] * 1000 * len(names) / standard
        if not number:
            spent = timed(work)
            found.append(
                figure(f"every node, the first question: {what}", spent, against)
            )

        def anew(work: Callable[[], None] = work) -> None:
            forget_answers()
            work()

        spent = milliseconds(anew)
        found.append(figure(f"every node, a new question: {what}", spent, against))
        found.append(
            figure(f"every node, asked again: {what}", milliseconds(work), against)
        )
    return found


def next_snapshots(snapshot: Snapshot) -> list[Figure]:
    """From one snapshot to the next after one change."""
    piece = next(iter(snapshot.slices.values()))
    renewed = replace(
        piece, spec=replace(piece.spec, devices=list(piece.spec.devices or [])[:-1])
    )
    taken = held(len(snapshot.nodes) - 1, {"device": "gpu-0"})
    return [
        figure(
            "next snapshot: one slice changed",
            milliseconds(lambda: snapshot.edit(add=[renewed])),
        ),
        figure(
            "next snapshot: one claim came",
            milliseconds(lambda: snapshot.edit(add=[taken])),
        ),
    ]


def placing(snapshot: Snapshot) -> list[Figure]:
    """1,000 claims, each placed and then held."""

    def work() -> None:
        now = snapshot
        for number in range(1000):
            wanted = claim(ONE_GPU, name=f"claim-{number}")
            outcome = place(now, [wanted], features=FEATURES)
            assert isinstance(outcome, Fits)
            status = ResourceClaimStatus(allocation=outcome.allocations[0])
            now = now.edit(add=[replace(wanted, status=status)])

    return [figure("place 1,000 claims one after another", timed(work))]


def reasons(kind: str, snapshot: Snapshot, names: list[str]) -> list[Figure]:
    """Why it fits nowhere, for all nodes but the one that fits."""
    found = []
    for what, wanted in CLAIMS[kind].items():

        def work(wanted: ResourceClaim = wanted, *, relax: bool) -> None:
            explain(
                snapshot,
                [wanted],
                node_names=names[:-1],
                features=FEATURES,
                relax=relax,
            )

        spent = milliseconds(lambda work=work: work(relax=False), times=3)  # type: ignore[misc]  # bound now
        found.append(figure(f"why nowhere: {what}", spent))
        spent = milliseconds(lambda work=work: work(relax=True), times=3)  # type: ignore[misc]  # bound now
        found.append(figure(f"why nowhere, with relaxations: {what}", spent))
    return found


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"({time.perf_counter() - started:.0f} s in all)")
