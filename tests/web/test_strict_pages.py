"""The content security policy forbids inline code and styles: no page may need them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client, RequestFactory

from inventory.models import Cluster, Device, DeviceClass, Node, Pool, ResourceSlice
from tests.mirrored import mirror_demo

FORBIDDEN = {
    "an inline handler": re.compile(r"<[^>]+\son[a-z]+\s*=", re.IGNORECASE),
    "an inline style": re.compile(r"<[^>]+\sstyle\s*=", re.IGNORECASE),
    "a script without nonce": re.compile(
        r"<script(?![^>]*(nonce=|src=))[^>]*>", re.IGNORECASE
    ),
    "a style element": re.compile(r"<style", re.IGNORECASE),
    "an address of another host": re.compile(r'(?:src|href)="(?:https?:)?//'),
    "a script address": re.compile(r'href="javascript:', re.IGNORECASE),
}


@pytest.fixture
def pages(client_of: Callable[..., Client]) -> tuple[Client, list[str]]:
    cluster: Cluster = mirror_demo(nodes=6)
    node = Node.objects.filter(cluster=cluster).order_by("name")[0]
    pool = Pool.objects.filter(cluster=cluster).order_by("-counter_set_count")[0]
    piece = ResourceSlice.objects.filter(cluster=cluster).order_by("name")[0]
    device = Device.objects.filter(cluster=cluster).order_by("-holder_count")[0]
    class_ = DeviceClass.objects.filter(cluster=cluster).order_by("name")[0]
    lists = (
        *("", "nodes/", "pools/", "slices/", "devices/", "facets/", "classes/", "map/"),
        *("taint-rules/", "claims/", "templates/", "pods/", "runs/", "freshness/"),
        *("search/?q=gpu", "cel/", "cel/?expression=device.attributes['x'].y == 1"),
        "cel/?expression=device.driver == 'dra.net'&compare=device.",
    )
    base = f"/c/{cluster.name}/"
    key = f"{device.driver}/{device.pool}/{device.name}"
    device_path = f"devices/{key}/"
    details = (
        *(f"nodes/{node.name}/", f"nodes/{node.name}/?tab=claims"),
        *(f"nodes/{node.name}/?tab=labels", f"nodes/{node.name}/yaml/"),
        *(f"pools/{pool.driver}/{pool.name}/", f"slices/{piece.name}/"),
        f"pools/{pool.driver}/{pool.name}/?tab=counters",
        *(device_path, f"{device_path}yaml/", f"{device_path}classes/"),
        *(f"classes/{class_.name}/", f"classes/{class_.name}/?tab=config"),
        *(f"classes/{class_.name}/terms/", f"cel/device/{key}/?expression=true"),
    )
    others = ["/clusters/", "/tokens/", "/password/", "/nowhere/"]
    return client_of("admin"), [base + path for path in (*lists, *details)] + others


def test_no_page_has_inline_code_or_styles(pages: tuple[Client, list[str]]) -> None:
    client, addresses = pages
    found = []
    for address in addresses:
        response = client.get(address)
        assert response.status_code in {200, 404}, address
        found += [
            (address, what, match[0][:120])
            for what, pattern in FORBIDDEN.items()
            if (match := pattern.search(response.text))
        ]
    assert found == []


def test_the_policy_names_a_nonce_and_scripts_carry_it(
    client_of: Callable[..., Client],
) -> None:
    response = client_of("viewer").get("/tokens/")
    policy = response["Content-Security-Policy"]
    nonces = set(re.findall(r"'nonce-([^']+)'", policy))
    assert len(nonces) == 1
    assert "'unsafe-inline'" not in policy
    assert "'unsafe-eval'" not in policy
    scripts = re.findall(r"<script[^>]*>", response.text)
    assert scripts
    assert all(f'nonce="{next(iter(nonces))}"' in script for script in scripts)


def test_the_theme_comes_from_the_cookie_and_from_nothing_else(
    client_of: Callable[..., Client],
) -> None:
    client = client_of("viewer")
    assert "data-theme" not in client.get("/tokens/").text.split("<head>")[0]
    client.cookies["theme"] = "dark"
    assert '<html lang="en" data-theme="dark">' in client.get("/tokens/").text
    client.cookies["theme"] = '"><script>'
    assert "data-theme" not in client.get("/tokens/").text.split("<head>")[0]


def test_a_failure_of_the_portal_has_a_page_without_the_database(
    rf: RequestFactory,
) -> None:
    from web.errors import bad_request, server_error

    # Of its requests it looks at the address only: the session may be what failed.
    response = server_error(rf.get("/claims/"))
    assert response.status_code == 500
    assert "This is a fault of the portal, not yours" in response.content.decode()
    assert bad_request(rf.get("/claims/"), ValueError("evil")).status_code == 400
