"""``audit``: what is wrong in a dump of a cluster."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from dra.audits import audit
from dra.audits.text import as_text
from dra.command.files import InputError, cluster, features_of

NOTHING: Final = 0
FINDINGS: Final = 1

STATUS: Final = (
    "Exit status 0: nothing is wrong, 1: there are findings of at least the severity "
    "asked for, 2: something is wrong with the input."
)
_LEAST: Final = {
    "error": ("error",),
    "warning": ("error", "warning"),
    "info": ("error", "warning", "info"),
}


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--cluster",
        action="append",
        type=Path,
        required=True,
        help="objects of the cluster: `kubectl get … -o json` or YAML; may be repeated",
    )
    verb.add_argument(
        "--version", default="1.36", help="Kubernetes version, for its feature gates"
    )
    verb.add_argument(
        "--severity",
        choices=list(_LEAST),
        default="info",
        help="leave out what is less than this (default: nothing)",
    )
    verb.add_argument(
        "--now",
        default="",
        help="the time of the dump, as 2026-11-30T05:00:00Z (default: now)",
    )
    verb.add_argument("--json", action="store_true", help="print findings as JSON")


def run_audit(options: argparse.Namespace) -> int:
    found = audit(
        cluster(options.cluster),
        now=_moment(options.now),
        features=features_of(options.version),
    )
    found = [one for one in found if one.severity in _LEAST[options.severity]]
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print(as_text(found))
    return FINDINGS if found else NOTHING


def _moment(text: str) -> datetime:
    if not text:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--now: {error}") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
