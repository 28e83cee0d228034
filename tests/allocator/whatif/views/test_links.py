"""Many pages lead to a scenario that begins with what they show."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from claims.models import ResourceClaim, ResourceClaimTemplate
from inventory.models import Cluster, Device


@pytest.mark.parametrize(
    "page", ["node", "class", "claim", "template", "device", "namespace"]
)
def test_a_page_leads_to_scenarios_that_begin_there(
    page: str, demo: Cluster, browser: Client
) -> None:
    text = browser.get(address(page)).content.decode()
    links = re.findall(r'href="(/c/demo/what-if/\?[^"]+)"', text)
    assert links
    for link in links:
        built = browser.get(link.replace("&amp;", "&"))
        assert built.status_code == 200
        assert "It cannot be run yet" not in built.content.decode()
        assert '<ol class="wi-sentences">' in built.content.decode()


def address(page: str) -> str:
    claim = ResourceClaim.objects.order_by("name")[0]
    template = ResourceClaimTemplate.objects.order_by("name")[0]
    device = Device.objects.order_by("pool", "name")[0]
    return {
        "node": "/c/demo/nodes/gpu-h100-01/",
        "class": "/c/demo/classes/gpu.nvidia.com/",
        "namespace": f"/c/demo/namespaces/{claim.namespace}/",
        "claim": f"/c/demo/claims/{claim.namespace}/{claim.name}/",
        "template": f"/c/demo/templates/{template.namespace}/{template.name}/",
        "device": f"/c/demo/devices/{device.driver}/{device.pool}/{device.name}/",
    }[page]
