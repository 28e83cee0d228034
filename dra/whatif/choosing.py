"""Which nodes and devices the words of a scenario mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dra import cel
from dra.allocation.features import Features
from dra.cel.table import DeviceTable
from dra.errors import SelectorError
from dra.labels import parse_label_selector
from dra.objects import ResourceSlice
from dra.snapshot import Snapshot
from dra.whatif.errors import ScenarioError
from dra.whatif.parts import DeviceChoice

type Chosen = dict[str, tuple[ResourceSlice, frozenset[int]]]
"""Slices by name, each with the places of the chosen devices."""


def chosen_nodes(
    snapshot: Snapshot, names: Sequence[str], labels: str, path: str
) -> list[str]:
    """Names of the nodes meant, sorted.

    Raises :class:`ScenarioError` for a name or a selector that means none.
    """
    if not names and not labels:
        raise ScenarioError(path, "no node is named: give nodes or labels")
    for place, name in enumerate(names):
        if name not in snapshot.nodes:
            raise ScenarioError(
                f"{path}.nodes[{place}]", f"the cluster has no node {name}"
            )
    found = set(names)
    if labels:
        try:
            selector = parse_label_selector(labels)
        except SelectorError as error:
            raise ScenarioError(f"{path}.labels", str(error)) from error
        selected = {
            name
            for name, node in snapshot.nodes.items()
            if selector.matches(node.metadata.labels)
        }
        if not selected:
            raise ScenarioError(f"{path}.labels", "no node has such labels")
        found |= selected
    return sorted(found)


def chosen_devices(
    snapshot: Snapshot, choice: DeviceChoice, features: Features, path: str
) -> Chosen:
    """The devices of the newest generation of every pool that are meant.

    Raises :class:`ScenarioError` when none is, and for an expression that does not
    compile.
    """
    if choice == DeviceChoice():
        raise ScenarioError(
            path, "no device is chosen: give node, driver, pool, device or cel"
        )
    table = snapshot.devices(lists=features.list_type_attributes)
    mask = _by_place(table, choice)
    if choice.cel and bool(mask.any()):
        mask &= _by_expression(table, choice.cel, f"{path}.cel")
    if not bool(mask.any()):
        raise ScenarioError(path, "the cluster has no such device")
    found: Chosen = {}
    for piece, _, start, stop in table.listing.blocks:
        places = np.flatnonzero(mask[start:stop]).tolist()
        if piece is not None and places:
            found[piece.metadata.name] = (piece, frozenset(places))
    return found


def _by_place(table: DeviceTable, choice: DeviceChoice) -> NDArray[np.bool_]:
    mask = np.zeros(len(table), np.bool_)
    for piece, pool, start, stop in table.listing.blocks:
        if (
            piece is not None
            and choice.driver in ("", pool.driver)
            and choice.pool in ("", pool.name)
            and _is_on(piece, choice.node)
        ):
            mask[start:stop] = True
    for row in np.flatnonzero(mask).tolist() if choice.device or choice.node else ():
        device = table.listing.devices[row]
        if choice.device not in ("", device.name) or (
            choice.node and device.node_name not in (None, "", choice.node)
        ):
            mask[row] = False
    return mask


def _is_on(piece: ResourceSlice, node: str) -> bool:
    if not node or piece.spec.node_name == node:
        return True
    return any(device.node_name == node for device in piece.spec.devices or ())


def _by_expression(table: DeviceTable, expression: str, path: str) -> NDArray[np.bool_]:
    features = cel.CelFeatures(list_type_attributes=table.lists)
    try:
        program = cel.compile(expression, features=features, environment="stored")
    except cel.CompileError as error:
        raise ScenarioError(path, str(error)) from error
    selection = table.select(program)
    yes = [place for place, answer in enumerate(selection.answers) if answer is True]
    return np.isin(selection.codes, yes)
