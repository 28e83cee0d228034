"""Names, uids and times of generated objects: the same seed, the same cluster."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any, Final

Json = dict[str, Any]

DRA_V1: Final = "resource.k8s.io/v1"
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


class Maker:
    """Makes objects; ``now`` is the moment that ages are counted from."""

    def __init__(self, *, seed: int, now: datetime) -> None:
        self.random = random.Random(seed)  # noqa: S311 a demo, not secrets
        self._now = now
        self.objects: list[Json] = []

    def uid(self) -> str:
        digits = f"{self.random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"

    def suffix(self, length: int = 5) -> str:
        return "".join(self.random.choices(_LETTERS, k=length))

    def ago(self, minutes: float) -> str:
        """The time ``minutes`` before now, as Kubernetes writes it."""
        moment = self._now - timedelta(minutes=minutes)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def add(
        self,
        api_version: str,
        kind: str,
        name: str,
        *,
        minutes: float,
        namespace: str = "",
        meta: Json | None = None,
        **body: Any,
    ) -> Json:
        """Add one object that is ``minutes`` old, and return it."""
        metadata: Json = {"name": name}
        if namespace:
            metadata["namespace"] = namespace
        metadata |= {"uid": self.uid(), "creationTimestamp": self.ago(minutes)}
        metadata |= meta or {}
        made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
        self.objects.append(made)
        return made


def owner(obj: Json) -> Json:
    """An ownerReference to ``obj`` as its controller."""
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": obj["metadata"]["name"],
        "uid": obj["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
