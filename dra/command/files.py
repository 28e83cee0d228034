"""Kubernetes objects from files: dumps of a cluster, claims."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from dra.allocation.features import Features
from dra.objects import Json, ResourceClaim, ResourceClaimTemplate, read
from dra.snapshot import Snapshot

_MOST_BRACED: Final = 100_000
"""Characters of what is looked at as YAML too, when it begins like JSON and is none."""
_READABLE: Final = frozenset({"v1", "v1beta2", "v1alpha3"})


class InputError(ValueError):
    """A file that cannot be used; the text says which and why."""


def claims(path: Path) -> Iterator[ResourceClaim]:
    for item in objects(path):
        kind = item.get("kind")
        if kind == "ResourceClaim":
            yield read(item, ResourceClaim)
        elif kind == "ResourceClaimTemplate":
            template = read(item, ResourceClaimTemplate)
            yield ResourceClaim(metadata=template.metadata, spec=template.spec.spec)


def objects(path: Path) -> Iterator[Json]:
    """The Kubernetes objects of a file, Lists taken apart."""
    for document in _documents(path):
        if document is None:
            continue
        if not isinstance(document, dict):
            raise InputError(f"{path}: a Kubernetes object is expected")
        if str(document.get("kind", "")).endswith("List") and "items" in document:
            items = document["items"] or []
        else:
            items = [document]
        for item in items:
            if not isinstance(item, dict):
                raise InputError(f"{path}: items: a Kubernetes object is expected")
            _check_version(path, item)
            yield item


def cluster(paths: Iterable[Path]) -> Snapshot:
    """The snapshot of dumps; objects that cannot be read are told of on standard error."""
    snapshot = Snapshot.build(o for path in paths for o in objects(path))
    for problem in snapshot.problems:
        print(f"dra: left out: {problem}", file=sys.stderr)
    return snapshot


def features_of(version: str) -> Features:
    """The gates of ``--version``."""
    try:
        return Features.preset(version)
    except ValueError as error:
        raise InputError(f"--version: {error}") from error


def document(path: Path) -> Any:
    """The one JSON or YAML document of a file."""
    found = [document for document in _documents(path) if document is not None]
    if len(found) != 1:
        raise InputError(f"{path}: one document is expected, {len(found)} are there")
    return found[0]


def _documents(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    try:
        if text.lstrip().startswith("{"):
            return [_braced(text)]
        return list(yaml.safe_load_all(text))
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: neither JSON nor YAML: {reason}") from error


def _braced(text: str) -> Any:
    """JSON, or YAML whose outermost braces are written out, as in ``{edits: []}``."""
    try:
        return json.loads(text)
    except ValueError:
        if len(text) > _MOST_BRACED:
            raise
        with contextlib.suppress(yaml.YAMLError):
            return yaml.safe_load(text)
        raise


def _check_version(path: Path, item: Json) -> None:
    group, _, version = str(item.get("apiVersion", "")).partition("/")
    if group == "resource.k8s.io" and version not in _READABLE:
        raise InputError(
            f"{path}: {item.get('kind')} in version {version}; export it as "
            "resource.k8s.io/v1"
        )
