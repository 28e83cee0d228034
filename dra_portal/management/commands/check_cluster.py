"""``manage.py check_cluster``: version, writer, and each right with how to grant it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from cluster.config import load_clusters
from cluster.errors import ConfigError
from dra_portal.access import Access, look


class Command(BaseCommand):
    help = (
        "Ask clusters of clusters.yaml what this process may do there; exits with 1 "
        "when a right is missing, other than for repairs alone, or a cluster cannot be "
        "asked."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", nargs="*", help="clusters; all that have an API server if left out"
        )
        parser.add_argument(
            "--no-authoring",
            action="store_true",
            help="leave out what people need who write claims and classes here",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        bad = []
        for name in options["name"] or self._all():
            access = look(name, authoring=not options["no_authoring"])
            self._tell(access)
            if access.problem or access.missing:
                bad.append(name)
        if bad:
            raise CommandError(f"Not all is well with: {', '.join(bad)}.")

    def _all(self) -> list[str]:
        try:
            configs = load_clusters(Path(settings.CLUSTERS_FILE))
        except ConfigError as error:
            raise CommandError(
                f"{error}. DRA_PORTAL_CLUSTERS names the file; "
                "docs/operations.md shows what it holds."
            ) from None
        names = [config.name for config in configs if config.source != "dump"]
        if not names:
            self.stdout.write("No cluster of the clusters file has an API server.")
        return names

    def _tell(self, access: Access) -> None:
        say = self.stdout.write
        say(f"{access.cluster}: {access.sentence}")
        if access.problem:
            return
        say(f"  Kubernetes {access.version}, writer {access.writer}")
        say(f"  as {access.account or 'somebody the server does not name'}")
        say(f"  gates of such a release: {', '.join(access.gates) or 'none'}")
        for note in access.notes:
            say(f"  note:   {note}")
        for right in access.rights:
            mark = "ok     " if right.granted else "MISSING"
            only = " (only for repairs)" if right.only_repairs else ""
            say(f"  {mark} {right}: {right.why}{only}")
        for line in access.commands:
            say(f"  grant:  {line}")
        for line in access.commands_for_repairs:
            say(f"  grant, only for repairs:  {line}")
