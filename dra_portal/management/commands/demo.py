"""``manage.py demo``: what ``make demo`` runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dra_portal.demo import DemoError, run_demo


class Command(BaseCommand):
    help = "Run the whole portal on this machine with a stand-in cluster or a dump."
    requires_system_checks = ()  # they import every page, before anything has started

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--nodes", type=int, default=20, help="of the stand-in cluster"
        )
        parser.add_argument(
            "--feature-gate",
            action="append",
            default=[],
            metavar="NAME",
            help="on in that cluster, as in DRADerivedAttributes; may be repeated",
        )
        parser.add_argument(
            "--still",
            action="store_true",
            help="nothing comes and goes in the stand-in cluster by itself",
        )
        parser.add_argument(
            "dump", nargs="*", type=Path, help="kubectl get -o json files"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run_demo(
                host=options["host"],
                port=options["port"],
                dumps=options["dump"],
                nodes=options["nodes"],
                gates=options["feature_gate"],
                still=options["still"],
                directory=settings.VAR_DIR,
            )
        except DemoError as error:
            raise CommandError(str(error)) from error
