"""The funnel of one request as a picture: what is left after each narrowing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from dra.allocation.explaining import (
    Agreement,
    Explanation,
    Loss,
    Miss,
    RequestReason,
    Stage,
)
from dra.allocation.explaining.text import STAGES
from inventory.choices import DeviceState
from web.pages import cells

_ALWAYS: Final = frozenset({"published", "class", "not in use"})
"""Stages that are shown even where nothing is lost."""


@dataclass(frozen=True, slots=True)
class Link:
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Lost:
    """One thing and the devices it takes away; ``code`` is an identifier or a term."""

    devices: int
    before: str
    code: str = ""
    href: str = ""
    note: str = ""
    pods: Sequence[Link] = ()
    listed: str = ""
    """Address of a list of such devices."""


@dataclass(frozen=True, slots=True)
class Step:
    """``open``: this is where too few are left. ``unit`` counts devices or nodes."""

    id: str
    label: str
    count: int
    lost: int
    bar: str
    href: str = ""
    losses: Sequence[Lost] = ()
    more: int = 0
    lines: Sequence[str] = ()
    node: str = ""
    open: bool = False
    unit: str = "device"


@dataclass(frozen=True, slots=True)
class Near:
    """Free devices that one term keeps away."""

    devices: int
    verb: str
    term: str
    of_class: bool
    values: str
    example: str
    example_href: str
    listed: str


@dataclass(frozen=True, slots=True)
class Funnel:
    """One request: what it wants, how devices narrow down, what comes near."""

    name: str
    title: str
    class_name: str
    steps: Sequence[Step]
    near: Sequence[Near]


@dataclass(frozen=True, slots=True)
class Chain:
    """The expressions that a device has to pass: of the class, of the request."""

    of_class: Sequence[str] = ()
    own: Sequence[str] = ()


class Funnels:
    """Makes the pictures of one cluster's answer.

    ``chains`` has the selectors of each request in order, ``pods`` the pods that use
    a claim, by ``namespace/name``.
    """

    def __init__(
        self,
        cluster: str,
        found: Explanation,
        chains: Sequence[Chain],
        pods: Mapping[str, Sequence[str]],
    ) -> None:
        self.cluster = cluster
        self.found = found
        self.chains = chains
        self.pods = pods

    def all(self) -> list[Funnel]:
        requests = self.found.requests
        known = len(self.chains) == len(requests)
        return [
            self._funnel(place, request, self.chains[place] if known else Chain((), ()))
            for place, request in enumerate(requests)
        ]

    def _funnel(self, place: int, request: RequestReason, chain: Chain) -> Funnel:
        if request.everything:
            title = "wants all devices"
        else:
            title = f"wants {cells.count(request.wanted, 'device')}"
        steps = [
            *self._stages(place, request, chain),
            *self._nodes(place, request),
        ]
        near = [self._near(miss, chain) for miss in request.misses]
        return Funnel(request.request, title, request.class_name, steps, near)

    # --- devices ---

    def _stages(
        self, place: int, request: RequestReason, chain: Chain
    ) -> Iterator[Step]:
        total = max((stage.devices for stage in request.stages), default=0)
        needed = max(1, request.wanted)
        before = total
        for stage in request.stages:
            if stage.lost or stage.code in _ALWAYS:
                yield Step(
                    id=f"why-{place}-{stage.code.replace(' ', '-')}",
                    label=STAGES[stage.code],
                    count=stage.devices,
                    lost=stage.lost,
                    bar=_bar(stage.devices, stage.lost, total),
                    href=self._list_of(stage, chain),
                    losses=[self._lost(stage, loss, chain) for loss in stage.losses],
                    more=stage.more,
                    open=stage.devices < needed <= before,
                )
            before = stage.devices

    def _devices(self, cel: str = "", **filters: str) -> str:
        query = {name: value for name, value in filters.items() if value}
        if cel:
            query["cel"] = cel
        address = reverse("devices", args=[self.cluster])
        return f"{address}?{urlencode(query, errors='replace')}" if query else address

    def _list_of(self, stage: Stage, chain: Chain) -> str:
        """A list of what is left, where its filters can say it."""
        match stage.code:
            case "published":
                return self._devices()
            case "class" if chain.of_class:
                return self._devices(all_of(chain.of_class))
            case "selectors" if chain.own:
                return self._devices(all_of([*chain.of_class, *chain.own]))
        return ""

    def _lost(self, stage: Stage, loss: Loss, chain: Chain) -> Lost:
        wanted = all_of([*chain.of_class, *chain.own]) if chain.of_class else ""
        match loss.what:
            case "term":
                within = chain.of_class if stage.code == "selectors" else ()
                listed = self._devices(all_of([*within, f"!({loss.name})"]))
                alone = (
                    f"{loss.alone:,} by this alone" if loss.alone is not None else ""
                )
                return Lost(loss.devices, "fail", loss.name, note=alone, listed=listed)
            case "error":
                return Lost(
                    loss.devices, "give no answer to", loss.name, note=loss.note
                )
            case "claim":
                pods = [
                    Link(self._object("pod", f"{loss.name.split('/')[0]}/{pod}"), pod)
                    for pod in self.pods.get(loss.name, ())
                ]
                href = self._object("claim", loss.name)
                return Lost(loss.devices, "held by", loss.name, href, pods=pods)
            case "taint":
                key = loss.name.rpartition(":")[0].partition("=")[0]
                listed = self._devices(wanted, taint=key)
                return Lost(loss.devices, "tainted", loss.name, listed=listed)
            case "pool":
                href = self._object("pool", loss.name)
                return Lost(loss.devices, "in pool", loss.name, href, note=loss.note)
            case "node" if loss.name:
                href = reverse("node", args=[self.cluster, loss.name])
                return Lost(loss.devices, "on node", loss.name, href)
            case "node":
                return Lost(loss.devices, loss.note)
            case _:
                state = DeviceState.BLOCKED if loss.what == "counter" else ""
                listed = self._devices(wanted, state=state) if state else ""
                return Lost(
                    loss.devices, "lack", loss.name, note=loss.note, listed=listed
                )

    def _object(self, kind: str, name: str) -> str:
        """The page of ``first/second``."""
        return reverse(kind, args=[self.cluster, *name.split("/", 1)])

    # --- nodes ---

    def _nodes(self, place: int, request: RequestReason) -> Iterator[Step]:
        """Nodes with enough, then those with enough that agree."""
        tried = self.found.nodes
        what = "all of them" if request.everything else f"{request.wanted:,}"
        first = request.agreements[0].nodes_before if request.agreements else None
        enough = request.nodes if first is None else first
        yield Step(
            id=f"why-{place}-nodes",
            label="nodes with all of them free"
            if request.everything
            else f"nodes with {what} such free devices",
            count=enough,
            lost=tried - enough,
            bar=_bar(enough, tried - enough, tried),
            lines=[f"The most that one node can give is {request.best:,}, here:"]
            if not enough and request.best_node
            else [],
            node=request.best_node if not enough else "",
            open=not enough and request.best > 0,
            unit="node",
        )
        for number, agreement in enumerate(request.agreements):
            yield Step(
                id=f"why-{place}-agree-{number}",
                label=f"of these nodes, with {what} that "
                + ("differ in" if agreement.distinct else "agree on")
                + f" {agreement.attribute}",
                count=agreement.nodes,
                lost=agreement.nodes_before - agreement.nodes,
                bar=_bar(
                    agreement.nodes, agreement.nodes_before - agreement.nodes, tried
                ),
                lines=[_split(agreement)],
                node=agreement.best_node,
                open=agreement.nodes < 1 <= agreement.nodes_before,
                unit="node",
            )

    # --- nearest misses ---

    def _near(self, miss: Miss, chain: Chain) -> Near:
        others = [*chain.of_class, *chain.own]
        failing = chain.of_class if miss.of_class else chain.own
        if miss.selector < len(failing):
            others.remove(failing[miss.selector])
        values = " or ".join(value for value, _ in miss.values)
        listed = all_of([*others, f"!({miss.term})"])
        return Near(
            devices=miss.devices,
            verb="fails" if miss.devices == 1 else "fail",
            term=miss.term,
            of_class=miss.of_class,
            values=values,
            example=miss.example.device,
            example_href=reverse("device", args=[self.cluster, *miss.example]),
            listed=self._devices(listed, state=DeviceState.FREE),
        )


def all_of(expressions: Sequence[str]) -> str:
    """One expression that is true where all of these are."""
    if len(expressions) == 1:
        return expressions[0]
    return " && ".join(f"({each})" for each in expressions)


def _split(agreement: Agreement) -> str:
    """How the best node's free devices divide by the attribute."""
    parts = [f"{value}: {number:,}" for value, number in agreement.split]
    if agreement.without:
        parts.append(f"without the attribute: {agreement.without:,}")
    return (
        f"The most that one node can give is {agreement.most:,}. Its free devices by "
        f"value: {', '.join(parts) or 'none'}."
    )


def _bar(left: int, lost: int, total: int) -> str:
    parts = [cells.Part("kept", left, "left"), cells.Part("lost", lost, "lost here")]
    return cells.bar(parts, total, wide=True)
