"""Deleting a claim, template or class: first what follows, then one button.

What is deleted is the object that the page showed. One that was changed or replaced
meanwhile is left alone, and a page says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from claims.choices import ClaimState, Verb
from claims.models import ResourceClaim, ResourceClaimTemplate
from claims.queries import claims as claim_queries
from claims.queries import templates as template_queries
from claims.services import objects
from claims.services.objects import ReadOnly
from claims.views.claims import Claim
from claims.views.consequences import (
    Consequences,
    Consumer,
    consumers_of,
    finalizers_of,
    of_claim,
    of_class,
    of_template,
)
from claims.views.templates import Template
from cluster.objects import (
    Changed,
    Deleted,
    DeleteOutcome,
    Expected,
    Forbidden,
    Gone,
    Invalid,
    NotServed,
    Throttled,
    Unavailable,
    Unknown,
)
from inventory.models import DeviceClass
from inventory.views.classes import ClassPage
from inventory.views.kit import ClusterDetail
from web.doors import Role, role_of
from web.pages import Crumb, Fact, Heading

SHOWN: Final = 50
_STATUS: Final[Mapping[type, int]] = {
    Forbidden: 403,
    Changed: 409,
    ReadOnly: 409,
    NotServed: 409,
    Invalid: 422,
    Unknown: 502,
    Throttled: 503,
    Unavailable: 503,
}


class Deletion[M: Model](ClusterDetail[M], ABC):
    """The page before, left of the page of the object itself. POST deletes."""

    template_name = "claims/delete.html"
    fragments: ClassVar[tuple[str, ...]] = ()
    tabs = ()
    required_role = Role.AUTHOR
    kind: ClassVar[str]
    noun: ClassVar[str]
    page: ClassVar[str]
    """URL name of the object's page."""
    list_page: ClassVar[str]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Neither the question nor the answer where the user may not delete."""
        user = request.user
        if user.is_authenticated:
            namespace = kwargs.get("namespace", "")
            held = role_of(user)
            objects.check_may_write(self.cluster, user, held, self.kind, namespace)
        return super().dispatch(request, *args, **kwargs)

    @property
    @abstractmethod
    def consequences(self) -> Consequences:
        """What deleting would do; every kind of object has its own."""

    def shown(self) -> dict[str, Any]:
        """What stands below: who and what is concerned."""
        return {}

    def shown_tabs(self) -> tuple[()]:
        return ()

    def facts(self) -> list[Fact]:
        return []

    def heading(self) -> Heading:
        found = super().heading()
        crumbs = [*found.crumbs[:-1], Crumb(found.name, self.href), Crumb("Delete")]
        return Heading(
            kind=f"Delete {self.noun}",
            name=found.name,
            badges=found.badges,
            sentence=self.consequences.first,
            crumbs=crumbs,
        )

    def extra(self) -> dict[str, Any]:
        user = self.request.user
        return {
            "cluster": self.cluster,
            "noun": self.noun,
            "href": self.href,
            "consequences": self.consequences,
            "finalizers": finalizers_of(getattr(self.object, "raw", None)),
            "read_only": objects.why_read_only(self.cluster),
            "author": objects.author_sentence(self.cluster, user, verb=Verb.DELETE),
            "deleting": getattr(self.object, "deleting", False),
            **self.shown(),
        }

    @property
    def href(self) -> str:
        return reverse(self.page, args=self._key)

    @property
    def _key(self) -> list[str]:
        named = (
            self.kwargs[part] for part in ("namespace", "name") if part in self.kwargs
        )
        return [self.cluster.name, *named]

    def post(self, request: HttpRequest, *_: Any, **kwargs: Any) -> HttpResponse:
        sent = request.POST
        outcome = objects.delete(
            self.cluster,
            request.user,
            self.kind,
            Expected(sent.get("uid", ""), sent.get("resource_version", "")),
            namespace=kwargs.get("namespace", ""),
            name=kwargs["name"],
        )
        if isinstance(outcome, Deleted):
            messages.success(
                request, f"{outcome.reason} This list follows in a moment."
            )
        elif isinstance(outcome, Gone):
            messages.info(request, outcome.reason)
        else:
            return self._refused(outcome)
        return redirect(self.list_page, self.cluster.name)

    def _refused(self, outcome: DeleteOutcome | ReadOnly) -> HttpResponse:
        name = "/".join(self._key[1:])
        crumbs = [
            self.cluster_crumb(),
            Crumb(self.list_page.capitalize(), self.url(self.list_page)),
            Crumb(name, self.href),
            Crumb("Delete"),
        ]
        return render(
            self.request,
            "claims/delete_refused.html",
            {
                "cluster": self.cluster,
                "noun": self.noun,
                "name": name,
                "title": f"{self.noun.capitalize()} {name} was not deleted",
                "crumbs": crumbs,
                "outcome": outcome,
                "unknown": isinstance(outcome, Unknown),
                "grant": outcome.grant if isinstance(outcome, Forbidden) else "",
                "href": self.href,
                "again": self.request.path,
            },
            status=_STATUS.get(type(outcome), 409),
        )


class DeleteClaim(Deletion[ResourceClaim], Claim):
    """Consumers and devices of the claim, and when it goes."""

    kind, noun, page, list_page = "ResourceClaim", "claim", "claim", "claims"

    @cached_property
    def consequences(self) -> Consequences:
        return of_claim(self.object, self._consumers)

    @cached_property
    def _consumers(self) -> list[Consumer]:
        return consumers_of(self.object)

    def shown(self) -> dict[str, Any]:
        return {
            "consumers": self._consumers[:SHOWN],
            "consumer_count": len(self._consumers),
            "devices": list(self.object.devices.all())[:SHOWN],
            "device_count": self.object.device_count,
        }


class DeleteTemplate(Deletion[ResourceClaimTemplate], Template):
    """Claims that were made from it, and pods that name it."""

    kind, noun = "ResourceClaimTemplate", "template"
    page, list_page = "template", "templates"

    @cached_property
    def consequences(self) -> Consequences:
        pods = template_queries.pods_of_template(self.object)
        return of_template(self.object, self._claims.count(), pods.count())

    @property
    def _claims(self) -> Any:
        return claim_queries.claim_rows(self.cluster).filter(
            namespace=self.object.namespace, template_name=self.object.name
        )

    def shown(self) -> dict[str, Any]:
        return {
            "claims": self._claims.order_by("name")[:SHOWN],
            "claim_count": self._claims.count(),
            "claims_title": "Claims made from it, which stay",
            "pods": template_queries.pods_of_template(self.object)[:SHOWN],
        }


class DeleteClass(Deletion[DeviceClass], ClassPage):
    """Claims and templates that ask for it."""

    required_role = Role.ADMIN
    kind, noun, page, list_page = "DeviceClass", "class", "class", "classes"

    @cached_property
    def consequences(self) -> Consequences:
        counts = claim_queries.class_use_counts(self.cluster)
        _, templates = counts.get(self.object.name, (0, 0))
        return of_class(
            self._claims.filter(state=ClaimState.PENDING).count(),
            self._claims.filter(allocated=True).count(),
            templates,
            self.object.extended_resource_name,
        )

    @property
    def _claims(self) -> Any:
        return claim_queries.claims_of_class(self.cluster, self.object.name)

    def shown(self) -> dict[str, Any]:
        return {
            "claims": self._claims[:SHOWN],
            "claim_count": self._claims.count(),
            "claims_title": "Claims that ask for it",
            "templates": claim_queries.templates_of_class(
                self.cluster, self.object.name
            )[:SHOWN],
        }
