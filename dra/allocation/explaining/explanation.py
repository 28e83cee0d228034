"""The reason in data: what an explanation says before it is put into words.

Everything here can be written as JSON (``msgspec.to_builtins``).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dra.names import DeviceID

type Verdict = Literal["fits", "full", "hopeless", "undecided", "refused"]
"""``full``: it would fit if no claim held anything. ``hopeless``: not even then.
``undecided``: the budget ended first. ``refused``: the claim itself is wrong."""


class Loss(msgspec.Struct, frozen=True):
    """Devices that one thing takes away.

    ``what`` is the kind of thing (a term of a selector, a claim, a taint, a counter,
    a capacity, a pool, an error), ``name`` which one. ``alone``: how many devices
    nothing else takes away, where that is known. ``note`` tells more, in words.
    """

    what: Literal[
        "pool", "term", "error", "claim", "taint", "capacity", "counter", "node"
    ]
    name: str
    devices: int
    alone: int | None = None
    example: DeviceID | None = None
    note: str = ""


class Stage(msgspec.Struct, frozen=True):
    """One narrowing of the funnel: ``devices`` are left after it.

    ``losses`` are the largest ones, ``more`` how many others there are.
    """

    code: Literal[
        "published",
        "reachable",
        "usable",
        "class",
        "selectors",
        "not in use",
        "tolerated",
        "capacity",
        "counters",
    ]
    devices: int
    lost: int
    losses: tuple[Loss, ...] = ()
    more: int = 0


class Miss(msgspec.Struct, frozen=True):
    """Free devices that only one term of a selector excludes.

    ``values`` are what they publish instead, most frequent first.
    """

    selector: int
    of_class: bool
    term: str
    devices: int
    values: tuple[tuple[str, int], ...]
    example: DeviceID


class Agreement(msgspec.Struct, frozen=True):
    """What a constraint leaves of a request's free devices.

    ``nodes_before`` have enough free devices, ``nodes`` enough that agree. On
    ``best_node`` the largest number that agrees is ``most``; ``split`` is how its
    free devices divide, ``without`` how many lack the attribute.
    """

    attribute: str
    distinct: bool
    nodes_before: int
    nodes: int
    best_node: str
    most: int
    split: tuple[tuple[str, int], ...]
    without: int


class RequestReason(msgspec.Struct, frozen=True):
    """One request, or one alternative of it, seen alone.

    ``wanted`` devices (0 with ``everything``: all that match on a node). ``nodes``
    of the tried ones can serve it; ``best_node`` comes nearest with ``best``
    devices.
    """

    request: str
    class_name: str
    wanted: int
    everything: bool
    stages: tuple[Stage, ...]
    agreements: tuple[Agreement, ...]
    misses: tuple[Miss, ...]
    nodes: int
    best_node: str
    best: int


class NodeRequest(msgspec.Struct, frozen=True):
    """One request on one node: devices by what can be done with them."""

    request: str
    wanted: int
    matching: int
    failing: int
    in_use: int
    tainted: int
    full: int
    free: int
    most: int


class NodeGroup(msgspec.Struct, frozen=True):
    """Nodes with the same reason; ``names`` are the first of them."""

    nodes: int
    names: tuple[str, ...]
    fits: bool
    sentence: str
    requests: tuple[NodeRequest, ...]


class Relaxation(msgspec.Struct, frozen=True):
    """A single change with which the claim fits, proved by placing it.

    ``claim`` is the claim's index, ``spec`` its spec after the change; None where
    the change is not one of the claim (``wait``). ``before`` and ``after`` show what
    differs. ``node`` is the first node where it fits then.
    """

    code: Literal[
        "drop term",
        "loosen term",
        "drop selector",
        "other attribute",
        "drop constraint",
        "fewer",
        "tolerate",
        "other class",
        "wait",
    ]
    claim: int
    request: str
    before: str
    after: str
    node: str
    sentence: str
    spec: dict[str, Any] | None = None


class Given(msgspec.Struct, frozen=True):
    """A device that a claim would get on the first node where everything fits.

    ``claim`` is the claim's index. ``consumed`` is what a share takes of the device's
    capacities, in the spelling of a result; empty for a device that is had alone.
    """

    claim: int
    request: str
    device: DeviceID
    admin: bool = False
    consumed: dict[str, str] = {}


class Difference(msgspec.Struct, frozen=True):
    """Where the scheduler's answer and the documented one part.

    ``quirks`` are the known faults without which the scheduler would agree.
    """

    scheduler_fits: bool
    documented_fits: bool
    quirks: tuple[str, ...]
    sentence: str


class Explanation(msgspec.Struct, frozen=True):
    """The answer to "does it fit, and if not why".

    ``node`` is the first node where it fits, ``given`` what it would get there,
    ``fitting`` how many of ``nodes`` do. ``complete`` is False where the budget ended before everything was found
    out; what is there is true all the same.
    """

    verdict: Verdict
    sentence: str
    seq: int
    node: str
    fitting: int
    nodes: int
    requests: tuple[RequestReason, ...] = ()
    groups: tuple[NodeGroup, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    difference: Difference | None = None
    complete: bool = True
    given: tuple[Given, ...] = ()
