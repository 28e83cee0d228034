"""What the addresses of one draft share: whose it is, and where it is not."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.views.generic import View

from claims.models import Draft
from claims.services import drafts
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb


class OfDraft(InCluster, RequiresRole, View):
    """A view of one draft of the signed-in user."""

    required_role = Role.VIEWER
    request: HttpRequest

    @cached_property
    def draft(self) -> Draft:
        """Http404 where there is none, or where it is somebody else's."""
        found = drafts.draft_of(self.request.user, self.kwargs["draft"])
        if found is None or found.cluster_id != self.cluster.pk:
            raise Http404(
                "There is no such draft (any more). Your drafts are listed where a new "
                "claim begins."
            )
        return found

    def crumbs(self, last: str) -> list[Crumb]:
        name = self.cluster.name
        return [
            self.cluster_crumb(),
            Crumb("Claims", reverse("claims", args=[name])),
            Crumb("New claim", reverse("new-claim", args=[name])),
            Crumb(last),
        ]

    def here(self) -> str:
        return self.url("draft", self.draft.pk)

    def context(self, **more: Any) -> dict[str, Any]:
        return {"cluster": self.cluster, "draft": self.draft, **more}
