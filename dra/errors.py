"""What can be wrong with an object, each error carrying which object and where."""

from __future__ import annotations


class DRAError(Exception):
    """Base of every error that ``dra`` raises on purpose."""


class ObjectError(DRAError):
    """A Kubernetes object that cannot be read.

    ``kind``, ``namespace`` and ``name`` say which one, ``path`` is the field
    path in Kubernetes' style (``spec.devices[0].capacity``), ``reason`` is one
    plain sentence.
    """

    def __init__(
        self, *, kind: str, name: str, reason: str, namespace: str = "", path: str = ""
    ) -> None:
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.path = path
        self.reason = reason
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        at = f" {self.path}:" if self.path else ""
        return f"{self.kind} {where}:{at} {self.reason}"


class QuantityError(DRAError, ValueError):
    """A text that is not a Kubernetes quantity."""


class SemverError(DRAError, ValueError):
    """A text that is not a semantic version as CEL reads it."""


class SelectorError(DRAError, ValueError):
    """A label or node selector that cannot be read."""


class NotSupportedError(DRAError):
    """A feature of DRA that the engine refuses rather than answers wrongly.

    ``feature`` reads on after "not supported: ".
    """

    def __init__(self, feature: str) -> None:
        self.feature = feature
        super().__init__(f"not supported: {feature}")
