"""One request in, one answer out: the API without sockets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from cluster.standin import access, answers, discovery, parameters, reviews, routes
from cluster.standin.access import Access, User
from cluster.standin.answers import (
    StatusError,
    no_such_resource,
)
from cluster.standin.kinds import Serving
from cluster.standin.listing import Listing, Scope, list_objects, read_scope
from cluster.standin.messages import (
    TEXT,
    Answer,
    Request,
    json_answer,
    refusal_answer,
    too_many_requests,
)
from cluster.standin.routes import Route
from cluster.standin.store import Entry, Store, api_version
from cluster.standin.watching import WatchStream, read_options
from cluster.standin.writing import PATCH_TYPES, Caller, Target, Writer

Json = dict[str, Any]
_HEALTH: Final = ("/livez", "/readyz", "/healthz")
_SSAR: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_WHOAMI: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_TRUE: Final = ("true", "1", "")


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a stand-in, in seconds where a time is meant."""

    git_version: str = "v1.36.2"
    bookmark_seconds: float = 60.0
    future_patience: float = 3.0
    """How long a list waits for a resourceVersion of the future."""


class Api:
    """Answers requests from one store."""

    def __init__(
        self, store: Store, serving: Serving, who: Access, options: Options
    ) -> None:
        self._store = store
        self._serving = serving
        self._access = who
        self._options = options
        self._writer = Writer(store)
        self.address = ""
        """host:port, as /api tells it."""

    def handle(self, request: Request) -> Answer | WatchStream:
        """Never raises for what a client does; a refusal is an answer."""
        try:
            return self._handle(request)
        except StatusError as error:
            return refusal_answer(error)

    def _handle(self, request: Request) -> Answer | WatchStream:
        user = self._access.authenticate(
            request.headers.get("authorization", ""),
            parameters.as_utf8(request.headers.get("impersonate-user", "")),
        )
        if user.throttled:
            return too_many_requests(1)
        path = request.path.rstrip("/")
        if route := routes.find(self._serving, path):
            return self._resource(request, route, user)
        if why := access.refuse_path(user, request.method.lower(), path):
            raise why
        if path in _HEALTH:
            return Answer(200, b"ok", TEXT)
        if request.method == "POST" and path in (_SSAR, _WHOAMI):
            sent = parameters.read_json_object(request)
            body = (
                reviews.access_review(user, sent)
                if path == _SSAR
                else reviews.who_am_i(user)
            )
            return json_answer(201, body)
        found = self._discover(path)
        if found is None:
            raise no_such_resource()
        if request.method != "GET":
            raise answers.not_allowed()
        return json_answer(200, found)

    def _discover(self, path: str) -> Json | None:
        parts = path.split("/")[1:]
        if parts == ["version"]:
            return discovery.version(self._options.git_version)
        if parts == ["api"]:
            return discovery.core(self.address)
        if parts == ["apis"]:
            return discovery.groups(self._serving)
        if parts[0] == "api" and len(parts) == 2:
            return discovery.resources(self._serving, "", parts[1])
        if parts[0] == "apis" and len(parts) == 2:
            return discovery.group(self._serving, parts[1])
        if parts[0] == "apis" and len(parts) == 3:
            return discovery.resources(self._serving, parts[1], parts[2])
        return None

    # --- resources --------------------------------------------------------

    def _resource(
        self, request: Request, route: Route, user: User
    ) -> Answer | WatchStream:
        watch = route.watch or (
            "watch" in request.query and request.query["watch"] in _TRUE
        )
        verb = _verb(request.method, route, watch=watch)
        why = access.refusal(
            user, verb, route.kind, route.subresource, route.namespace, route.name
        )
        if why:
            raise why
        if verb in ("list", "watch", "get"):
            parameters.check_accept(request.headers.get("accept", ""))
        handlers: dict[str, Callable[[Request, Route, User], Answer | WatchStream]] = {
            "list": self._list,
            "watch": self._watch,
            "get": self._get,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }
        return handlers[verb](request, route, user)

    def _list(self, request: Request, route: Route, user: User) -> Answer:
        del user
        scope = _scope(request, route)
        listing = list_objects(
            self._store,
            scope,
            request.query,
            patience=self._options.future_patience,
        )
        return Answer(200, _list_body(scope, listing))

    def _watch(self, request: Request, route: Route, user: User) -> WatchStream:
        del user
        scope = _scope(request, route)
        options = read_options(request.query)
        return WatchStream(
            self._store,
            scope,
            options,
            bookmark_seconds=self._options.bookmark_seconds,
        )

    def _get(self, request: Request, route: Route, user: User) -> Answer:
        del request, user
        return _object_answer(200, route, self._writer.read(_target(route)))

    def _create(self, request: Request, route: Route, user: User) -> Answer:
        del user
        target = _target(route)
        dry_run = parameters.dry_run(request, "Create")
        sent = parameters.read_object(request)
        parameters.check_fields(request, route, sent)
        entry = self._writer.create(target, sent, dry_run=dry_run)
        return _object_answer(201, route, entry)

    def _update(self, request: Request, route: Route, user: User) -> Answer:
        dry_run = parameters.dry_run(request, "Update")
        sent = parameters.read_object(request)
        parameters.check_fields(request, route, sent)
        entry = self._writer.replace(
            _target(route), sent, _caller(user, route), dry_run=dry_run
        )
        return _object_answer(200, route, entry)

    def _patch(self, request: Request, route: Route, user: User) -> Answer:
        content_type = parameters.content_type(request)
        if content_type not in PATCH_TYPES:
            raise StatusError(
                415,
                "UnsupportedMediaType",
                "415: Unsupported Media Type",
                details={},
            )
        dry_run = parameters.dry_run(request, "Patch")
        entry = self._writer.patch(
            _target(route),
            parameters.decode(request.body),
            content_type,
            _caller(user, route),
            dry_run=dry_run,
        )
        return _object_answer(200, route, entry)

    def _delete(self, request: Request, route: Route, user: User) -> Answer:
        del user
        dry_run = parameters.dry_run(request, "Delete")
        entry = self._writer.delete(
            _target(route), parameters.delete_options(request), dry_run=dry_run
        )
        return _object_answer(200, route, entry)

    def _delete_collection(self, request: Request, route: Route, user: User) -> Answer:
        del user
        dry_run = parameters.dry_run(request, "Delete")
        scope = _scope(request, route)
        version, deleted = self._writer.delete_collection(
            scope, parameters.delete_options(request), dry_run=dry_run
        )
        return Answer(200, _list_body(scope, Listing(version, deleted)))


