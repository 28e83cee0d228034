"""What happened, as a sentence with links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inventory.choices import Happened
from inventory.models_history import Happening
from web.pages import cells

SHOWN: Final = 8
"""Devices, values and users that one line names."""

type Html = str | SafeString


def timeline_href(cluster: str, kind: str, name: str, namespace: str = "") -> str:
    asked = {"kind": kind, "namespace": namespace, "name": name}
    query = urlencode({key: value for key, value in asked.items() if value})
    return f"{reverse('history', args=[cluster])}?{query}"


def object_link(cluster: str, row: Happening) -> Html:
    """The object, with a link to its page; one that has gone, to its history."""
    if row.what == Happened.DELETED:
        text = f"{row.namespace}/{row.name}" if row.namespace else row.name
        href = timeline_href(cluster, row.kind, row.name, row.namespace)
        return cells.link(href, text, mono=True)
    match row.kind:
        case "ResourceClaim":
            return claim_link(cluster, row.namespace, row.name)
        case "Device":
            return device_link(cluster, row.name)
        case "Node":
            return cells.link(
                reverse("node", args=[cluster, row.name]), row.name, mono=True
            )
        case "DeviceClass":
            href = reverse("class", args=[cluster, row.name])
            return cells.link(href, row.name, mono=True)
        case "DeviceTaintRule":
            href = reverse("taint-rule", args=[cluster, row.name])
            return cells.link(href, row.name, mono=True)
        case _:
            return cells.mono(row.name)


def claim_link(cluster: str, namespace: str, name: str) -> Html:
    href = reverse("claim", args=[cluster, namespace, name])
    return cells.link(href, f"{namespace}/{name}", mono=True)


def device_link(cluster: str, name: str) -> Html:
    """``driver/pool/device``, where a pool's name may hold slashes."""
    driver, _, rest = name.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        return cells.mono(name)
    return cells.link(
        reverse("device", args=[cluster, driver, pool, device]), name, mono=True
    )


def sentence(cluster: str, row: Happening) -> Html:
    """What happened, without the name of the object itself."""
    words = _WORDS.get((row.kind, row.what)) or _ANY.get(row.what)
    if words is None:
        return str(Happened(row.what).label)
    return words if isinstance(words, str) else words(cluster, _own(row))


def _own(row: Happening) -> dict[str, Any]:
    """The detail of a row; what happens to a rule does not name that rule again."""
    detail: dict[str, Any] = row.detail
    if row.kind != "DeviceTaintRule" or "taints" not in detail:
        return detail
    named = f" (rule {row.name})"
    return detail | {"taints": [text.removesuffix(named) for text in detail["taints"]]}


def _created(_cluster: str, detail: dict[str, Any]) -> Html:
    asks = detail.get("asks")
    return f"Created, asking for {asks}." if asks else "Created."


def _allocated(cluster: str, detail: dict[str, Any]) -> Html:
    names = detail.get("devices", [])
    if not names:
        return "Allocated, without a device."
    links = cells.joined(device_link(cluster, name) for name in names[:SHOWN])
    count = detail.get("count", len(names))
    where = format_html(" on {}", _node(cluster, detail)) if detail.get("node") else ""
    return format_html(
        "Allocated {}{}: {}{}.",
        cells.count(count, "device"),
        where,
        links,
        _more(count, min(len(names), SHOWN)),
    )


def _node(cluster: str, detail: dict[str, Any]) -> Html:
    name = detail["node"]
    return cells.link(reverse("node", args=[cluster, name]), name, mono=True)


def _users(verb: str) -> Callable[[str, dict[str, Any]], Html]:
    def words(_cluster: str, detail: dict[str, Any]) -> Html:
        users: Sequence[str] = detail.get("consumers", [])
        if not users:
            return (
                f"{verb[0].upper()}{verb[1:].removesuffix(' by').removesuffix(' for')}."
            )
        shown = ", ".join(users[:SHOWN])
        more = _more(detail.get("count", len(users)), min(len(users), SHOWN))
        return f"{verb[0].upper()}{verb[1:]} {shown}{more}."

    return words


def _taints(before: str) -> Callable[[str, dict[str, Any]], Html]:
    def words(_cluster: str, detail: dict[str, Any]) -> Html:
        return format_html(
            "{}{}.", before, cells.joined(map(cells.mono, detail.get("taints", [])))
        )

    return words


