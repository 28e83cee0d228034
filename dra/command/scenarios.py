"""``what-if``: a scenario on a dump of a cluster."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import msgspec

from dra.command.files import InputError, cluster, document, features_of
from dra.validation import Gates
from dra.whatif import ScenarioError, read_scenario, run
from dra.whatif.text import as_text

FITS: Final = 0
DOES_NOT_FIT: Final = 1

STATUS: Final = (
    "Exit status 0: everything fits, 1: something does not, loses its devices for good or "
    "is undecided, 2: something is wrong with the input."
)


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--cluster",
        action="append",
        type=Path,
        required=True,
        help="objects of the cluster: `kubectl get … -o json` or YAML; may be repeated",
    )
    verb.add_argument(
        "--scenario",
        type=Path,
        required=True,
        help="edits and workload, JSON or YAML",
    )
    verb.add_argument(
        "--version", default="1.36", help="Kubernetes version, for its feature gates"
    )
    verb.add_argument(
        "--quirks",
        choices=["none", "1.36"],
        default="none",
        help="place as documented (none) or as that scheduler does",
    )
    verb.add_argument("--json", action="store_true", help="print the result as JSON")


def run_what_if(options: argparse.Namespace) -> int:
    try:
        scenario = read_scenario(document(options.scenario))
        found = run(
            cluster(options.cluster),
            scenario,
            features=features_of(options.version),
            quirks=options.quirks,
            extended_resources=Gates.preset(options.version).extended_resource,
        )
    except ScenarioError as error:
        raise InputError(f"{options.scenario}: {error}") from error
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print(as_text(found))
    return FITS if found.fits else DOES_NOT_FIT
