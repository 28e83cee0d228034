"""A barrier: a pod that fits nowhere, to learn that the scheduler has passed a point.

Scheduling cycles are serial, so when the scheduler has written its "no" on a pod that
was created after the guard, each decision made without the guard is older; and as its
calls are sent about in order, what was queued before has been sent. The pod is never
bound and allocates nothing.
"""

from __future__ import annotations

import time
import uuid
from typing import Final

from cluster.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Unauthorized,
)
from cluster.writeback import admitted, carrier_pod
from cluster.writeback.answers import EndedError, forbidden, refused
from cluster.writeback.api import PODS
from cluster.writeback.awaiting import BEAT
from cluster.writeback.following import Followed, Following
from cluster.writeback.patience import PASSING
from cluster.writeback.sending import Sender
from cluster.writeback.tags import (
    DOMAIN,
    OWNER,
    ROLE,
    RUN,
    Role,
    Tags,
    annotations_of,
    digest,
)
from cluster.writeback.values import (
    Json,
    Order,
    Refusal,
    Refused,
    Request,
    Step,
    meta_of,
)
from cluster.writer_options import WriterOptions

NOWHERE: Final = f"{DOMAIN}/no-such-node"
_RIGHT: Final = "create, get, list, watch and delete pods in namespace {}"


class Barrier:
    """The barriers of one write, one per scheduler each time."""

    def __init__(
        self, sender: Sender, order: Order, options: WriterOptions, tags: Tags
    ) -> None:
        self.sender = sender
        self.order = order
        self.options = options
        self.tags = tags

    @property
    def namespace(self) -> str:
        return self.options.guard.namespace

    def pass_all(self) -> float:
        """Wait for the verdict of every scheduler; the seconds that it took.

        Raises EndedError when one gives none in time.
        """
        began = time.monotonic()
        for scheduler in self.options.scheduler.names:
            self._pass(scheduler)
        return time.monotonic() - began

    def _pass(self, scheduler: str) -> None:
        # A name of its own: the verdict on an older pod says nothing about now.
        nonce = uuid.uuid4().hex
        name = f"dra-portal-barrier-{digest(self.tags.run, scheduler, nonce)}"
        pod = self.sender.settle(lambda: self._create(name, scheduler))
        self._await(name, scheduler, admitted.held_back(pod))
        self._delete(name)

    def off(self) -> str:
        """Delete the run's barriers, of earlier calls too. A sentence when one stays."""
        selector = f"{OWNER}={self.tags.owner},{RUN}={self.tags.run},{ROLE}={Role.BARRIER.value}"

        def attempt() -> None:
            found = self.sender.api.list(
                "Pod", namespace=self.namespace, label_selector=selector
            )
            for pod in found:
                if not meta_of(pod).get("deletionTimestamp"):
                    self._delete(str(meta_of(pod).get("name")))

        try:
            self.sender.settle(attempt)
        except EndedError as ended:
            return self._left(ended.outcome.reason)
        except (*PASSING, ApiError) as error:
            return self._left(str(error))
        return ""

    def _left(self, why: str) -> str:
        return (
            f"A barrier pod in {self.namespace} could not be removed ({why}); the "
            "periodic clean-up will try again."
        )

    def _create(self, name: str, scheduler: str) -> Json:
        """The pod as admission has made it."""
        if (found := self.sender.api.read("Pod", self.namespace, name)) is not None:
            return found
        try:
            request = self._create_request(name, scheduler)
            return self.sender.send(Step.BARRIER, request)
        except AlreadyExists:
            # Nobody else makes this name.
            return self.sender.api.read("Pod", self.namespace, name) or {}
        except PASSING:
            raise
        except NotFound as error:
            raise _unguarded(
                f"The namespace {self.namespace} for barrier pods does not exist. Create "
                "it, or name another one (guard.namespace in the clusters file)."
            ) from error
        except (Forbidden, Unauthorized) as error:
            raise EndedError(forbidden(error, _RIGHT.format(self.namespace))) from error
        except ApiError as error:
            raise EndedError(refused(error, "create pods")) from error

    def _create_request(self, name: str, scheduler: str) -> Request:
        body = carrier_pod.bare_pod(
            name,
            self.namespace,
            labels=self.tags.labels(Role.BARRIER),
            annotations=annotations_of(self.order),
            options=self.options.carrier,
            scheduler=scheduler,
        )
        body["spec"]["nodeSelector"] = {NOWHERE: self.tags.run}
        return Request(PODS.path(self.namespace), body, "", carrier_pod.JSON, "POST")

    def _await(self, name: str, scheduler: str, held_back: str) -> None:
        seconds = self.options.guard.barrier
        end = time.monotonic() + seconds
        followed = {"pod": Followed(PODS, self.namespace, name)}
        with Following(self.sender.api.client, followed) as states:
            while (left := end - time.monotonic()) > 0:
                try:
                    state = states.next(min(left, BEAT))
                except ApiError as error:
                    right = _RIGHT.format(self.namespace)
                    raise EndedError(refused(error, right)) from error
                if state is None:
                    self.sender.beat()
                    continue
                pod = state[1]
                if pod is None:
                    raise _unguarded("Somebody deleted the barrier pod.")
                if why := admitted.given_away(pod, scheduler):
                    raise _unguarded(f"The barrier pod {why}.")
                if carrier_pod.verdict(pod) is not None:
                    return
                held_back = admitted.held_back(pod)
        if held_back:
            raise _unguarded(f"The barrier pod in {self.namespace} {held_back}.")
        raise _unguarded(
            f"The scheduler {scheduler} gave no verdict on the barrier pod within "
            f"{seconds:.0f} seconds."
        )

    def _delete(self, name: str) -> None:
        def attempt() -> None:
            found = self.sender.api.read("Pod", self.namespace, name)
            if found is None or meta_of(found).get("deletionTimestamp"):
                return
            uid = carrier_pod.uid_of(found)
            request = carrier_pod.delete_request(self.namespace, name, uid)
            try:
                self.sender.send(Step.BARRIER_OFF, request)
            except (NotFound, Conflict):
                return

        self.sender.settle(attempt)


def _unguarded(why: str) -> EndedError:
    return EndedError(Refused(Refusal.UNGUARDED, f"{why} Nothing was written."))
