"""Writing a claim: from blank to the cluster, with the form, the text and the keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_allocating import api
from tests.running_demo import Demo

pytestmark = pytest.mark.browser

DEPLOYMENT = """\
# web, with a card and a port for every pod
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      resourceClaims:
      - {name: gpu, resourceClaimTemplateName: web-gpu}
      - {name: nic, resourceClaimTemplateName: web-nic}
      containers:
      - name: main
        image: example.com/web:1
        resources:
          claims: [{name: gpu}, {name: nic}]
"""
TEMPLATE = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: web-%s, namespace: team-a}
spec:
  spec:
    devices:
      requests:
      - name: one
        exactly:
          deviceClassName: %s
"""


def begin(page: Page, demo: Demo, kind: str = "Claim") -> None:
    page.goto(f"{demo.address}/c/demo/claims/")
    page.get_by_role("link", name="New claim").click()
    page.get_by_role("button", name=kind, exact=True).click()
    opened(page)


def opened(page: Page) -> None:
    """The editor is there, and so are its scripts."""
    expect(page.locator("#draft-sentence")).to_be_visible()
    page.wait_for_load_state()


def saved(page: Page) -> None:
    """The last keystroke has been answered."""
    expect(page.locator("#draft:not([data-pending])")).to_be_attached()
    expect(page.locator("html")).not_to_have_class(re.compile("busy"))


def sentence(page: Page, text: str) -> None:
    expect(page.locator("#draft-sentence")).to_contain_text(text)


def write_yaml(page: Page, field: str, text: str) -> None:
    """As a paste does, in one go."""
    page.locator(field).evaluate(
        "(field, text) => { field.value = text;"
        " field.dispatchEvent(new Event('input', {bubbles: true})); }",
        text,
    )


def yaml(page: Page) -> str:
    return str(page.locator("#draft-text").input_value())


def request_card(page: Page, number: int) -> str:
    return f"#f-spec-devices-requests-{number}"


