"""Advice on requests: classes, selectors, capacities, numbers of devices, admin access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from dra import quantity
from dra.allocation.traits import kinds
from dra.cel.advice import advise as advise_expression
from dra.cel.advice import explain_error
from dra.cel.columns import Column
from dra.cel.errors import CompileError
from dra.cel.likeness import closest
from dra.cel.program import compile as compile_expression
from dra.errors import NotSupportedError, QuantityError
from dra.names import split_qualified_name
from dra.quantity import Quantity
from dra.validation.advice.advice import Advice, counted
from dra.validation.advice.asks import Ask, Demand
from dra.validation.advice.ground import Mask
from dra.validation.advice.scene import Candidates, Scene, most_on_a_node
from dra.validation.claims import ADMIN_LABEL

type Found = Iterator[Advice]

MOST_DEVICES: Final = 32
"""That one claim can hold."""


def on_ask(ask: Ask, scene: Scene) -> Found:
    """One request or alternative, as if it were alone."""
    class_name = ask.details.get("deviceClassName", "")
    if ask.candidates is None:
        if class_name:
            yield _missing_class(ask, class_name, scene)
        yield from _expressions(ask, None, scene)
        return
    yield from _class(ask, class_name, ask.candidates, scene)
    yield from _expressions(ask, ask.candidates, scene)
    yield from _selection(ask, class_name, ask.candidates, scene)
    yield from _capacities(ask, ask.candidates, scene)


def _missing_class(ask: Ask, name: str, scene: Scene) -> Advice:
    classes = scene.snapshot.classes
    near = closest(name, [(known, known) for known in classes], most=1)
    if near:
        more = f"; did you mean {near[0]}?"
    elif classes:
        more = f"; there are {_listed(sorted(classes))}"
    else:
        more = "; there is none at all"
    return Advice(
        "class-missing",
        f"{ask.path}.deviceClassName",
        f"The device class {name} does not exist{more}",
        suggestion=near[0] if near else "",
    )


def _class(ask: Ask, name: str, candidates: Candidates, scene: Scene) -> Found:
    if not scene.snapshot.classes[name].spec.selectors:
        yield Advice(
            "class-everything",
            f"{ask.path}.deviceClassName",
            f"The device class {name} has no selector: every one of the "
            f"{len(scene.table):,} devices of the cluster is of it.",
        )
    elif not candidates.of_class.any():
        yield Advice(
            "class-empty",
            f"{ask.path}.deviceClassName",
            f"No device of the cluster is of the device class {name}.",
        )


# --- expressions --------------------------------------------------------------------------


def _expressions(ask: Ask, candidates: Candidates | None, scene: Scene) -> Found:
    own = len(ask.expressions)
    steps = (
        () if candidates is None else candidates.steps[len(candidates.steps) - own :]
    )
    for index, expression in enumerate(ask.expressions):
        within = steps[index].before if steps else None
        field = f"{ask.path}.selectors[{index}].cel.expression"
        yield from on_expression(expression, field, within, scene)


def on_expression(
    expression: str, field: str, within: Mask | None, scene: Scene
) -> Found:
    """What the expression's own checks say about it, on these devices."""
    features = scene.gates.cel
    try:
        program = compile_expression(expression, features=features)
        warnings = advise_expression(
            program, scene.table, within=within, stop=scene.stop
        )
    except CompileError as error:
        warnings = explain_error(
            expression, error, table=scene.table, features=features
        )
    except NotSupportedError:
        return
    for warning in warnings:
        if warning.code in _SAID_HERE:
            continue
        yield Advice(
            f"selector:{warning.code}",
            field,
            warning.message,
            suggestion=warning.suggestion,
            start=warning.start,
            end=warning.end,
        )


_SAID_HERE: Final = frozenset({"matches-nothing", "too-costly"})
"""What is said of the whole request, or by validation."""


