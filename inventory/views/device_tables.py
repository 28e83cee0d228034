"""The table of devices on the page of what publishes them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from inventory.views import links

DEVICES_SHOWN = 500


def device_table(cluster: str, rows: QuerySet[Any]) -> dict[str, object]:
    """Context of ``inventory/device_table.html``: at most DEVICES_SHOWN devices."""
    found = list(rows[: DEVICES_SHOWN + 1])
    return {
        "devices": [
            (device, links.device_href(cluster, device), links.state_badge(device))
            for device in found[:DEVICES_SHOWN]
        ],
        "more_devices": len(found) > DEVICES_SHOWN,
    }
