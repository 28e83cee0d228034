"""The three writes: how each is sent, and how its end is seen when no answer came.

``send`` raises what another try can settle and what is a refusal
(:mod:`cluster.errors`). ``look`` reads the object after an unknown end and gives the
outcome, or None when nothing has happened and sending again is safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cluster.convert import to_v1
from cluster.errors import AlreadyExists, ApiError, Conflict, NotFound, Unreachable
from cluster.objects import bodies, values
from cluster.objects.refusals import Act
from cluster.objects.values import Cause, Expected, Json, text_of

if TYPE_CHECKING:
    from cluster.client import ClusterClient

MANAGER: Final = "dra-portal"
"""Who wrote which field, in ``metadata.managedFields``."""

type Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Target:
    """One object of one server, and what is done to it."""

    client: ClusterClient
    act: Act
    name: str
    dry_run: bool

    @property
    def key(self) -> Key:
        """Kind, namespace, name."""
        return (self.act.served.resource.kind, self.act.namespace, self.name)

    def put(self, method: str, obj: Json) -> Json:
        """POST or PUT a v1 object; the answer in v1 form."""
        name = self.name if method == "PUT" else None
        query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
        if self.dry_run:
            query["dryRun"] = "All"
        body = bodies.as_served(obj, self.act.served)
        path = self.act.served.path(self.act.namespace, name)
        return self._in_v1(self.client.request(method, path, body=body, query=query))

    def remove(self, options: Json) -> Json:
        path = self.act.served.path(self.act.namespace, self.name)
        query = {"dryRun": "All"} if self.dry_run else None
        last = self.client.request("DELETE", path, body=options, query=query)
        return last if last.get("kind") == "Status" else self._in_v1(last)

    def read(self) -> Json | None:
        """The object as it is now, in v1 form; None when there is none."""
        try:
            found = self.client.get(self.act.served, self.act.namespace, self.name)
        except NotFound as error:
            if error.not_served:
                raise
            return None
        return self._in_v1(found)

    def absent(self, error: NotFound) -> values.NotServed | values.Gone:
        kind = self.act.served.resource.kind
        return values.NotServed(kind) if error.not_served else values.Gone(*self.key)

    def changed(self, expected: Expected) -> values.Changed | values.Gone:
        """After a 409: with the object as it is now, where that can be read."""
        try:
            there = self.read()
        except (ApiError, Unreachable):
            return values.Changed(*self.key)
        if there is None:
            return values.Gone(*self.key)
        other = text_of(there, "uid") != expected.uid
        return values.Changed(*self.key, there, replaced=other)

    def _in_v1(self, obj: Json) -> Json:
        served = self.act.served
        kind = served.resource.kind
        return to_v1(obj, kind=kind, api_version=served.api_version)


@dataclass(frozen=True, slots=True)
class Create:
    target: Target
    obj: Json

    def send(self) -> values.CreateOutcome:
        target = self.target
        try:
            stored = target.put("POST", self.obj)
        except AlreadyExists:
            return values.AlreadyExists(*target.key)
        except NotFound as error:
            if error.not_served:
                return values.NotServed(target.act.served.resource.kind)
            message = f"Not found: there is no namespace {target.act.namespace}"
            cause = Cause("metadata.namespace", message, "FieldValueNotFound")
            return values.Invalid(str(error), (cause,), error.code)
        return values.Created(stored, target.dry_run)

    def look(self) -> values.CreateOutcome | None:
        there = self.target.read()
        if there is None:
            return None
        if bodies.says(there, self.obj):
            return values.Created(there, confirmed=True)
        why = "The connection broke, and an object that differs has the name now"
        return values.Unknown(*self.target.key, why, there)


@dataclass(frozen=True, slots=True)
class Update:
    target: Target
    obj: Json
    expected: Expected

    def send(self) -> values.UpdateOutcome:
        try:
            stored = self.target.put("PUT", bodies.expecting(self.obj, self.expected))
        except Conflict:
            return self.target.changed(self.expected)
        except NotFound as error:
            return self.target.absent(error)
        version = text_of(stored, "resourceVersion")
        changed = self.target.dry_run or version != self.expected.resource_version
        return values.Updated(stored, self.target.dry_run, changed=changed)

    def look(self) -> values.UpdateOutcome | None:
        there = self.target.read()
        if there is None:
            return values.Gone(*self.target.key)
        if values.expected_of(there) == self.expected:
            return None
        same = text_of(there, "uid") == self.expected.uid
        if same and bodies.says(there, self.obj):
            return values.Updated(there, confirmed=True)
        return values.Changed(*self.target.key, there, replaced=not same)


@dataclass(frozen=True, slots=True)
class Delete:
    target: Target
    expected: Expected

    def send(self) -> values.DeleteOutcome:
        options: Json = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {
                "uid": self.expected.uid,
                "resourceVersion": self.expected.resource_version,
            },
        }
        try:
            last = self.target.remove(options)
        except Conflict:
            return self.target.changed(self.expected)
        except NotFound as error:
            return self.target.absent(error)
        if last.get("kind") == "Status":
            last = self._gone()
        return self._deleted(last)

    def look(self) -> values.DeleteOutcome | None:
        there = self.target.read()
        if there is None or text_of(there, "uid") != self.expected.uid:
            return values.Deleted(self._gone(), confirmed=True)
        if text_of(there, "deletionTimestamp"):
            return self._deleted(there, confirmed=True)
        if values.expected_of(there) == self.expected:
            return None
        return values.Changed(*self.target.key, there)

    def _deleted(self, last: Json, *, confirmed: bool = False) -> values.Deleted:
        waits: tuple[str, ...] = ()
        if text_of(last, "deletionTimestamp"):
            finalizers = values.meta_of(last).get("finalizers")
            waits = tuple(map(str, finalizers if isinstance(finalizers, list) else ()))
        return values.Deleted(last, self.target.dry_run, confirmed, waits)

    def _gone(self) -> Json:
        """What is left to say of an object that nobody showed us."""
        kind, namespace, name = self.target.key
        meta = {"name": name, "uid": self.expected.uid}
        if namespace:
            meta["namespace"] = namespace
        return {"kind": kind, "metadata": meta}
