"""What can be wrong with a scenario."""

from __future__ import annotations

from dra.errors import DRAError


class ScenarioError(DRAError, ValueError):
    """A scenario that cannot be run on this cluster, or is none.

    ``path`` is the field of the scenario (``edits[0].nodes[2]``), ``reason`` says in
    words what is wrong there.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}" if path else reason)