def _verb(method: str, route: Route, *, watch: bool) -> str:
    """The verb of RBAC. Raises 405."""
    if method == "GET" and (watch or not route.name):
        return "watch" if watch else "list"
    whole = not route.subresource
    one: dict[str, str] = {"GET": "get", "PUT": "update", "PATCH": "patch"}
    if route.name and method in one:
        return one[method]
    if method == "DELETE" and whole and not (route.every_namespace):
        return "delete" if route.name else "deletecollection"
    if method == "POST" and not route.name and not route.every_namespace:
        return "create"
    raise answers.not_allowed()


def _scope(request: Request, route: Route) -> Scope:
    scope = read_scope(route.kind, route.version, route.namespace, request.query)
    if not route.name:
        return scope
    named = {**request.query, "fieldSelector": f"metadata.name={route.name}"}
    return read_scope(route.kind, route.version, route.namespace, named)


def _target(route: Route) -> Target:
    return Target(
        kind=route.kind,
        version=route.version,
        namespace=route.namespace,
        name=route.name,
        subresource=route.subresource,
    )


def _caller(user: User, route: Route) -> Caller:
    def refuse_binding(verb: str) -> str | None:
        why = access.refusal(user, verb, route.kind, "binding", "", "")
        return why.message if why else None

    return Caller(refuse_binding)


def _object_answer(code: int, route: Route, entry: Entry) -> Answer:
    return Answer(code, entry.whole(route.version))


def _list_body(scope: Scope, listing: Listing) -> bytes:
    meta: Json = {"resourceVersion": str(listing.version)}
    if listing.continue_token:
        meta["continue"] = listing.continue_token
        if listing.remaining is not None:
            meta["remainingItemCount"] = listing.remaining
    head = {
        "kind": f"{scope.kind.name}List",
        "apiVersion": api_version(scope.kind, scope.version),
        "metadata": meta,
    }
    items = b",".join(entry.item(scope.version) for entry in listing.entries)
    return msgspec.json.encode(head)[:-1] + b',"items":[' + items + b"]}"
