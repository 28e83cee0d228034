"""From a draft in JSON to the claim that the engine can be asked about."""

from __future__ import annotations

from typing import Any, Final

from claims.authoring.checking import NAMESPACE
from dra.errors import ObjectError
from dra.objects import ResourceClaim, read
from dra.old_layout import in_new_layout

KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate")
"""Kinds that say what a claim asks for."""
NAMELESS: Final = "draft"


def claim_of(value: Any, *, namespace: str = "") -> ResourceClaim:
    """The claim that ``value`` is, or that would be made from it as a template.

    Any layout will do. ``namespace`` counts where the object names none. What it
    holds already is left out: it is asked about as if it were new. Raises
    ObjectError with the field path in ``value`` for what cannot be read.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in KINDS:
        raise _unreadable("kind", f"is not one of {' and '.join(KINDS)}")
    body = in_new_layout(kind, value)
    meta, spec = body.get("metadata"), body.get("spec")
    meta = {} if meta is None else meta
    if not isinstance(meta, dict):
        raise _unreadable("metadata", "has to be an object")
    inside = kind == "ResourceClaimTemplate"
    if inside:
        spec = {} if spec is None else spec
        if not isinstance(spec, dict):
            raise _unreadable("spec", "has to be an object")
        spec = spec.get("spec")
    raw = {
        "kind": "ResourceClaim",
        "metadata": {
            "name": meta.get("name") or meta.get("generateName") or NAMELESS,
            "namespace": meta.get("namespace") or namespace or NAMESPACE,
        },
        "spec": spec,
    }
    try:
        _check_numbers(spec, "spec")
        return read(raw, ResourceClaim)
    except ObjectError as error:
        if inside and error.path.startswith("spec"):
            error.path = f"spec.{error.path}"
        raise


def _check_numbers(value: Any, path: str) -> None:
    """Raises ObjectError for an integer that the API server cannot read.

    What drivers are told is theirs, and passed over.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "config":
                _check_numbers(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_numbers(inner, f"{path}[{index}]")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _unreadable(path, "is a number that does not fit into 64 bits")


def _unreadable(path: str, reason: str) -> ObjectError:
    return ObjectError(kind=KINDS[0], name=NAMELESS, path=path, reason=reason)
