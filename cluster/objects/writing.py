"""Creating, changing and deleting one object: conditional, bounded, never guessed.

A request whose end is unknown (a connection that broke after sending, 500, 504) is
followed by a look at the object: a write that arrived is recognised, one that did
not is sent again, for which names and resourceVersions make it safe. 429 and 503
are tried again for a while. A dry run stores nothing, so it is simply tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from cluster import errors
from cluster.errors import ApiError, ServerError, TooManyRequests
from cluster.objects import bodies, values
from cluster.objects.attempts import Create, Delete, Target, Update
from cluster.objects.refusals import Act, refusal, unauthorized
from cluster.objects.values import (
    Cause,
    CreateOutcome,
    DeleteOutcome,
    Expected,
    Failure,
    Json,
    UpdateOutcome,
    text_of,
)
from cluster.resources import ServedResource
from cluster.writeback.patience import Patience

if TYPE_CHECKING:
    from cluster.client import ClusterClient

LONGEST: Final = 20.0
"""Seconds after which nothing is tried again: somebody is waiting for a page."""
_HASTE: Final = Patience(attempts=4, delay=0.2, longest=1.0)
_REQUIRED: Final = "FieldValueRequired"
_SOMEBODY_WAS_FIRST: Final = (values.AlreadyExists, values.Changed, values.Gone)


class _Attempt[Result](Protocol):
    """One of :mod:`cluster.objects.attempts`."""

    @property
    def target(self) -> Target: ...
    def send(self) -> Result: ...
    def look(self) -> Result | None: ...


class ObjectWriter:
    """Writes to one cluster. May be used by many threads, like its client.

    ``as_user`` of every method: the name in which the API server shall see the
    request; empty for the portal's own account.
    """

    def __init__(
        self, client: ClusterClient, *, patience: Patience | None = None
    ) -> None:
        self._client = client
        self._patience = patience or _HASTE
        self._served: dict[str, ServedResource] = {}

    def create(
        self,
        value: Json,
        namespace: str = "",
        *,
        dry_run: bool = False,
        as_user: str = "",
    ) -> CreateOutcome:
        """Create ``value``, which may be of any version that we can read.

        ``namespace`` empty: the object's own. What the API server sets itself (uid,
        resourceVersion, status, …) is left out. A generateName becomes a name here.
        """
        if causes := bodies.wrong_header(value):
            return _invalid(causes)
        obj = bodies.with_name(bodies.in_v1(value))
        namespace = namespace or text_of(obj, "namespace")

        def attempt(act: Act) -> Create:
            name = text_of(obj, "name")
            return Create(Target(self._speaker(act), act, name, dry_run), obj)

        return self._settled("create", str(obj["kind"]), namespace, as_user, attempt)

    def update(
        self,
        value: Json,
        name: str,
        expected: Expected,
        namespace: str = "",
        *,
        dry_run: bool = False,
        as_user: str = "",
    ) -> UpdateOutcome:
        """Replace the object that is ``expected`` by ``value``, its status excepted."""
        if causes := [*bodies.wrong_header(value), *_unconditional(expected)]:
            return _invalid(causes)
        obj = bodies.in_v1(value)
        namespace = namespace or text_of(obj, "namespace")
        if not bodies.can_be_named(name):
            return values.Gone(str(obj["kind"]), namespace, name)

        def attempt(act: Act) -> Update:
            return Update(Target(self._speaker(act), act, name, dry_run), obj, expected)

        return self._settled("update", str(obj["kind"]), namespace, as_user, attempt)

    def delete(
        self,
        kind: str,
        name: str,
        expected: Expected,
        namespace: str = "",
        *,
        dry_run: bool = False,
        as_user: str = "",
    ) -> DeleteOutcome:
        """Delete the object that is ``expected``, neither a newer nor another one."""
        if causes := _unconditional(expected):
            return _invalid(causes)
        if not bodies.can_be_named(name):
            return values.Gone(kind, namespace, name)

        def attempt(act: Act) -> Delete:
            return Delete(Target(self._speaker(act), act, name, dry_run), expected)

        return self._settled("delete", kind, namespace, as_user, attempt)

    # --- the way of every write ---------------------------------------------------

    def _settled[Result](
        self,
        verb: str,
        kind: str,
        namespace: str,
        as_user: str,
        attempt: Callable[[Act], _Attempt[Result]],
    ) -> Result | Failure:
        """Find out where the kind is served, and write. Once more after an upgrade."""
        if kind not in values.KINDS:
            return values.NotServed(kind)
        for known in (True, False):
            act = self._act(verb, kind, namespace, as_user, known=known)
            if not isinstance(act, Act):
                return act
            outcome = _tried(attempt(act), self._patience)
            if not isinstance(outcome, values.NotServed):
                break
        return outcome

    def _act(
        self, verb: str, kind: str, namespace: str, as_user: str, *, known: bool
    ) -> Act | Failure:
        try:
            served = self._resource(kind, known=known)
        except TooManyRequests as error:
            return values.Throttled(error.retry_after)
        except errors.Unauthorized as error:
            return unauthorized(error)
        except (ApiError, errors.Unreachable) as error:
            return values.Unavailable(str(error))
        if served is None:
            return values.NotServed(kind)
        if not served.resource.namespaced:
            return Act(verb, served, "", as_user)
        if not namespace:
            message = "Required value: say in which namespace"
            return _invalid([Cause("metadata.namespace", message, _REQUIRED)])
        if not bodies.can_be_named(namespace):
            message = f"Invalid value: {namespace!r}: no namespace can have this name"
            return _invalid([Cause("metadata.namespace", message, "FieldValueInvalid")])
        return Act(verb, served, namespace, as_user)

    def _resource(self, kind: str, *, known: bool) -> ServedResource | None:
        """From memory if ``known``; else, and for what is not there, asked anew."""
        if not known or kind not in self._served:
            self._served = self._patience.settle(self._client.discover)
        return self._served.get(kind)

    def _speaker(self, act: Act) -> ClusterClient:
        return self._client.as_user(act.as_user) if act.as_user else self._client


def _tried[Result](attempt: _Attempt[Result], patience: Patience) -> Result | Failure:
    waits = patience.waits()
    until = time.monotonic() + LONGEST
    target = attempt.target
    unknown = False
    while True:
        try:
            if unknown and (seen := attempt.look()) is not None:
                return seen
            outcome = attempt.send()
            if unknown and isinstance(outcome, _SOMEBODY_WAS_FIRST):
                # That somebody may have been our own first request.
                return attempt.look() or outcome
        except (ServerError, TooManyRequests, errors.Unreachable) as error:
            unknown |= error.outcome_unknown and not target.dry_run
            wait = next(waits, None)
            if wait is None or time.monotonic() > until:
                return _given_up(error, target, unknown=unknown)
            patience.pause(wait, error)
        except ApiError as error:
            refused = refusal(error, target.act)
            if unknown:
                return values.Unknown(*target.key, refused.reason)
            return refused
        else:
            return outcome


def _given_up(
    error: ServerError | TooManyRequests | errors.Unreachable,
    target: Target,
    *,
    unknown: bool,
) -> Failure:
    why = str(error)
    if isinstance(error, ServerError):
        why = f"The API server kept failing ({error.code}): {error}"
    if unknown:
        return values.Unknown(*target.key, why)
    if isinstance(error, TooManyRequests):
        return values.Throttled(error.retry_after)
    return values.Unavailable(why)


def _unconditional(expected: Expected) -> list[Cause]:
    """Without either, somebody else's change would be overwritten unseen."""
    found = []
    if not expected.uid:
        message = "Required value: the uid of the object that was seen"
        found.append(Cause("metadata.uid", message, _REQUIRED))
    version = expected.resource_version
    if not (version.isascii() and version.isdecimal() and version.strip("0")):
        message = "Required value: the resourceVersion that was seen, a number"
        found.append(Cause("metadata.resourceVersion", message, _REQUIRED))
    return found


def _invalid(causes: list[Cause]) -> values.Invalid:
    message = "; ".join(f"{cause.field}: {cause.message}" for cause in causes)
    return values.Invalid(message, tuple(causes))
