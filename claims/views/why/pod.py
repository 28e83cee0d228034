"""Why a pod waits: all of its claims, and its extended resources, asked about together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from claims import explaining
from claims.explaining import NotWaiting
from claims.views.pods import PodPage
from claims.views.why.page import Part, Reasons
from web.pages import Crumb, Heading


class PodWhy(Reasons, PodPage):
    """The same answer as on a claim's page, for everything that the pod waits for."""

    template_name = "claims/pod_why.html"
    fragments: ClassVar[tuple[str, ...]] = ("pod-why",)

    def heading(self) -> Heading:
        found = super().heading()
        pod = self.object
        here = self.url("pod", pod.namespace, pod.name)
        crumbs = (*found.crumbs[:-1], Crumb(str(pod), here), Crumb("Why it waits"))
        return replace(found, crumbs=crumbs)

    def extra(self) -> dict[str, Any]:
        pod = self.object
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "is_part": bool(getattr(self.request, "htmx", None)),
            "part": Part("pod-why", self.url("pod-why", pod.namespace, pod.name)),
            "not_waiting": "There is nothing to explain.",
        }
        try:
            why = self.explained(explaining.subject_of_pod, pod.namespace, pod.name)
        except NotWaiting as state:
            return context | {"not_waiting": str(state)}
        except KeyError:
            return context
        said = [pod] if pod.scheduling_message else []
        return context | {"why": why, "said": said}