def test_a_claim_for_a_gpu_and_a_nic_is_written_changed_until_it_fits_and_created(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    page.get_by_label("Namespace").fill("team-a")
    page.get_by_label("Name", exact=True).first.fill("near")
    gpu, nic = request_card(page, 0), request_card(page, 1)
    page.locator(f"{gpu}-name").fill("gpu")
    page.locator(f"{gpu}-exactly-deviceClassName").fill("gpu.nvidia.com")
    sentence(page, "Fits now on")
    expect(page.locator(gpu)).to_contain_text("match")

    page.get_by_role("button", name="Add a request").click()
    expect(page.locator(f"{nic}-name")).to_be_focused()
    page.locator(f"{nic}-name").fill("nic")
    page.locator(f"{nic}-exactly-deviceClassName").fill("rdma.dra.net")
    sentence(page, "Fits now on")

    page.get_by_role("button", name="Add a constraint").click()
    attribute = page.get_by_label("Attribute", exact=True)
    expect(attribute).to_be_focused()
    sentence(page, "would refuse it")
    attribute.fill("resource.kubernetes.io/numaNode")
    sentence(page, "Fits now on")
    assert "matchAttribute: resource.kubernetes.io/numaNode" in yaml(page)

    page.locator(f"{gpu}-exactly-count").fill("8")
    sentence(page, "Fits nowhere")
    change = page.locator("#draft-changes").get_by_role("button", name="Apply").first
    change.click()
    sentence(page, "Fits now on")
    expect(page.locator(f"{gpu}-exactly-count")).not_to_have_value("8")

    page.get_by_role("button", name="Dry run").click()
    expect(page.locator("#draft-outcome")).to_contain_text("Nothing was written")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url(re.compile(r"/claims/team-a/near/$"))
    expect(page.get_by_role("heading", name="team-a/near")).to_be_visible()
    stored = api(demo, "claims/demo/team-a/near/")
    assert [r["name"] for r in stored["requests"]] == ["gpu", "nic"]


def test_a_pasted_deployment_with_two_templates_is_asked_about_as_a_whole(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/claims/new/")
    text = DEPLOYMENT + TEMPLATE % ("gpu", "gpu.nvidia.com")
    write_yaml(page, "#paste", text + TEMPLATE % ("nic", "rdma.dra.net"))
    page.get_by_role("button", name="Open it").click()
    expect(page.locator(".ed-documents button")).to_have_count(3)
    pods = page.locator(".ed-pods")
    expect(pods).to_contain_text("Deployment web: 2 pods each with")
    expect(pods).to_contain_text("Fits now on")
    page.locator(request_template(0)).fill("gpu.nvidia.con")
    expect(pods).not_to_contain_text("Fits now on")
    assert yaml(page).startswith("# web, with a card"), "comments stay"
    page.get_by_role("button", name="Write gpu.nvidia.com").first.click()
    expect(pods).to_contain_text("Fits now on")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url(re.compile(r"/claims/created/"))
    expect(page.get_by_role("link", name="team-a/web-nic")).to_be_visible()
    expect(page.get_by_text("Not written from here: Deployment web")).to_be_visible()


def request_template(number: int) -> str:
    return f"#f-spec-spec-devices-requests-{number}-exactly-deviceClassName"


def test_form_and_text_follow_each_other(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.get_by_role("tab", name="YAML").click()
    write_yaml(
        page,
        "#draft-text",
        "# mine\n"
        + yaml(page).replace("name: my-claim", "name: typed").replace('""', "dra.cpu"),
    )
    saved(page)
    page.get_by_role("tab", name="Form").click()
    name = page.get_by_label("Name", exact=True).first
    expect(name).to_have_value("typed")
    name.press("End")
    name.press_sequentially("-on", delay=120)
    expect(name).to_be_focused()
    expect(name).to_have_value("typed-on")
    saved(page)
    assert yaml(page).startswith("# mine\n")
    assert "name: typed-on" in yaml(page)
    page.reload()
    expect(page.get_by_label("Name", exact=True).first).to_have_value("typed-on")


def test_an_error_leads_to_its_field_and_to_its_line(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.get_by_label("Name", exact=True).first.fill("Not A Name")
    sentence(page, "would refuse it")
    name = page.get_by_label("Name", exact=True).first
    expect(name).to_have_attribute("aria-invalid", "true")
    page.locator("#draft-answer").get_by_role("button", name="metadata.name").click()
    expect(name).to_be_focused()
    page.get_by_role("tab", name="YAML").click()
    expect(page.locator("#ed-text-pane .cm-lintRange-error").first).to_be_visible()


def test_alternatives_are_put_in_order_with_the_keyboard(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    saved(page)
    page.get_by_role("button", name="Offer alternatives").press("Enter")
    other = page.locator("#f-spec-devices-requests-0-firstAvailable-1-deviceClassName")
    expect(other).to_be_focused()
    other.fill("mig.nvidia.com")
    sentence(page, "Fits now on")
    page.get_by_role("button", name="Move the alternative up").nth(1).press("Enter")
    first = page.locator("#f-spec-devices-requests-0-firstAvailable-0-deviceClassName")
    expect(first).to_have_value("mig.nvidia.com")
    assert yaml(page).index("mig.nvidia.com") < yaml(page).index("gpu.nvidia.com")


def test_alternatives_are_dragged_into_order(page: Page, demo: Demo) -> None:
    begin(page, demo)
    page.get_by_role("button", name="Offer alternatives").click()
    items = page.locator(".ed-alternative")
    expect(items).to_have_count(2)
    items.nth(1).locator(".ed-grip").drag_to(items.nth(0))
    expect(items.nth(0).locator("h3")).to_contain_text("other")


def test_a_name_that_is_taken_leaves_a_choice_and_the_draft(
    page: Page, demo: Demo
) -> None:
    begin(page, demo)
    page.get_by_label("Namespace").fill("team-a")
    page.get_by_label("Name", exact=True).first.fill("train-4gpu")
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    sentence(page, "Fits now on")
    page.get_by_role("button", name="Create", exact=True).click()
    outcome = page.locator("#draft-outcome")
    expect(outcome).to_contain_text("already")
    expect(outcome.get_by_role("link", name="Look at the one")).to_be_visible()
    outcome.get_by_role("button", name="Choose another name").click()
    expect(page.get_by_label("Name", exact=True).first).to_be_focused()


def test_an_object_is_changed_and_a_change_that_came_between_is_seen(
    page: Page, demo: Demo
) -> None:
    page.goto(f"{demo.address}/c/demo/classes/gpu.nvidia.com/")
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("heading", name="Change DeviceClass")).to_be_visible()
    extended = page.get_by_label("Extended resource name")
    extended.fill("nvidia.com/gpu-of-this-test")
    saved(page)
    page.get_by_role("button", name="Save to the cluster").click()
    page.wait_for_url(re.compile(r"/classes/gpu.nvidia.com/$"))
    expect(page.get_by_text("nvidia.com/gpu-of-this-test").first).to_be_visible()


def test_nothing_scrolls_sideways_and_each_part_is_a_tab_on_a_narrow_screen(
    page: Page, demo: Demo
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.emulate_media(color_scheme="dark")
    begin(page, demo)
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    sentence(page, "Fits now on")
    for tab in ("Form", "YAML", "Answer"):
        page.get_by_role("tab", name=tab).click()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 400, tab
    expect(page.get_by_text("it would get")).to_be_visible()


def test_it_can_be_used_without_scripts(plain: Page, demo: Demo) -> None:
    page = plain
    begin(page, demo)
    page.locator(f"{request_card(page, 0)}-exactly-deviceClassName").fill(
        "gpu.nvidia.com"
    )
    page.get_by_role("button", name="Apply the form").click()
    sentence(page, "Fits now on")
    assert (
        "deviceClassName: gpu.nvidia.com" in page.locator("#draft-text").input_value()
    )
