"""Rules for ``metadata``: of an object, of an update, and in a template.

Follows ``ValidateObjectMeta`` and its neighbours in API machinery and in
``pkg/apis/core/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from dra.validation import formats
from dra.validation.causes import (
    IMMUTABLE,
    Causes,
    all_invalid,
    forbidden,
    invalid,
    quoted,
    required,
    size,
    too_long,
)
from dra.validation.schema.shared import META

type _Meta = dict[str, Any]
type NameRule = Callable[[str, bool], Iterator[str]]
"""Of a name; True for the start of one that the API server completes."""

ANNOTATIONS_LIMIT: Final = 256 * 1024
_ORPHAN: Final = "orphan"
_FOREGROUND: Final = "foregroundDeletion"
_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", _ORPHAN, _FOREGROUND})


def subdomain_name(name: str, prefix: bool) -> Iterator[str]:
    return formats.dns_subdomain(_without_trailing_dash(name) if prefix else name)


def class_name(name: str, prefix: bool) -> Iterator[str]:
    """Newer rules look at the whole name only."""
    return iter(()) if prefix else formats.long_name(name)


def any_name(name: str, prefix: bool) -> Iterator[str]:
    """What holds for names of every kind: they stand in an address."""
    check = formats.path_segment_prefix if prefix else formats.path_segment
    return check(name)


def _without_trailing_dash(name: str) -> str:
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


def check_metadata(
    meta: _Meta, *, namespaced: bool, name_rule: NameRule, path: str = "metadata"
) -> Causes:
    """Of a whole object, its name already generated."""
    prefix = meta.get("generateName", "")
    if prefix:
        yield from all_invalid(f"{path}.generateName", prefix, name_rule(prefix, True))  # noqa: FBT003 - the rule's own order
    name = meta.get("name", "")
    if name:
        yield from all_invalid(f"{path}.name", name, name_rule(name, False))  # noqa: FBT003
    else:
        yield required(f"{path}.name", "name or generateName is required")
    namespace = meta.get("namespace", "")
    if not namespaced:
        if namespace:
            yield forbidden(f"{path}.namespace", "not allowed on this type")
    elif namespace:
        yield from all_invalid(
            f"{path}.namespace", namespace, formats.dns_label(namespace)
        )
    else:
        yield required(f"{path}.namespace")
    generation = meta.get("generation", 0)
    if generation < 0:
        yield invalid(
            f"{path}.generation", generation, "must be greater than or equal to 0"
        )
    yield from _labels(meta.get("labels"), f"{path}.labels")
    yield from _annotations(meta.get("annotations"), f"{path}.annotations")
    yield from _owners(meta.get("ownerReferences"), f"{path}.ownerReferences")
    yield from _finalizers(meta.get("finalizers"), f"{path}.finalizers")


def check_finalizer_names(meta: _Meta, path: str = "metadata") -> Causes:
    """Kubernetes' own kinds want a domain in front of finalizers that are not its own."""
    for index, name in enumerate(meta.get("finalizers") or ()):
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            yield invalid(
                f"{path}.finalizers[{index}]",
                name,
                "name is neither a standard finalizer name nor is it fully qualified",
            )


def check_metadata_update(meta: _Meta, old: _Meta, path: str = "metadata") -> Causes:
    """Of an update whose server-side fields were filled in (:func:`keep_system_fields`)."""
    if old.get("deletionTimestamp") is not None:
        added = set(meta.get("finalizers") or ()) - set(old.get("finalizers") or ())
        if added:
            listed = ", ".join(quoted(name) for name in sorted(added))
            yield forbidden(
                f"{path}.finalizers",
                "no new finalizers can be added if the object is being deleted, found "
                f"new finalizers []string{{{listed}}}",
            )
    for name in _FIXED:
        new, before = meta.get(name), old.get(name)
        if new != before:
            yield invalid(f"{path}.{name}", new, IMMUTABLE)
    yield from _labels(meta.get("labels"), f"{path}.labels")
    yield from _annotations(meta.get("annotations"), f"{path}.annotations")
    yield from _owners(meta.get("ownerReferences"), f"{path}.ownerReferences")


_FIXED: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def keep_system_fields(meta: _Meta, old: _Meta) -> None:
    """Put in what an update cannot change and may leave out."""
    _copy(meta, old, "generation")
    if not meta.get("uid"):
        _copy(meta, old, "uid")
    _copy(meta, old, "creationTimestamp")
    if "deletionTimestamp" in old:
        _copy(meta, old, "deletionTimestamp")
    if "deletionGracePeriodSeconds" not in meta:
        _copy(meta, old, "deletionGracePeriodSeconds")


def keep_for_status(meta: _Meta, old: _Meta) -> None:
    """A status update ignores everything of the metadata that a user may set."""
    for name in (
        "deletionTimestamp",
        "generation",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ):
        _copy(meta, old, name)


def _copy(meta: _Meta, old: _Meta, name: str) -> None:
    if name in old:
        meta[name] = old[name]
    else:
        meta.pop(name, None)


def check_template_metadata(meta: _Meta | None, path: str) -> Causes:
    """Labels and annotations; everything else cannot be set in a template."""
    meta = meta or {}
    yield from _annotations(meta.get("annotations"), f"{path}.annotations")
    yield from _labels(meta.get("labels"), f"{path}.labels")
    for name in META.fields:
        if name in meta and name not in {"labels", "annotations"}:
            shown = "uID" if name == "uid" else name
            yield forbidden(f"{path}.{shown}", "cannot be set")


def _labels(labels: dict[str, str] | None, path: str) -> Causes:
    for key, value in (labels or {}).items():
        yield from all_invalid(path, key, formats.label_key(key))
        yield from all_invalid(path, value, formats.label_value(value))


def _annotations(annotations: dict[str, str] | None, path: str) -> Causes:
    total = 0
    for key, value in (annotations or {}).items():
        yield from all_invalid(path, key, formats.label_key(key.lower()))
        total += size(key) + size(value)
    if total > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)


def _owners(owners: list[_Meta] | None, path: str) -> Causes:
    controller = ""
    for owner in owners or ():
        version = owner.get("apiVersion", "")
        # Without a group, the whole text is the version; more than one slash is no version.
        if not version or version.endswith("/") or version.count("/") > 1:
            yield invalid(f"{path}.apiVersion", version, "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                yield invalid(f"{path}.{name}", "", "must not be empty")
        if (version.removeprefix("/"), owner.get("kind")) == ("v1", "Event"):
            yield invalid(
                path, owner, "/v1, Kind=Event is disallowed from being an owner"
            )
        if owner.get("controller"):
            found = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                yield invalid(
                    path,
                    owners,
                    "Only one reference can have Controller set to true. Found "
                    f'"true" in references for {controller} and {found}',
                )
            else:
                controller = found


def _finalizers(finalizers: list[str] | None, path: str) -> Causes:
    for name in finalizers or ():
        yield from all_invalid(path, name, formats.label_key(name))
    if {_ORPHAN, _FOREGROUND} <= set(finalizers or ()):
        yield invalid(
            path,
            finalizers,
            f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set",
        )