def _selection(
    ask: Ask, class_name: str, candidates: Candidates, scene: Scene
) -> Found:
    """Where the chain of class and request ends with nothing, and where it breaks."""
    first = len(candidates.steps) - len(ask.expressions)
    total = int(np.count_nonzero(candidates.of_class))
    for index, step in enumerate(candidates.steps):
        own = index - first
        field = (
            f"{ask.path}.deviceClassName"
            if own < 0
            else f"{ask.path}.selectors[{own}].cel.expression"
        )
        if own < 0 and step.failed.any():
            yield _failure(step.failed, step.before, step.error, field, scene)
        if own >= 0 and step.narrows_to_none:
            yield Advice(
                "selector-matches-none",
                field,
                f"None of {counted(total)} of the class {class_name} matches"
                f"{' this selector' if len(ask.expressions) == 1 else ''}.",
            )
            return


def _failure(
    failed: Mask, before: Mask, error: str, field: str, scene: Scene
) -> Advice:
    count, asked = int(np.count_nonzero(failed)), int(np.count_nonzero(before))
    example = scene.name(int(np.argmax(failed)))
    return Advice(
        "selector-fails",
        field,
        f"Fails on {count:,} of {counted(asked)} ({error}), for instance on "
        f"{example}. The scheduler ends the whole attempt when it comes to one of them.",
    )


# --- capacity -----------------------------------------------------------------------------


def _capacities(ask: Ask, candidates: Candidates, scene: Scene) -> Found:
    wanted = (ask.details.get("capacity") or {}).get("requests") or {}
    mask = candidates.known
    if not wanted or not mask.any():
        return
    drivers = {
        scene.table.listing.drivers[row] for row in np.flatnonzero(mask).tolist()
    }
    for name, amount in wanted.items():
        field = f"{ask.path}.capacity.requests[{name}]"
        columns = [
            column
            for driver in sorted(drivers)
            if (column := scene.column("capacity", name, driver)) is not None
            and scene.having(column, mask).any()
        ]
        if not columns:
            yield _unknown_capacity(name, field, mask, drivers, scene)
            continue
        most = max(_most(column, mask, scene) for column in columns)
        if amount > most:
            yield Advice(
                "capacity-too-big",
                field,
                f"No device that matches offers {amount} of {name}; the most is {most}.",
            )


def _unknown_capacity(
    name: str, field: str, mask: Mask, drivers: set[str], scene: Scene
) -> Advice:
    published = {
        read.identifier
        if read.domain in drivers
        else f"{read.domain}/{read.identifier}"
        for read, column in scene.table.columns.items()
        if read.kind == "capacity" and scene.having(column, mask).any()
    }
    near = closest(name, [(known, known) for known in sorted(published)], most=1)
    if near:
        more = f"; did you mean {near[0]}?"
    elif published:
        more = f"; they have {_listed(sorted(published))}."
    else:
        more = "; they have no capacity at all."
    return Advice(
        "capacity-unknown",
        field,
        f"No device that matches has a capacity {name}{more}",
        suggestion=near[0] if near else "",
    )


def _most(column: Column, mask: Mask, scene: Scene) -> Quantity:
    """The largest amount that one device can give to one request.

    Devices of one size may have different policies, so each kind of device is asked.
    """
    best = quantity.ZERO
    rows = np.flatnonzero(scene.having(column, mask))
    _, first = np.unique(scene.table.made_by(kinds).codes[rows], return_index=True)
    for row in rows[first].tolist():
        try:
            best = max(best, _offered(column, row, scene))
        except QuantityError:
            continue
    return best


def _offered(column: Column, row: int, scene: Scene) -> Quantity:
    """What a device gives of the capacity at most."""
    listing = scene.table.listing
    wanted = (column.read.domain, column.read.identifier)
    for name, capacity in listing.capacity[row].items():
        if split_qualified_name(name, listing.drivers[row]) == wanted:
            offered = quantity.read(capacity.value)
            limits = capacity.request_policy and capacity.request_policy.valid_range
            if limits and limits.max is not None:
                return min(offered, quantity.read(limits.max))
            return offered
    return quantity.ZERO


