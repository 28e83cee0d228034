"""What all writers ask an API server: one object, some objects, which kinds there are.

Objects come back in v1 form. A refusal ends the write (:class:`EndedError`); what may
pass (:data:`~cluster.writeback.patience.PASSING`) is raised as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cluster.convert import to_v1
from cluster.errors import ApiError, NotFound
from cluster.resources import BY_KIND, ServedResource
from cluster.writeback.answers import EndedError, refused
from cluster.writeback.patience import PASSING
from cluster.writeback.values import Json, Refusal, Refused

if TYPE_CHECKING:
    from cluster.client import ClusterClient

PODS: Final = ServedResource(BY_KIND["Pod"], "v1")
NODES: Final = ServedResource(BY_KIND["Node"], "v1")
_DISCOVER: Final = "get /api and /apis"


class Api:
    """One cluster. What it serves is asked once, and again when a kind is missing."""

    def __init__(self, client: ClusterClient) -> None:
        self.client = client
        self._served: dict[str, ServedResource] | None = None

    def served(self, kind: str) -> ServedResource | None:
        """How the server serves ``kind``; None: not, or not in a version of ours."""
        if self._served is None:
            try:
                self._served = self.client.discover()
            except PASSING:
                raise
            except ApiError as error:
                raise EndedError(refused(error, _DISCOVER)) from error
        return self._served.get(kind)

    def need(self, kind: str) -> ServedResource:
        if (found := self.served(kind)) is not None:
            return found
        self._served = None
        plural = BY_KIND[kind].plural
        raise EndedError(
            Refused(
                Refusal.NOT_SERVED,
                f"The API server does not serve {plural} in a version that the portal "
                "can use.",
            )
        )

    def read(self, kind: str, namespace: str | None, name: str) -> Json | None:
        """One object, None when there is none."""
        served = self.need(kind)
        try:
            found = self.client.get(served, namespace, name)
        except PASSING:
            raise
        except NotFound as error:
            if not error.not_served:
                return None
            self._served = None
            raise EndedError(refused(error, f"get {served.resource.plural}")) from error
        except ApiError as error:
            raise EndedError(refused(error, f"get {served.resource.plural}")) from error
        return to_v1(found, kind=kind, api_version=served.api_version)

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        field_selector: str = "",
        label_selector: str = "",
    ) -> list[Json]:
        """All objects of a kind, or those that the selectors mean."""
        served = self.need(kind)
        try:
            pages = self.client.list_pages(
                served,
                namespace=namespace,
                field_selector=field_selector,
                label_selector=label_selector,
            )
            found = [item for page in pages for item in page.items]
        except PASSING:
            raise
        except ApiError as error:
            right = f"list {served.resource.plural}"
            raise EndedError(refused(error, right)) from error
        return [to_v1(o, kind=kind, api_version=served.api_version) for o in found]
