"""An expression on one device, and CEL on pages of other things."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from inventory.models import Cluster
from tests.claims.cel_lab import (
    BIG,
    BOTH,
    MODEL_B,
    device,
    diagnostics,
    links,
    page,
    rows,
    sentence,
    terms,
    text_of,
)
from tests.inventory.views.conftest import named, slice_
from tests.mirrored import mirror, mirror_demo

# --- one device ------------------------------------------------------------------


def explained(client: Client, name: str, expression: str = "") -> str:
    query = urlencode({"expression": expression}) if expression else ""
    return page(client, f"/c/lab/cel/device/d.example/p1/{name}/?{query}")


def test_every_part_is_shown_with_its_value_on_one_device(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "a16", BOTH)
    assert sentence(html) == "The device does not match."
    steps = html[html.index('class="cel-steps"') :]
    said = text_of(steps)
    assert f"{MODEL_B} false decides bool" in said
    assert '"A" string' in said
    assert re.search(r'<tr class="skipped">\s*<td class="cel-step depth-1">', steps)
    assert "not evaluated" in said


def test_a_device_without_an_answer_says_what_is_there_instead(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "b16", "device.attributes['d.example'].modle == 'B'")
    assert "no such key: modle" in sentence(html)
    assert '{"model": "B"}' in text_of(html)


def test_without_an_expression_it_shows_what_the_device_publishes(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "b16")
    tried = next(href for href in links(html, "memory"))
    assert "The device matches." in page(
        viewer, f"/c/lab/cel/device/d.example/p1/b16/{tried}"
    )


def test_a_refused_expression_is_told_on_the_page_of_one_device(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(
        viewer, "b16", "device.attributes['d.example'].model > semver('1.0.0')"
    )
    assert sentence(html) == "The API server would refuse it."
    assert diagnostics(html)[0]["severity"] == "error"


def test_a_device_that_is_gone_is_a_clear_404(lab: Cluster, viewer: Client) -> None:
    gone = viewer.get("/c/lab/cel/device/d.example/p1/nope/")
    assert gone.status_code == 404
    assert "any more" in gone.content.decode()


# --- other pages -------------------------------------------------------------------


def test_the_page_of_a_class_counts_every_term(lab: Cluster, viewer: Client) -> None:
    html = page(viewer, "/c/lab/classes/big.example/terms/")
    assert "True on 2, false on 3 of 5 devices." in text_of(html)
    assert len(terms(html)) == 2
    for href in links(html, "excludes"):
        assert rows(page(viewer, href)) == ["b16", "a16"]
    assert "/c/lab/classes/big.example/terms/" in page(
        viewer, "/c/lab/classes/big.example/"
    )


def test_a_class_whose_selector_fails_says_on_how_many_devices(
    viewer: Client, db: None
) -> None:
    spec = {"selectors": [{"cel": {"expression": MODEL_B}}]}
    mirror(
        [
            slice_("s", [device("a"), device("b", model="B")]),
            named("DeviceClass", "c", spec),
        ],
        name="lab",
    )
    said = text_of(page(viewer, "/c/lab/classes/c/terms/"))
    assert (
        "No answer on 1 device: no such key: model (first on d.example/p1/a)." in said
    )


def test_a_change_of_a_class_is_tried_on_all_devices(
    lab: Cluster, viewer: Client
) -> None:
    html = page(viewer, "/c/lab/classes/big.example/")
    (href,) = links(html, "Try a change")
    assert sentence(page(viewer, href)) == "Matches 2 of 5 devices."


def test_a_class_with_several_selectors_is_tried_as_one_expression(
    viewer: Client, db: None
) -> None:
    chain = ["device.driver == 'd.example' // ours", "true || false"]
    spec = {"selectors": [{"cel": {"expression": text}} for text in chain]}
    mirror([slice_("s", [device("a")]), named("DeviceClass", "c", spec)], name="lab")
    (href,) = links(page(viewer, "/c/lab/classes/c/"), "Try a change")
    assert sentence(page(viewer, href)) == "Matches the only device."


def test_selectors_of_claims_and_templates_open_in_cel_within_their_class(
    viewer: Client, db: None
) -> None:
    mirror_demo()
    for path in ("claims/research/any-accelerator/", "templates/inference/mig-small/"):
        href = links(page(viewer, f"/c/demo/{path}"), "Open in CEL")[-1]
        assert parse_qs(urlsplit(href).query)["class"] == ["mig.nvidia.com"]
        assert "devices of class mig.nvidia.com" in sentence(page(viewer, href))


def test_a_device_names_the_first_false_term_of_each_class(
    lab: Cluster, viewer: Client
) -> None:
    said = text_of(page(viewer, "/c/lab/devices/d.example/p1/a16/classes/"))
    assert f"big.example no {BIG} Explain" in said
    said = text_of(page(viewer, "/c/lab/devices/d.example/p1/bare/classes/"))
    assert "big.example no has(device.capacity['d.example'].memory) Explain" in said
