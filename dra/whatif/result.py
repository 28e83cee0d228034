"""The answer of a scenario in data; all of it can be written as JSON."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dra.allocation.explaining import Explanation


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """Immutable, camelCase on the outside."""


class GivenDevice(Record, frozen=True):
    """One device of a placement; ``consumed`` by capacity where it is shared."""

    request: str
    driver: str
    pool: str
    device: str
    consumed: dict[str, str] = {}


class GivenClaim(Record, frozen=True):
    namespace: str
    name: str
    devices: tuple[GivenDevice, ...]


class Placement(Record, frozen=True):
    """What went to ``node``: the claims of ``pod``, or a claim by itself.

    ``item`` is the place of its item in the workload, -1 for what had to move.
    """

    item: int
    name: str
    namespace: str
    pod: str
    node: str
    claims: tuple[GivenClaim, ...]


class AskedClaim(Record, frozen=True):
    """A claim that waits for devices, with the spec that it has then.

    ``made``: the scheduler makes it of extended resources, or a controller of a pod's
    template: nobody writes it.
    """

    namespace: str
    name: str
    spec: dict[str, Any]
    made: bool = False


class ItemResult(Record, frozen=True):
    """What became of one item of work.

    ``placed`` of ``copies`` fit. ``verdict`` says why the next one does not, with
    ``reason`` in one sentence, ``explanation`` where it is a matter of devices and
    ``hint`` where something else would have helped. The relaxations of the explanation
    are changes with which the next one would fit; ``asked`` are its claims, to which
    their ``claim`` counts, and ``pod`` is its pod.
    """

    item: int
    sentence: str
    copies: int
    placed: int
    verdict: Literal["fits", "does not fit", "undecided", "refused", "not tried"]
    reason: str = ""
    hint: str = ""
    explanation: Explanation | None = None
    asked: tuple[AskedClaim, ...] = ()
    pod: str = ""


class Loss(Record, frozen=True):
    """A claim that loses its devices.

    ``detail`` is the taint, the devices or the consumers that it is about, ``after``
    how many seconds after the change it happens. ``outcome``: it "fits" on
    ``new_node``, "waits" for the ``reason``, "stays" allocated because a consumer that
    is no pod keeps it, is "released" because nothing needs it any more, or was "not
    tried" before the run was stopped.
    """

    namespace: str
    claim: str
    reason: Literal["drained", "node removed", "evicted", "vanished", "pod removed"]
    node: str
    devices: tuple[str, ...]
    pods: tuple[str, ...]
    sentence: str
    outcome: Literal["fits", "waits", "stays", "released", "not tried"]
    detail: str = ""
    after: int = 0
    new_node: str = ""
    new_devices: tuple[str, ...] = ()
    why: str = ""


class Stranded(Record, frozen=True):
    """What had to move and finds no place: a pod, or a claim by itself.

    ``claims`` are all that go with it, "namespace/name"; ``others`` are how many more
    ask the same and find none either. ``verdict`` and ``reason`` say why, with
    ``explanation`` where it is a matter of devices: its relaxations are changes with
    which it would have found one when its turn came, of the claims in ``asked``.
    """

    name: str
    namespace: str
    pod: str
    claims: tuple[str, ...]
    verdict: Literal["does not fit", "undecided", "refused"]
    reason: str = ""
    others: int = 0
    explanation: Explanation | None = None
    asked: tuple[AskedClaim, ...] = ()


class PoolChange(Record, frozen=True):
    """A pool whose devices became or ceased to be usable, or that came or went.

    ``before`` and ``after`` are "complete", "absent" or what is wrong in words.
    """

    driver: str
    pool: str
    before: str
    after: str


class DeviceCounts(Record, frozen=True):
    """Devices by what can be done with them; ``unusable``: their pool is not whole."""

    devices: int = 0
    free: int = 0
    in_use: int = 0
    shared: int = 0
    tainted: int = 0
    blocked: int = 0
    unusable: int = 0
    errors: int = 0
    """Devices on which the selector of a class fails; they are none of the others."""


class CountChange(Record, frozen=True):
    """Devices of one class or node. None where it does not exist then.

    The node "" stands for devices that belong to no single node. ``difference`` is
    after less before; what does not exist has nothing.
    """

    name: str
    before: DeviceCounts | None
    after: DeviceCounts | None
    difference: DeviceCounts = DeviceCounts()


class NamespaceChange(Record, frozen=True):
    """How many devices the claims of a namespace hold, admin access left aside."""

    name: str
    before: int
    after: int
    difference: int


class AmountChange(Record, frozen=True):
    """Published and taken amounts; quantities as Kubernetes writes them.

    A capacity of all devices of a driver that draw on no counters, or one counter of
    all pools of a driver; with ``pool`` and ``counter_set`` that of one set. The
    differences are after less before, such as "-16Gi".
    """

    driver: str
    name: str
    total_before: str
    taken_before: str
    total_after: str
    taken_after: str
    total_difference: str = "0"
    taken_difference: str = "0"
    pool: str = ""
    counter_set: str = ""


class DeviceChange(Record, frozen=True):
    """A device whose state changed; empty where it does not exist."""

    driver: str
    pool: str
    device: str
    node: str
    before: str
    after: str


class Difference(Record, frozen=True):
    """The cluster before and after, by everything that people count.

    Classes are all there, the others only where something changed; ``more_devices``
    and ``more_counters`` are how many changes were left out of the lists.
    """

    classes: tuple[CountChange, ...] = ()
    nodes: tuple[CountChange, ...] = ()
    namespaces: tuple[NamespaceChange, ...] = ()
    capacities: tuple[AmountChange, ...] = ()
    counters: tuple[AmountChange, ...] = ()
    counter_sets: tuple[AmountChange, ...] = ()
    devices: tuple[DeviceChange, ...] = ()
    more_devices: int = 0
    more_counters: int = 0


class Result(Record, frozen=True):
    """The answer of one scenario on one snapshot.

    ``fits``: every copy was placed and everything that had to move found a place.
    ``seq`` is the snapshot's, ``scenario`` the hash of the scenario: equal ones give
    equal results. ``complete`` is False when the run was stopped; what is there is
    true all the same.
    """

    sentence: str
    fits: bool
    complete: bool
    seq: int
    scenario: str
    policy: str
    edits: tuple[str, ...] = ()
    items: tuple[ItemResult, ...] = ()
    placements: tuple[Placement, ...] = ()
    losses: tuple[Loss, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    pools: tuple[PoolChange, ...] = ()
    difference: Difference = Difference()
    notes: tuple[str, ...] = ()
