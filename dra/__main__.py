"""``python -m dra``: the core as a command, without Django, database or network.

``allocate``, ``explain``, ``cel`` and ``validate`` read JSON Lines and answer each with one
line. With ``--cluster`` and ``--claim`` or ``--pod`` the first two are for people and for CI:
does this claim or pod fit into that cluster, and if not, why? ``what-if`` answers a scenario, ``audit`` says
what is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dra.command import asking, auditing, scenarios
from dra.command.asking import BAD_INPUT
from dra.command.files import InputError
from dra.errors import DRAError
from dra.validation.command import run_lines as validate_lines


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
    for name, run, help_ in (
        ("allocate", asking.run_allocate, "say whether claims fit, and with what"),
        ("explain", asking.run_explain, "say why claims fit or not"),
    ):
        verb = verbs.add_parser(
            name,
            help=help_,
            description=(
                "Without --cluster and --claim: JSON Lines from standard input. "
                f"With them: {asking.STATUS}"
            ),
        )
        asking.add_arguments(verb)
        verb.set_defaults(run=run)
    verb = verbs.add_parser(
        "what-if",
        help="say what a scenario would do to a cluster",
        description=scenarios.STATUS,
    )
    scenarios.add_arguments(verb)
    verb.set_defaults(run=scenarios.run_what_if)
    verb = verbs.add_parser(
        "audit", help="say what is wrong in a cluster", description=auditing.STATUS
    )
    auditing.add_arguments(verb)
    verb.set_defaults(run=auditing.run_audit)
    verb = verbs.add_parser("cel", help="evaluate selectors on devices, one a line")
    verb.set_defaults(run=_cel_lines)
    verb = verbs.add_parser(
        "validate", help="say what the API server would, one a line"
    )
    verb.set_defaults(run=_validate_lines)
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
