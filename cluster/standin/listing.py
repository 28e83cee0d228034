"""Lists: paging, resourceVersion rules, continue tokens.

The rules are the table "Lists" measured on kube-apiserver 1.36: an unset version
is the newest, ``N`` with a limit is the state at N, ``0`` ignores the limit, a
version of the future waits and answers 504.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cluster.standin import answers
from cluster.standin.answers import (
    Cause,
    StatusError,
    bad_request,
    forbidden,
    invalid_options,
)
from cluster.standin.kinds import Kind
from cluster.standin.selectors import Selector, parse
from cluster.standin.store import Entry, Store

Query = Mapping[str, str]

_CONTINUE_FORM: Final = "meta.k8s.io/v1"
_OLD_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the continue parameter, or use the continue "
    "token in this response to retrieve the remainder of the results. Continuing "
    "with the provided token results in an inconsistent list - objects that were "
    "created, modified, or deleted between the time the first chunk was returned "
    "and now may show up in the list."
)
_OLD_VERSION = "The resourceVersion for the provided list is too old."
CONFLICTING: Final = "specifying resource version is not allowed when using continue"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects a list or watch is about; ``version`` is the API version."""

    kind: Kind
    version: str
    namespace: str
    selector: Selector

    def holds(self, entry: Entry) -> bool:
        if self.namespace and entry.namespace != self.namespace:
            return False
        return self.selector.everything or self.selector.matches(entry.body)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page. ``continue_token`` is empty on the last one."""

    version: int
    entries: list[Entry]
    continue_token: str = ""
    remaining: int | None = None


def read_scope(kind: Kind, version: str, namespace: str, query: Query) -> Scope:
    """Raises 400 when a selector cannot be read."""
    selector = parse(
        kind, version, query.get("labelSelector", ""), query.get("fieldSelector", "")
    )
    return Scope(kind, version, namespace, selector)


def read_number(query: Query, name: str) -> int:
    """A whole number of the query, 0 when absent. Raises 400."""
    text = query.get(name, "")
    if not text:
        return 0
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(
            f'strconv.ParseInt: parsing "{text}": invalid syntax'
        ) from error


def list_objects(
    store: Store, scope: Scope, query: Query, *, patience: float
) -> Listing:
    """Answer one list request. Raises the refusals of the table.

    ``patience``: seconds to wait for a resourceVersion of the future.
    """
    limit = max(read_number(query, "limit"), 0)
    token = query.get("continue", "")
    asked = query.get("resourceVersion", "")
    match = query.get("resourceVersionMatch", "")
    _check_options(asked, match, initial="sendInitialEvents" in query)
    if token:
        if asked and asked != "0":
            raise bad_request(CONFLICTING)
        return _continued(store, scope, token, limit)
    wanted = _wanted_version(store, asked, patience)
    if wanted and (match == "Exact" or (limit and not match)):
        entries = store.at(scope.kind, wanted)
        if entries is None:
            raise answers.expired(_OLD_VERSION)
        return _page(scope, wanted, entries, start="", limit=limit)
    version, entries = store.current(scope.kind)
    if asked == "0":
        limit = 0
    return _page(scope, version, entries, start="", limit=limit)


def _check_options(asked: str, match: str, *, initial: bool) -> None:
    wrong: list[Cause] = []
    if match and not asked:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        wrong.append(forbidden("resourceVersionMatch", why))
    if match == "Exact" and asked == "0":
        why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        wrong.append(forbidden("resourceVersionMatch", why))
    if initial:
        why = "sendInitialEvents is forbidden for list"
        wrong.append(forbidden("sendInitialEvents", why))
    if wrong:
        raise invalid_options("ListOptions", wrong)


def _wanted_version(store: Store, asked: str, patience: float) -> int:
    if not asked:
        return 0
    if not asked.isdigit():
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{asked}": '
            f'strconv.ParseUint: parsing "{asked}": invalid syntax'
        )
    wanted = int(asked)
    if not store.reaches(wanted, within=patience):
        raise answers.too_large_version(wanted, store.version)
    return wanted


def _page(
    scope: Scope, version: int, entries: list[Entry], *, start: str, limit: int
) -> Listing:
    """``start`` is the first key wanted; entries come sorted by key."""
    if start:
        entries = entries[_first_at(entries, start) :]
    if scope.namespace or not scope.selector.everything:
        entries = [entry for entry in entries if scope.holds(entry)]
    if not limit or len(entries) <= limit:
        return Listing(version, entries)
    shown = entries[:limit]
    counted = scope.selector.everything
    return Listing(
        version,
        shown,
        continue_token=_token(version, shown[-1].key + "\0"),
        remaining=len(entries) - limit if counted else None,
    )


def _first_at(entries: list[Entry], start: str) -> int:
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if entries[middle].key < start:
            low = middle + 1
        else:
            high = middle
    return low


def _continued(store: Store, scope: Scope, token: str, limit: int) -> Listing:
    version, start = _read_token(token)
    if version < 0:
        newest, entries = store.current(scope.kind)
        return _page(scope, newest, entries, start=start, limit=limit)
    found = store.at(scope.kind, version)
    if found is None:
        raise answers.expired(_OLD_CONTINUE, continue_token=_token(-1, start))
    return _page(scope, version, found, start=start, limit=limit)


def _token(version: int, start: str) -> str:
    text = json.dumps({"v": _CONTINUE_FORM, "rv": version, "start": "/" + start})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, str]:
    try:
        padded = token + "=" * (-len(token) % 4)
        read = json.loads(base64.urlsafe_b64decode(padded.encode()))
        if read["v"] != _CONTINUE_FORM:
            raise _bad_token("server does not recognize this encoded version")
        return int(read["rv"]), str(read["start"]).lstrip("/")
    except (ValueError, TypeError, KeyError, binascii.Error) as error:
        raise _bad_token(str(error)) from error


def _bad_token(why: str) -> StatusError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
