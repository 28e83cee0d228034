"""``allocate`` and ``explain``: does it fit, and if not, why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from dra.allocation import (
    DoesNotFit,
    Features,
    Fits,
    GaveUp,
    Outcome,
    allocate,
    place,
)
from dra.allocation.command import run as answer_lines
from dra.allocation.command import run_explanations
from dra.allocation.explaining import Explanation, explain
from dra.allocation.explaining.text import as_text
from dra.allocation.placing import Question, schedulable
from dra.allocation.request import with_defaults
from dra.allocation.sweep import NodeAnswers
from dra.command.files import InputError, claims, cluster, features_of
from dra.command.pods import Asked, asked_of_pod
from dra.errors import DRAError
from dra.objects import Json, ResourceClaim, write

FITS: Final = 0
DOES_NOT_FIT: Final = 1
BAD_INPUT: Final = 2

_NOWHERE: Final = (
    "The pod may not run there: its node selector, node affinity, node name, tolerations "
    "of node taints and allocated claims leave no such node."
)

STATUS: Final = (
    "Exit status 0: it fits, 1: it does not (or it is undecided), 2: something is "
    "wrong with the input."
)


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """The arguments that both verbs share."""
    verb.add_argument(
        "--cluster",
        action="append",
        type=Path,
        help="objects of the cluster: `kubectl get … -o json` or YAML; may be repeated",
    )
    verb.add_argument(
        "--claim",
        action="append",
        type=Path,
        help="a ResourceClaim or ResourceClaimTemplate; several are one pod's claims",
    )
    verb.add_argument(
        "--pod",
        type=Path,
        help="a Pod instead of --claim: its claims and extended resources together, on "
        "the nodes where it may run; its file may bring claims, templates and classes",
    )
    where = verb.add_mutually_exclusive_group()
    where.add_argument("--node", default="", help="this node only")
    where.add_argument(
        "--all-nodes", action="store_true", help="every node, not only the first"
    )
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


def run_allocate(options: argparse.Namespace) -> int:
    if not _from_files(options):
        return FITS if answer_lines(sys.stdin, sys.stdout) else BAD_INPUT
    features, asked = _inputs(options)
    if asked.settled:
        return _print_settled(asked, as_json=options.json)
    snapshot, wanted = asked.snapshot, asked.claims
    if options.all_nodes:
        question = Question(
            snapshot,
            [with_defaults(claim) for claim in wanted],
            features=features,
            quirks=options.quirks,
        )
        names = schedulable(snapshot) if asked.node_names is None else asked.node_names
        answers = question.on_nodes(names)
        print(_nodes_as_json(answers) if options.json else _nodes_as_text(answers))
        return FITS if answers.fitting else DOES_NOT_FIT
    outcome: Outcome
    if asked.node_names is not None and not asked.node_names:
        outcome = DoesNotFit(options.node, _NOWHERE)
    elif options.node:
        outcome = allocate(
            snapshot, wanted, options.node, features=features, quirks=options.quirks
        )
    else:
        outcome = place(
            snapshot,
            wanted,
            node_names=asked.node_names,
            features=features,
            quirks=options.quirks,
        )
    print(_as_json(outcome) if options.json else _as_text(outcome, wanted))
    return FITS if isinstance(outcome, Fits) else DOES_NOT_FIT


def run_explain(options: argparse.Namespace) -> int:
    if not _from_files(options):
        return FITS if run_explanations(sys.stdin, sys.stdout) else BAD_INPUT
    features, asked = _inputs(options)
    if asked.settled:
        return _print_settled(asked, as_json=options.json)
    if asked.node_names is not None and not asked.node_names:
        print(f"dra: {_NOWHERE}", file=sys.stderr)
    found = explain(
        asked.snapshot,
        asked.claims,
        node_names=asked.node_names,
        features=features,
        quirks=options.quirks,
    )
    print(_explanation_as_json(found) if options.json else as_text(found))
    if found.verdict == "refused":
        return BAD_INPUT
    return FITS if found.verdict == "fits" else DOES_NOT_FIT


def _from_files(options: argparse.Namespace) -> bool:
    asked = options.claim or options.pod
    if options.claim and options.pod:
        raise InputError("--pod brings its own claims: give --claim or --pod, not both")
    if options.cluster and asked:
        return True
    if options.cluster or asked:
        raise InputError("--cluster and --claim (or --pod) belong together: give both")
    return False


def _inputs(options: argparse.Namespace) -> tuple[Features, Asked]:
    features = features_of(options.version)
    snapshot = cluster(options.cluster)
    if options.node and options.node not in snapshot.nodes:
        raise InputError(f"--node: the cluster has no node {options.node}")
    if options.pod:
        asked = asked_of_pod(options.pod, snapshot, options.version, options.node)
        for note in asked.notes:
            print(f"dra: {note}", file=sys.stderr)
        if options.node:
            names = asked.node_names
            here = names is None or options.node in names
            asked = replace(asked, node_names=(options.node,) if here else ())
        return features, asked
    wanted = [claim for path in options.claim for claim in claims(path)]
    if not wanted:
        raise InputError("--claim: no ResourceClaim and no ResourceClaimTemplate there")
    return features, Asked(
        snapshot, wanted, node_names=(options.node,) if options.node else None
    )


# --- printing ---


def _print_settled(asked: Asked, *, as_json: bool) -> int:
    """Nothing is asked of DRA, which always fits."""
    body: Json = {
        "fits": True,
        "node": None,
        "allocations": [],
        "reason": asked.settled,
    }
    print(json.dumps(body, indent=2) if as_json else asked.settled)
    return FITS


def _as_text(outcome: Outcome, wanted: Sequence[ResourceClaim]) -> str:
    if not isinstance(outcome, Fits):
        title = "Undecided." if isinstance(outcome, GaveUp) else "Does not fit."
        return f"{title} {outcome.reason}"
    lines = [f"Fits on node {outcome.node_name}."]
    for claim, allocation in zip(wanted, outcome.allocations, strict=True):
        name = claim.metadata.name or "(no name)"
        for result in allocation.devices.results or ():
            line = f"  {name} {result.request}: {result.driver}/{result.pool}/{result.device}"
            if result.consumed_capacity:
                amounts = result.consumed_capacity.items()
                line += f" ({', '.join(f'{n} {amount}' for n, amount in amounts)})"
            lines.append(line)
    return "\n".join(lines)


def _as_json(outcome: Outcome) -> str:
    return json.dumps(_outcome(outcome), indent=2)


def _outcome(outcome: Outcome | DRAError) -> Json:
    if isinstance(outcome, DRAError):
        return {"fits": None, "error": str(outcome)}
    if isinstance(outcome, Fits):
        return {
            "fits": True,
            "node": outcome.node_name,
            "allocations": [write(a) for a in outcome.allocations],
        }
    return {
        "fits": None if isinstance(outcome, GaveUp) else False,
        "node": outcome.node_name or None,
        "reason": outcome.reason,
    }


def _nodes_as_text(answers: NodeAnswers) -> str:
    lines = [f"Fits on {len(answers.fitting):,} of {len(answers):,} nodes."]
    for name in answers:
        found = answers[name]
        if isinstance(found, Fits):
            lines.append(f"  {name}: fits")
        else:
            why = str(found) if isinstance(found, DRAError) else found.reason
            lines.append(f"  {name}: {why}")
    return "\n".join(lines)


def _nodes_as_json(answers: NodeAnswers) -> str:
    return json.dumps(
        {name: _outcome(found) for name, found in answers.items()}, indent=2
    )


def _explanation_as_json(found: Explanation) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
