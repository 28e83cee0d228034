"""The claim editor's page on a large site: one round per pause of typing, all of it."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, Final

from bench.table import Figure
from dra.allocation.groups import forget_answers
from dra.objects import ResourceClaim, write
from dra.snapshot import Snapshot

PAGE: Final = 250.0
"""What the server may take for one round, in milliseconds."""
CHANGES: Final = 2000.0
_HTMX: Final = {"HX-Request": "true", "HX-Target": "draft-answer"}


class Page:
    """A signed-in browser with a draft open, on a cluster that is all in ``snapshot``."""

    def __init__(self, snapshot: Snapshot, wanted: ResourceClaim) -> None:
        from django.contrib.auth.models import User
        from django.test import Client

        from claims.authoring import manifests

        self.value = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "draft", "namespace": "default"},
            "spec": write(wanted.spec),
        }
        self.text = manifests.to_text(self.value)
        self.names = (f"draft-{n}" for n in itertools.count())
        _stand_in(snapshot)
        user, _ = User.objects.get_or_create(
            username="bench", defaults={"is_superuser": True}
        )
        self.client = Client(SERVER_NAME="localhost")
        self.client.force_login(user)
        begun = self.client.post(
            "/c/bench/claims/new/", {"from": "text", "text": self.text}
        )
        self.address = begun["Location"]

    def post(self, address: str) -> Any:
        """Another name each time: a new text, and nothing remembered of earlier ones."""
        from claims.authoring import previewing
        from claims.models import Draft

        previewing.forget()
        forget_answers()
        draft = Draft.objects.get()
        answer = self.client.post(
            address,
            {
                "text": self.text,
                "doc": 0,
                "revision": draft.revision,
                "touched": '["metadata.name"]',
                "metadata.name": next(self.names),
            },
            headers=_HTMX,
        )
        assert answer.status_code == 200, answer.content
        return answer

    def close(self) -> None:
        from claims.models import Draft

        Draft.objects.all().delete()


def _stand_in(snapshot: Snapshot) -> None:
    """A cluster in the database whose snapshot this process has already."""
    from allocator import snapshots
    from inventory.models import Cluster

    cluster, _ = Cluster.objects.update_or_create(
        name="bench", defaults={"version": "v1.36.2", "seq": snapshot.seq}
    )
    slot = snapshots._slots.setdefault(cluster.pk, snapshots._Slot())
    slot.snapshot = snapshot


def rounds(snapshot: Snapshot, claims: dict[str, ResourceClaim]) -> list[Figure]:
    """The page's answers to every claim, and the changes for those that do not fit."""
    from django.core.management import call_command

    from bench.authoring import figures

    call_command("migrate", verbosity=0)
    found: list[Figure] = []
    for what, wanted in claims.items():
        page = Page(snapshot, wanted)
        found += figures(f"page ({what})", PAGE, partial(page.post, page.address), 20)
        if "nowhere" in what or "nothing" in what:
            changes = partial(page.post, f"{page.address}changes/")
            found += figures(f"changes ({what})", CHANGES, changes, 7)
        page.close()
    return found
