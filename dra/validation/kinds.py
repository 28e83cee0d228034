"""What validation does for each kind on create, update and status update."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra.validation import formats, parts
from dra.validation.causes import Cause, Causes, immutable
from dra.validation.claims import check_admin_access, check_claim_spec
from dra.validation.classes import check_class_spec
from dra.validation.dropping import (
    drop_from_claim_spec,
    drop_from_claim_status,
    drop_from_class_spec,
    drop_from_slice_spec,
)
from dra.validation.gates import Gates
from dra.validation.metadata import (
    NameRule,
    check_finalizer_names,
    check_metadata,
    check_metadata_update,
    check_template_metadata,
    class_name,
    subdomain_name,
)
from dra.validation.rules import Rule, Scope, checked, fields, given, text
from dra.validation.schema import part
from dra.validation.schema.shapes import changes
from dra.validation.slices import check_slice_spec
from dra.validation.status import check_admin_results, check_status_update

type _Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """``value`` in v1 form with defaults, ``old`` what is stored (None on a create).

    ``labels`` are those of the namespace, None where they are not known.
    """

    value: _Value
    old: _Value | None
    status: bool
    scope: Scope
    labels: Mapping[str, str] | None

    @property
    def meta(self) -> _Value:
        meta: _Value = self.value.get("metadata") or {}
        return meta

    @property
    def old_meta(self) -> _Value:
        meta: _Value = (self.old or {}).get("metadata") or {}
        return meta

    @property
    def spec(self) -> _Value:
        spec: _Value = self.value.get("spec") or {}
        return spec

    @property
    def old_spec(self) -> _Value | None:
        return None if self.old is None else self.old.get("spec") or {}


type Check = Callable[[Write], Iterable[Cause]]
type Drop = Callable[[_Value, _Value | None, Gates], None]


@dataclass(frozen=True, slots=True)
class KindRules:
    create: Check
    update: Check
    drop: Drop
    update_status: Check = lambda _write: ()
    drop_status: Callable[[_Value, _Value, Gates], None] = lambda *_: None
    stamp: Callable[[_Value, _Value, str], None] = lambda *_: None
    """Times that the API server sets in an update: new value, stored value, now."""


def _metadata(write: Write, name_rule: NameRule, *, namespaced: bool) -> Causes:
    yield from check_metadata(write.meta, namespaced=namespaced, name_rule=name_rule)
    yield from check_finalizer_names(write.meta)


def _metadata_update(write: Write) -> Causes:
    yield from check_metadata_update(write.meta, write.old_meta)
    yield from check_finalizer_names(write.meta)


def _same_spec(write: Write, kind: str) -> Causes:
    """The spec of claims and templates never changes."""
    changed = changes(part(kind, "spec"), write.old_spec, write.spec, "spec")
    if changed:
        yield immutable("spec", write.spec, changed)


# --- claims ----------------------------------------------------------------------------


def _drop_claim(value: _Value, old: _Value | None, gates: Gates) -> None:
    spec = value.setdefault("spec", {})
    drop_from_claim_spec(spec, None if old is None else old.get("spec") or {}, gates)


def _create_claim(write: Write) -> Causes:
    requests = (write.spec.get("devices") or {}).get("requests")
    yield from check_admin_access(requests, write.labels)
    yield from _metadata(write, subdomain_name, namespaced=True)
    yield from check_claim_spec(write.spec, "spec", write.scope)


def _update_claim(write: Write) -> Causes:
    yield from _metadata(write, subdomain_name, namespaced=True)
    yield from _metadata_update(write)
    yield from _same_spec(write, "ResourceClaim")


def _update_claim_status(write: Write) -> Causes:
    old = write.old or {}
    yield from check_admin_results(write.value, old, write.labels)
    yield from _metadata_update(write)
    yield from check_status_update(write.value, old, write.scope)


# --- templates ---------------------------------------------------------------------------


def _drop_template(value: _Value, old: _Value | None, gates: Gates) -> None:
    spec = value.setdefault("spec", {}).setdefault("spec", {})
    before = None if old is None else (old.get("spec") or {}).get("spec") or {}
    drop_from_claim_spec(spec, before, gates)


def _create_template(write: Write) -> Causes:
    spec = write.spec.get("spec") or {}
    requests = (spec.get("devices") or {}).get("requests")
    yield from check_admin_access(requests, write.labels)
    yield from _whole_template(write)


def _whole_template(write: Write) -> Causes:
    yield from _metadata(write, subdomain_name, namespaced=True)
    yield from check_template_metadata(write.spec.get("metadata"), "spec.metadata")
    yield from check_claim_spec(write.spec.get("spec") or {}, "spec.spec", write.scope)


def _update_template(write: Write) -> Causes:
    """Unlike claims, templates are looked at as a whole, too, not only compared."""
    yield from _whole_template(write)
    yield from _metadata_update(write)
    yield from _same_spec(write, "ResourceClaimTemplate")


# --- classes -------------------------------------------------------------------------------


def _drop_class(value: _Value, old: _Value | None, gates: Gates) -> None:
    spec = value.setdefault("spec", {})
    drop_from_class_spec(spec, None if old is None else old.get("spec") or {}, gates)


def _create_class(write: Write) -> Causes:
    yield from _metadata(write, class_name, namespaced=False)
    yield from check_class_spec(write.spec, write.old_spec, "spec", write.scope)


def _update_class(write: Write) -> Causes:
    yield from _metadata(write, class_name, namespaced=False)
    yield from _metadata_update(write)
    yield from check_class_spec(write.spec, write.old_spec, "spec", write.scope)


# --- slices ----------------------------------------------------------------------------------


def _drop_slice(value: _Value, old: _Value | None, gates: Gates) -> None:
    spec = value.setdefault("spec", {})
    drop_from_slice_spec(spec, None if old is None else old.get("spec") or {}, gates)


def _create_slice(write: Write) -> Causes:
    yield from _metadata(write, subdomain_name, namespaced=False)
    yield from check_slice_spec(write.spec, None, "spec", write.scope)


def _update_slice(write: Write) -> Causes:
    yield from _metadata_update(write)
    yield from check_slice_spec(write.spec, write.old_spec, "spec", write.scope)


# --- taint rules -------------------------------------------------------------------------------

_SELECTOR: Final[Rule] = given(
    fields(
        {
            "driver": given(checked(formats.driver_name)),
            "pool": given(checked(formats.pool_name)),
            "device": given(text(formats.dns_label)),
        }
    )
)
_RULE: Final[Rule] = fields({"deviceSelector": _SELECTOR, "taint": parts.TAINT})


def _drop_nothing(_value: _Value, _old: _Value | None, _gates: Gates) -> None:
    """No gate takes fields of a taint rule."""


def _stamp_rule(value: _Value, old: _Value, now: str) -> None:
    """The time of a rule's taint is that of its effect, unless the writer gives one."""
    after, before = ((of.get("spec") or {}).get("taint") or {} for of in (value, old))
    same = after.get("timeAdded") == before.get("timeAdded")
    if same and after.get("effect", "") != before.get("effect", ""):
        after["timeAdded"] = now


