"""Requests as advice looks at them, with the devices that each could take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dra.validation.advice.ground import Mask
from dra.validation.advice.scene import Candidates, Scene, details_of


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, or one alternative of one.

    ``path`` is the field of its details, ``name`` is ``request`` or
    ``request/subrequest``. ``candidates`` is None when the class does not exist.
    """

    path: str
    name: str
    request: str
    details: Mapping[str, Any]
    candidates: Candidates | None

    @property
    def everything(self) -> bool:
        return self.details.get("allocationMode") == "All"

    @property
    def count(self) -> int:
        """Devices that it needs at least."""
        return 1 if self.everything else max(1, self.details.get("count", 1))

    @property
    def expressions(self) -> list[str]:
        return expressions(self.details)


@dataclass(frozen=True, slots=True)
class Demand:
    """A request with its alternatives, exactly one of which is taken."""

    path: str
    name: str
    asks: tuple[Ask, ...]

    @property
    def count(self) -> int:
        return min((ask.count for ask in self.asks), default=0)

    def rows(self, scene: Scene) -> Mask | None:
        """The devices of any alternative; None where some of them are not known."""
        mask = np.zeros(len(scene.table), np.bool_)
        for ask in self.asks:
            if ask.candidates is None or ask.candidates.matching is None:
                return None
            mask |= ask.candidates.matching
        return mask


def expressions(details: Mapping[str, Any]) -> list[str]:
    return [
        (selector.get("cel") or {}).get("expression", "")
        for selector in details.get("selectors") or ()
    ]


def demands_of(
    devices: Mapping[str, Any], path: str, scene: Scene
) -> tuple[Demand, ...]:
    """The requests of a decoded claim; ``path`` is that of its ``devices``."""
    found = []
    for index, request in enumerate(devices.get("requests") or ()):
        at, name = f"{path}.requests[{index}]", request.get("name", "")
        asks = []
        for field, details in details_of(request):
            full = name if field == "exactly" else f"{name}/{details.get('name', '')}"
            candidates = scene.candidates(
                details.get("deviceClassName", ""), expressions(details)
            )
            asks.append(Ask(f"{at}.{field}", full, name, details, candidates))
        found.append(Demand(at, name, tuple(asks)))
    return tuple(found)
