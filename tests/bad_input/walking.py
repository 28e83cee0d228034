"""Every page, export and endpoint of a cluster, and every link on them."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import unquote, urlencode

from django.test import Client
from django.urls import Resolver404, resolve, reverse

from claims import models as claims
from inventory import models as inventory
from inventory.models import Cluster

LISTS = (
    "nodes",
    "pools",
    "slices",
    "devices",
    "classes",
    "claims",
    "templates",
    "pods",
    "taint-rules",
    "runs",
)
# The one that is listed, and some that others link to; pages of the rest differ in a name.
OF_ONE_POOL = 3
_LINK = re.compile(r'(?:href|hx-get)="([^"]+)"')
_NOT_WALKED = ("/events/", "/logout", "/admin/", "/static/", "/api/v1/docs", "/login")


def walk(
    client: Client, cluster: Cluster, *, most: int = 4000
) -> dict[str, int | Exception]:
    """Status or exception of each address, those that pages link to included.

    Of each page of a pool's devices ``OF_ONE_POOL`` are asked.
    ``most`` bounds the number of requests.
    """
    asked: dict[str, int | Exception] = {}
    known: set[str] = set()
    of_pools: Counter[tuple[str, ...]] = Counter()
    waiting: deque[str] = deque()

    def ask_later(address: str) -> None:
        if address in known:
            return
        known.add(address)
        if pool := pool_of_device_page(address):
            of_pools[pool] += 1
        if not pool or of_pools[pool] <= OF_ONE_POOL:
            waiting.append(address)

    for address in addresses(cluster):
        ask_later(address)
    while waiting and len(asked) < most:
        address = waiting.popleft()
        try:
            asked[address], text = look(client, address)
        # A view may raise anything; the others are asked all the same.
        except Exception as error:
            asked[address], text = error, ""
        for link in links(text):
            # Filters and orders of lists make endless addresses.
            if "?" not in link or "?tab=" in link:
                ask_later(link)
    return asked


def pool_of_device_page(address: str) -> tuple[str, ...]:
    """What the page has in common with those of the pool's other devices, or ()."""
    path, _, query = address.partition("?")
    try:
        found = resolve(unquote(path))
    except Resolver404:
        return ()
    if "device" not in found.kwargs:
        return ()
    return (str(found.url_name), query, found.kwargs["driver"], found.kwargs["pool"])


def look(client: Client, address: str) -> tuple[int, str]:
    """Status and HTML ("" for anything else) of one address, read to its end."""
    response = client.get(address)
    body = response.getvalue()
    if not response.get("Content-Type", "").startswith("text/html"):
        return response.status_code, ""
    return response.status_code, body.decode()


def links(html: str) -> Iterator[str]:
    for found in _LINK.findall(html):
        link = unescape(found).partition("#")[0]
        if link.startswith("/") and not link.startswith(_NOT_WALKED):
            yield link


def addresses(cluster: Cluster) -> Iterator[str]:
    """Lists in all forms, the page and YAML of every row, searches, endpoints."""
    here = cluster.name
    yield from (reverse("clusters"), reverse("overview", args=[here]))
    yield reverse("overview-classes", args=[here])
    yield reverse("device-map", args=[here])
    yield reverse("device-facets", args=[here])
    for name in LISTS:
        page = reverse(name, args=[here])
        yield from (page, f"{page}?format=csv", f"{page}?format=json")
        yield f"/api/v1/{name}/?{urlencode({'cluster': here})}"
    yield f"/api/v1/clusters/{here}/"
    for page, keys in rows_of(cluster).items():
        for key in keys:
            yield reverse(page, args=[here, *key])
            yield reverse(f"{page}-yaml", args=[here, *key])
    for claim in claims.ResourceClaim.objects.filter(cluster=cluster, problem=""):
        yield reverse("claim-why", args=[here, claim.namespace, claim.name])
    for text in ("odd", "%2F", "\x00", "\ud83d", "b"):
        asked = urlencode({"q": text}, errors="replace")
        yield f"{reverse('search', args=[here])}?{asked}"
        yield f"{reverse('devices', args=[here])}?{asked}"


def rows_of(cluster: Cluster) -> dict[str, Iterable[tuple[str, ...]]]:
    """URL name of a page → the keys of its rows."""

    def keys(model: type, *columns: str) -> Iterable[tuple[str, ...]]:
        rows = model._default_manager.filter(cluster=cluster)  # type: ignore[attr-defined]  # a model
        found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for key in sorted(set(rows.values_list(*columns))):
            found.setdefault(key[:-1], []).append(key)
        # Of the devices of one pool one is enough.
        of_each = 1 if model is inventory.Device else 10_000
        return [key for those in found.values() for key in those[:of_each]]

    return {
        "node": keys(inventory.Node, "name"),
        "pool": keys(inventory.Pool, "driver", "name"),
        "slice": keys(inventory.ResourceSlice, "name"),
        "device": keys(inventory.Device, "driver", "pool", "name"),
        "class": keys(inventory.DeviceClass, "name"),
        "claim": keys(claims.ResourceClaim, "namespace", "name"),
        "template": keys(claims.ResourceClaimTemplate, "namespace", "name"),
        "pod": keys(claims.Pod, "namespace", "name"),
        "taint-rule": keys(inventory.DeviceTaintRule, "name"),
    }


def assert_all_answer(client: Client, cluster: Cluster) -> None:
    """Own rows answer 200; what pages link to answers 200, or 404 when it is gone."""
    own = set(addresses(cluster))
    found = walk(client, cluster)
    bad = {a: s for a, s in found.items() if s not in (200, 302, 404)}
    assert not bad, "\n".join(f"{a}: {s!r}" for a, s in bad.items())
    assert [a for a, s in found.items() if s == 404 and a in own] == []
