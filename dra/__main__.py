"""``python -m dra``: the core as a command, without Django, database or network.

``allocate``, ``cel`` and ``validate`` read JSON Lines and answer each with one line; ``fit`` is
for people and for CI: does this claim fit into that cluster?
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from dra.allocation import (
    Features,
    Fits,
    GaveUp,
    Outcome,
    allocate,
    place,
)
from dra.allocation.command import run as answer_lines
from dra.errors import DRAError
from dra.objects import Json, ResourceClaim, ResourceClaimTemplate, read, write
from dra.snapshot import Snapshot
from dra.validation.command import run_lines as validate_lines

FITS, DOES_NOT_FIT, BAD_INPUT = 0, 1, 2

_READABLE = frozenset({"v1", "v1beta2", "v1alpha3"})


class InputError(ValueError):
    """A file that cannot be used; the text says which and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (InputError, DRAError, OSError) as error:
        print(f"dra: {error}", file=sys.stderr)
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dra", description=__doc__)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("allocate", help="answer allocation questions, one a line")
    verb.set_defaults(run=_allocate_lines)
    verb = verbs.add_parser("cel", help="evaluate selectors on devices, one a line")
    verb.set_defaults(run=_cel_lines)
    verb = verbs.add_parser(
        "validate", help="say what the API server would, one a line"
    )
    verb.set_defaults(run=_validate_lines)
    verb = verbs.add_parser(
        "fit",
        help="say whether claims fit into a cluster",
        description=(
            "Exit status 0: they fit, 1: they do not (or it is undecided), "
            "2: something is wrong with the input."
        ),
    )
    verb.add_argument(
        "--cluster",
        required=True,
        action="append",
        type=Path,
        help="objects of the cluster: `kubectl get … -o json` or YAML; may be repeated",
    )
    verb.add_argument(
        "--claim",
        required=True,
        action="append",
        type=Path,
        help="a ResourceClaim or ResourceClaimTemplate; several are one pod's claims",
    )
    verb.add_argument("--node", default="", help="this node only")
    verb.add_argument(
        "--version", default="1.36", help="Kubernetes version, for its feature gates"
    )
    verb.add_argument(
        "--quirks",
        choices=["none", "1.36"],
        default="none",
        help="answer as documented (none) or as that scheduler does",
    )
    verb.add_argument("--json", action="store_true", help="print the answer as JSON")
    verb.set_defaults(run=_fit)
    return parser


def _allocate_lines(_options: argparse.Namespace) -> int:
    return 0 if answer_lines(sys.stdin, sys.stdout) else BAD_INPUT


def _cel_lines(_options: argparse.Namespace) -> int:
    try:
        from dra.cel.command import run_lines as run_cel_lines
    except ImportError as error:
        raise InputError(f"the CEL command is not installed: {error}") from error
    run_cel_lines(sys.stdin, sys.stdout)
    return 0


def _validate_lines(_options: argparse.Namespace) -> int:
    validate_lines(sys.stdin, sys.stdout)
    return 0


def _fit(options: argparse.Namespace) -> int:
    try:
        features = Features.preset(options.version)
    except ValueError as error:
        raise InputError(f"--version: {error}") from error
    snapshot = Snapshot.build(o for path in options.cluster for o in _objects(path))
    for problem in snapshot.problems:
        print(f"dra: left out: {problem}", file=sys.stderr)
    claims = [claim for path in options.claim for claim in _claims(path)]
    if not claims:
        raise InputError("--claim: no ResourceClaim and no ResourceClaimTemplate there")
    if options.node:
        outcome = allocate(
            snapshot, claims, options.node, features=features, quirks=options.quirks
        )
    else:
        outcome = place(snapshot, claims, features=features, quirks=options.quirks)
    print(_as_json(outcome) if options.json else _as_text(outcome, claims))
    return FITS if isinstance(outcome, Fits) else DOES_NOT_FIT


def _as_text(outcome: Outcome, claims: Sequence[ResourceClaim]) -> str:
    if not isinstance(outcome, Fits):
        title = "Undecided." if isinstance(outcome, GaveUp) else "Does not fit."
        return f"{title} {outcome.reason}"
    lines = [f"Fits on node {outcome.node_name}."]
    for claim, allocation in zip(claims, outcome.allocations, strict=True):
        name = claim.metadata.name or "(no name)"
        for result in allocation.devices.results or ():
            line = f"  {name} {result.request}: {result.driver}/{result.pool}/{result.device}"
            if result.consumed_capacity:
                amounts = result.consumed_capacity.items()
                line += f" ({', '.join(f'{n} {amount}' for n, amount in amounts)})"
            lines.append(line)
    return "\n".join(lines)


def _as_json(outcome: Outcome) -> str:
    if isinstance(outcome, Fits):
        answer: Json = {
            "fits": True,
            "node": outcome.node_name,
            "allocations": [write(a) for a in outcome.allocations],
        }
    else:
        answer = {
            "fits": None if isinstance(outcome, GaveUp) else False,
            "node": outcome.node_name or None,
            "reason": outcome.reason,
        }
    return json.dumps(answer, indent=2)


def _claims(path: Path) -> Iterator[ResourceClaim]:
    for item in _objects(path):
        kind = item.get("kind")
        if kind == "ResourceClaim":
            yield read(item, ResourceClaim)
        elif kind == "ResourceClaimTemplate":
            template = read(item, ResourceClaimTemplate)
            yield ResourceClaim(metadata=template.metadata, spec=template.spec.spec)


def _objects(path: Path) -> Iterator[Json]:
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


def _documents(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    try:
        if text.lstrip().startswith("{"):
            return [json.loads(text)]
        return list(yaml.safe_load_all(text))
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: neither JSON nor YAML: {reason}") from error


def _check_version(path: Path, item: Json) -> None:
    group, _, version = str(item.get("apiVersion", "")).partition("/")
    if group == "resource.k8s.io" and version not in _READABLE:
        raise InputError(
            f"{path}: {item.get('kind')} in version {version}; export it as "
            "resource.k8s.io/v1"
        )


if __name__ == "__main__":
    sys.exit(main())