# --- numbers ------------------------------------------------------------------------------


def on_numbers(demands: Sequence[Demand], path: str, scene: Scene) -> Found:
    """What one claim and one node can hold; ``path`` is that of the claim's devices."""
    yield from _limit(demands, path, scene)
    apart = True
    for demand in demands:
        for advice in _node(demand, scene):
            apart = False
            yield advice
    if apart and len(demands) > 1:
        yield from _node_together(demands, path, scene)


def _limit(demands: Sequence[Demand], path: str, scene: Scene) -> Found:
    total = sum(demand.count for demand in demands)
    if total > MOST_DEVICES:
        yield Advice(
            "too-many-devices",
            f"{path}.requests",
            f"Asks for {total:,} devices at least; one claim holds at most "
            f"{MOST_DEVICES}. Use several claims in the pod, or requests for capacity "
            "of fewer, larger devices.",
        )
        return
    for demand in demands:
        for ask in demand.asks:
            if not ask.everything:
                if ask.count > MOST_DEVICES:
                    yield Advice(
                        "too-many-devices",
                        f"{ask.path}.count",
                        f"Asks for {ask.count:,} devices; one claim holds at most "
                        f"{MOST_DEVICES}.",
                    )
                continue
            rows = None if ask.candidates is None else ask.candidates.matching
            most = 0 if rows is None else most_on_a_node(scene.nodes[rows])
            if most > MOST_DEVICES:
                yield Advice(
                    "too-many-devices",
                    f"{ask.path}.allocationMode",
                    f"All means up to {most:,} devices on one node; one claim holds at "
                    f"most {MOST_DEVICES}.",
                )


def _node(demand: Demand, scene: Scene) -> Found:
    """Every alternative asks for more than any node has."""
    found: list[Advice] = []
    for ask in demand.asks:
        rows = None if ask.candidates is None else ask.candidates.matching
        if rows is None or not rows.any() or (rows & scene.shareable).any():
            return
        most = most_on_a_node(scene.nodes[rows])
        if most >= ask.count:
            return
        found.append(
            Advice(
                "never-fits-node",
                f"{ask.path}.count",
                f"Asks for {counted(ask.count)}; no node has more than {most:,} that "
                "match, even if all were free.",
            )
        )
    yield from found


def _node_together(demands: Sequence[Demand], path: str, scene: Scene) -> Found:
    """All requests together ask for more than any node has of what any of them takes."""
    mask = np.zeros(len(scene.table), np.bool_)
    for demand in demands:
        rows = demand.rows(scene)
        if rows is None or any(ask.details.get("adminAccess") for ask in demand.asks):
            return
        mask |= rows
    if not mask.any() or (mask & scene.shareable).any():
        return
    total = sum(demand.count for demand in demands)
    most = most_on_a_node(scene.nodes[mask])
    if most < total:
        yield Advice(
            "never-fits-node",
            f"{path}.requests",
            f"The requests ask for {counted(total)} together; no node has more than "
            f"{most:,} that match any of them, even if all were free.",
        )


# --- admin access --------------------------------------------------------------------------


def on_admin_access(demands: Sequence[Demand], namespace: str, scene: Scene) -> Found:
    known = scene.snapshot.namespaces.get(namespace)
    if known is None or (known.metadata.labels or {}).get(ADMIN_LABEL) == "true":
        return
    for demand in demands:
        for ask in demand.asks:
            if ask.details.get("adminAccess"):
                yield Advice(
                    "admin-access",
                    f"{ask.path}.adminAccess",
                    f"The namespace {namespace} lacks the label {ADMIN_LABEL}: "
                    '"true", so the API server will refuse admin access there.',
                )


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