def _hits(verb: str) -> Callable[[str, dict[str, Any]], Html]:
    def words(_cluster: str, detail: dict[str, Any]) -> Html:
        return format_html(
            "{} {}: {}. The history of each of them says so too.",
            verb,
            cells.count(detail.get("count", 0), "device"),
            cells.joined(map(cells.mono, detail.get("taints", []))),
        )

    return words


def _published(_cluster: str, detail: dict[str, Any]) -> Html:
    taints = detail.get("taints")
    return f"Published, tainted: {', '.join(taints)}." if taints else "Published."


def _values(_cluster: str, detail: dict[str, Any]) -> Html:
    values: dict[str, list[str | None]] = detail.get("values", {})
    shown = [
        format_html(
            "{} {} → {}",
            cells.mono(name),
            _value(was),
            _value(now),
        )
        for name, (was, now) in list(values.items())[:SHOWN]
    ]
    more = _more(detail.get("count", len(values)), len(shown))
    return format_html("Changed: {}{}.", cells.joined(shown), more)


def _value(value: str | None) -> str:
    return "nothing" if value is None else f"“{value}”"


def _held(verb: str, looked: str) -> Callable[[str, dict[str, Any]], Html]:
    def words(cluster: str, detail: dict[str, Any]) -> Html:
        namespace, name = detail.get("claim", ["", ""])
        said = looked if detail.get("admin") else verb
        share = " (a share)" if detail.get("share") else ""
        return format_html(
            "{} {}{}.", said, claim_link(cluster, namespace, name), share
        )

    return words


def _parts(_cluster: str, detail: dict[str, Any]) -> Html:
    return f"Changed: {', '.join(detail.get('parts', []))}."


def _more(count: int, shown: int) -> str:
    return f" and {count - shown:,} more" if count > shown else ""


_ANY: Final[dict[str, Any]] = {
    Happened.CREATED: "Created.",
    Happened.DELETED: "Deleted.",
    Happened.CHANGED: "Changed.",
}
_WORDS: Final[dict[tuple[str, str], Any]] = {
    ("ResourceClaim", Happened.CREATED): _created,
    ("ResourceClaim", Happened.ALLOCATED): _allocated,
    ("ResourceClaim", Happened.RESERVED): _users("reserved for"),
    ("ResourceClaim", Happened.STARTED): _users("in use by"),
    ("ResourceClaim", Happened.STOPPED): "No longer in use: its pod ended.",
    ("ResourceClaim", Happened.RELEASED): "Reserved for nobody any more.",
    (
        "ResourceClaim",
        Happened.DEALLOCATED,
    ): "The allocation was taken away: its devices are free for others.",
    ("ResourceClaim", Happened.DELETING): "Somebody asked to delete it.",
    ("Device", Happened.CREATED): _published,
    ("Device", Happened.DELETED): "Vanished: no slice of its pool's newest generation "
    "publishes it.",
    ("Device", Happened.TAINTED): _taints("Tainted: "),
    ("Device", Happened.UNTAINTED): _taints("Taint gone: "),
    ("Device", Happened.CHANGED): _values,
    ("Device", Happened.HELD): _held("Held by", "Looked at with admin access by"),
    ("Device", Happened.LET_GO): _held("Let go by", "No longer looked at by"),
    ("Node", Happened.CREATED): "Joined the cluster.",
    ("Node", Happened.DELETED): "Left the cluster.",
    ("Node", Happened.CORDONED): "Cordoned: no new pods.",
    ("Node", Happened.UNCORDONED): "Uncordoned.",
    ("Node", Happened.READY): "Ready.",
    ("Node", Happened.UNREADY): "Not ready.",
    ("DeviceClass", Happened.CHANGED): _parts,
    ("DeviceTaintRule", Happened.CREATED): _taints("Created: "),
    ("DeviceTaintRule", Happened.CHANGED): _taints("Changed. It says now: "),
    ("DeviceTaintRule", Happened.DELETED): _taints("Deleted. It said: "),
    ("DeviceTaintRule", Happened.TAINTED): _hits("Tainted"),
    ("DeviceTaintRule", Happened.UNTAINTED): _hits("Freed of its taint"),
}