def _create_rule(write: Write) -> Causes:
    yield from _metadata(write, subdomain_name, namespaced=False)
    yield from _RULE(write.spec, "spec", write.scope)


def _update_rule(write: Write) -> Causes:
    """An effect that stays is not looked at."""
    yield from _metadata_update(write)
    before, after = (
        (spec.get("taint") or {}).get("effect", "")
        for spec in (write.old_spec or {}, write.spec)
    )
    for cause in _RULE(write.spec, "spec", write.scope):
        if cause.field != "spec.taint.effect" or after != before:
            yield cause


def _update_rule_status(write: Write) -> Causes:
    found = (write.value.get("status") or {}).get("conditions")
    yield from _metadata_update(write)
    yield from parts.conditions(found, "status.conditions", write.scope)
    yield from parts.conditions_count(found, "status.conditions", write.scope)


RULES: Final[dict[str, KindRules]] = {
    "ResourceClaim": KindRules(
        _create_claim,
        _update_claim,
        _drop_claim,
        _update_claim_status,
        drop_from_claim_status,
    ),
    "ResourceClaimTemplate": KindRules(
        _create_template, _update_template, _drop_template
    ),
    "DeviceClass": KindRules(_create_class, _update_class, _drop_class),
    "ResourceSlice": KindRules(_create_slice, _update_slice, _drop_slice),
    "DeviceTaintRule": KindRules(
        _create_rule,
        _update_rule,
        _drop_nothing,
        _update_rule_status,
        stamp=_stamp_rule,
    ),
}
