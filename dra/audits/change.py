"""From one snapshot to the next: what has to be looked at again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dra.names import PoolKey
from dra.objects import Node
from dra.snapshot import Snapshot

type NamespacedName = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """``before`` is None the first time: then everything is new."""

    before: Snapshot | None
    after: Snapshot

    @cached_property
    def pools(self) -> frozenset[PoolKey]:
        return self._of("pools")

    @cached_property
    def uses(self) -> frozenset[PoolKey]:
        """Pools of which claims hold other devices, or others hold them."""
        before = self.before.in_use.by_pool if self.before else {}
        return changed_keys(before, self.after.in_use.by_pool)

    @cached_property
    def claims(self) -> frozenset[NamespacedName]:
        return self._of("claims")

    @cached_property
    def templates(self) -> frozenset[NamespacedName]:
        return self._of("templates")

    @cached_property
    def pods(self) -> frozenset[NamespacedName]:
        return self._of("pods")

    @cached_property
    def pod_groups(self) -> frozenset[NamespacedName]:
        return self._of("pod_groups")

    @cached_property
    def nodes(self) -> frozenset[str]:
        return self._of("nodes")

    @cached_property
    def new_nodes(self) -> frozenset[str]:
        """Nodes that came, went or were made anew."""
        before = self.before.nodes if self.before else {}
        after = self.after.nodes
        return frozenset(
            name for name in self.nodes if _uid(before, name) != _uid(after, name)
        )

    def has_other_problems(self, *kinds: str) -> bool:
        """Whether other objects of some kinds cannot be read than before."""
        if self.is_same("problems_by_object"):
            return False
        before = self.before.problems_by_object if self.before else {}
        other = before.keys() ^ self.after.problems_by_object.keys()
        return any(key.kind in kinds for key in other)

    @cached_property
    def new_classes(self) -> frozenset[str]:
        """Classes that came or went."""
        return self._presence("classes", self._of("classes"))

    def is_same(self, *tables: str) -> bool:
        """Whether tables of the snapshot are the very same as before."""
        return self.before is not None and all(
            getattr(self.before, table) is getattr(self.after, table)
            for table in tables
        )

    def appeared(self, table: str, keys: Iterable[Any]) -> list[Any]:
        """Those of ``keys`` that came or went."""
        return list(self._presence(table, keys))

    def _of(self, table: str) -> frozenset[Any]:
        before = getattr(self.before, table) if self.before else {}
        return changed_keys(before, getattr(self.after, table))

    def _presence(self, table: str, keys: Iterable[Any]) -> frozenset[Any]:
        before = getattr(self.before, table) if self.before else {}
        after = getattr(self.after, table)
        return frozenset(key for key in keys if (key in before) != (key in after))


def _uid(nodes: Mapping[str, Node], name: str) -> str | None:
    node = nodes.get(name)
    return None if node is None else node.metadata.uid


def changed_keys(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> frozenset[Any]:
    """Keys of which the value is not the very same object."""
    if before is after:
        return frozenset()
    if not before:
        return frozenset(after)
    get = before.get
    found = {key for key, value in after.items() if get(key) is not value}
    if len(before) + len(found) > len(after):
        found.update(key for key in before if key not in after)
    return frozenset(found)
