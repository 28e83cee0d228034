"""The editor of a draft: form, text and answer over one text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from claims.authoring.manifests import read
from claims.models import Draft
from inventory.models import Cluster, WatchState
from tests.mirrored import mirror_demo

HTMX = {"HX-Request": "true", "HX-Target": "draft-answer"}
NEW = "/c/demo/claims/new/"
ASK = "spec.devices.requests[0].exactly"
CLAIM = """\
# my claim
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: train
  namespace: team-a
spec:
  devices:
    requests:
    - name: gpu  # the big one
      exactly:
        deviceClassName: gpu.nvidia.com
"""


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def words(page: str) -> str:
    """The text as it is read."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)))


class Editor:
    """A browser with one draft open, as its script posts."""

    new = NEW

    def __init__(self, client: Client, text: str) -> None:
        self.client = client
        answer = client.post(self.new, {"from": "text", "text": text})
        assert answer.status_code == 302, answer.content
        self.address = answer["Location"]
        self.revision = 1
        self.index = self.draft.selected
        self.text = text

    @property
    def draft(self) -> Draft:
        return Draft.objects.get(pk=self.address.split("/")[-2])

    @property
    def value(self) -> Any:
        return read(self.text).documents[self.index].value

    def send(self, step: str = "", text: str = "", **fields: Any) -> Any:
        return self.client.post(
            self.address,
            {
                "text": text or self.text,
                "doc": self.index,
                "revision": self.revision,
                "do": step,
                "touched": json.dumps(list(fields)),
                **fields,
            },
            headers=HTMX,
        )

    def post(
        self, *, step: str = "", text: str = "", fields: dict[str, Any] | None = None
    ) -> str:
        answer = self.send(step, text, **(fields or {}))
        assert answer.status_code == 200, answer.content
        page = str(answer.content.decode())
        state = self.json(page, "draft-state")
        self.text, self.revision = state["text"], state["revision"]
        self.index, self.focus = state["index"], state["focus"]
        return page

    def json(self, page: str, name: str) -> Any:
        found = re.search(rf'<script id="{name}"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert found
        return json.loads(found[1])


@pytest.fixture
def editor(demo: Cluster, viewer: Client) -> Editor:
    return Editor(viewer, CLAIM)


def test_a_draft_opens_with_form_text_and_answer(editor: Editor) -> None:
    page = editor.client.get(editor.address).content.decode()
    assert "# my claim" in page
    assert 'name="spec.devices.requests[0].exactly.deviceClassName"' in page
    assert "Fits now on" in words(page)
    assert "The API server would accept it." in words(page)


def test_a_field_changes_its_value_in_the_text_and_nothing_else(editor: Editor) -> None:
    page = editor.post(fields={f"{ASK}.count": "2"})
    assert (
        editor.text
        == CLAIM.rstrip("\n").replace(
            "gpu.nvidia.com", "gpu.nvidia.com\n        count: 2"
        )
        + "\n"
    )
    assert editor.draft.text == editor.text
    assert "2 free" in words(page) or "match" in words(page)


def test_an_edit_of_the_text_comes_back_in_the_form(editor: Editor) -> None:
    page = editor.post(text=CLAIM.replace("name: train", "name: other"))
    assert 'value="other"' in page
    assert editor.draft.title == "ResourceClaim team-a/other"


def test_what_is_wrong_stands_at_its_field_in_the_answer_and_in_the_text(
    editor: Editor,
) -> None:
    page = editor.post(fields={"spec.devices.requests[0].name": "Big GPU"})
    said = re.search(
        r'id="f-spec-devices-requests-0-name-said"[^>]*>(.*?)</div>', page, re.DOTALL
    )
    assert said
    assert "Invalid value" in said[1]
    assert "The API server would refuse it" in words(page)
    marks = editor.json(page, "yaml-marks")
    assert [(m["line"], m["severity"]) for m in marks] == [(10, "error")]


def test_a_value_that_is_none_stays_in_its_field_and_out_of_the_text(
    editor: Editor,
) -> None:
    page = editor.post(fields={f"{ASK}.count": "many"})
    assert editor.text == CLAIM
    assert 'value="many"' in page
    assert "is not a whole number" in words(page)


def test_a_text_that_cannot_be_read_keeps_every_character(editor: Editor) -> None:
    broken = CLAIM + "  oops: [\n"
    page = editor.post(text=broken)
    assert editor.draft.text == broken
    assert "cannot be read" in words(page)
    assert editor.json(page, "yaml-marks")[0]["severity"] == "error"
    page = editor.post(fields={f"{ASK}.count": "2"})
    assert editor.draft.text == broken
    assert "Repair the text first" in words(page)


def test_a_step_adds_a_request_and_goes_to_its_name(editor: Editor) -> None:
    editor.post(step="add spec.devices.requests")
    assert editor.value["spec"]["devices"]["requests"][1] == {
        "name": "devices",
        "exactly": {"deviceClassName": "gpu.nvidia.com"},
    }
    assert editor.focus == "f-spec-devices-requests-1-name"
    assert "# the big one" in editor.text


def test_a_claim_that_does_not_fit_is_offered_a_change_that_makes_it_fit(
    editor: Editor,
) -> None:
    page = editor.post(fields={f"{ASK}.count": "31"})
    assert "Fits nowhere" in words(page)
    assert f'hx-post="{editor.address}changes/"' in page
    answer = editor.client.post(
        f"{editor.address}changes/", {"text": editor.text, "doc": 0}, headers=HTMX
    )
    changes = answer.content.decode()
    step = re.search(r'name="do" value="(sets [^"]*)"', changes)
    assert step
    assert "instead of 31" in words(changes)
    page = editor.post(step=html.unescape(step[1]))
    assert "Fits now on" in words(page)
    assert "# the big one" in editor.text


def test_advice_comes_with_the_step_that_follows_it(editor: Editor) -> None:
    page = editor.post(fields={f"{ASK}.deviceClassName": "gpu.nvidia.con"})
    step = re.search(r'value="(set spec[^"]*gpu\.nvidia\.com[^"]*)"', page)
    assert step
    editor.post(step=html.unescape(step[1]))
    assert editor.text == CLAIM


def test_a_second_tab_overwrites_nothing(editor: Editor) -> None:
    editor.post(fields={f"{ASK}.count": "2"})
    stored = editor.text
    editor.revision, editor.text = 1, CLAIM
    page = editor.post(fields={f"{ASK}.count": "3"})
    assert "changed elsewhere" in words(page)
    assert editor.draft.text == stored
    editor.post(step="overwrite")
    assert editor.draft.text == editor.text
    assert "count: 3" in editor.text


def test_a_request_that_was_given_up_is_not_taken_for_another_tab(
    editor: Editor,
) -> None:
    mine: dict[str, Any] = {"page": "ab12", "touched": json.dumps([f"{ASK}.count"])}
    for turn, count in ((1, "2"), (2, "3")):
        # The answer to the first never came, so that its revision is not known.
        answer = editor.send(**mine | {f"{ASK}.count": count, "turn": turn})
    page = words(answer.content.decode())
    assert "changed elsewhere" not in page
    assert "count: 3" in editor.draft.text
    late = editor.send(**mine | {f"{ASK}.count": "9", "turn": 1})
    assert "changed elsewhere" in words(late.content.decode())
    assert "count: 3" in editor.draft.text


def test_what_is_typed_into_a_draft_that_was_discarded_elsewhere_can_be_kept(
    editor: Editor,
) -> None:
    Draft.objects.all().delete()
    page = editor.post(fields={f"{ASK}.count": "2"})
    assert "There is no such draft (any more)" in words(page)
    assert 'value="keep"' in page
    assert "count: 2" in editor.text
    assert not editor.json(page, "draft-state")["saved"]
    kept = editor.send("keep")["HX-Redirect"]
    assert kept != editor.address
    assert Draft.objects.get(pk=kept.split("/")[-2]).text == editor.text


STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: team-a}
spec:
  template:
    spec:
      resourceClaims: [{name: g, resourceClaimTemplateName: nowhere}]
      containers: [{name: c, image: x, resources: {claims: [{name: g}]}}]
"""


def test_the_first_sentence_about_a_pod_is_what_is_wrong_with_its_claims(
    demo: Cluster, viewer: Client
) -> None:
    page = words(Editor(viewer, STATEFUL_SET).post())
    first, _, _ = page.partition("Good to know")
    assert "not checked" not in first
    assert "No ResourceClaimTemplate nowhere is in this text" in first


def test_a_number_beyond_all_sizes_is_only_refused(editor: Editor) -> None:
    large = CLAIM + f"        count: {10**26}\n"
    assert "would refuse it" in words(editor.post(text=large))


OLD = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: old, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpu  # mine
      deviceClassName: gpu.nvidia.com
      count: 2
"""


def test_the_layout_of_v1beta1_is_answered_and_rewritten_before_it_has_a_form(
    demo: Cluster, viewer: Client
) -> None:
    editor = Editor(viewer, OLD)
    page = editor.post()
    assert "Fits now on" in words(page)
    said = "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable"
    assert said in words(page)
    assert 'name="spec.devices' not in page
    assert 'value="renew metadata"' in page
    page = editor.post(step="renew metadata")
    assert f'name="{ASK}.count" type="text" inputmode="numeric" value="2"' in page
    assert "apiVersion: resource.k8s.io/v1\n" in editor.text
    assert "- name: gpu  # mine\n      exactly:" in editor.text


def test_a_version_that_is_not_served_is_told_and_replaced(
    demo: Cluster, viewer: Client
) -> None:
    served = "resource.k8s.io/v1beta2"
    Cluster.objects.filter(pk=demo.pk).update(version="v1.33.4")
    WatchState.objects.filter(cluster=demo).update(api_version=served)
    editor = Editor(viewer, CLAIM)
    said = "This cluster does not serve resource.k8s.io/v1 for a ResourceClaim:"
    page = editor.post()
    assert said in words(page)
    assert f"Write {served}" in words(page)
    page = editor.post(step=f'set apiVersion "{served}"')
    assert said not in words(page)
    assert f"apiVersion: {served}\n" in editor.text


def test_enter_in_a_field_presses_the_button_that_only_checks(editor: Editor) -> None:
    page = editor.client.get(editor.address).content.decode()
    buttons = re.findall(r"<button[^>]*>", page)
    mine = [b for b in buttons if 'form="draft"' in b and 'type="submit"' in b]
    assert 'name="do" value=""' in mine[0]


def test_a_draft_is_of_its_user_alone(
    editor: Editor, client_of: Callable[..., Client]
) -> None:
    other = client_of("operator")
    for method in (other.get, other.post):
        assert method(editor.address).status_code == 404
    assert other.get(f"{editor.address}yaml/").status_code == 404


def test_it_works_without_script(editor: Editor) -> None:
    answer = editor.client.post(
        editor.address,
        {
            "text": CLAIM.replace("\n", "\r\n"),
            "doc": 0,
            "revision": 1,
            "source": "form",
            f"{ASK}.count": "2",
            "metadata.name": "train",
        },
    )
    page = answer.content.decode()
    assert "<!doctype html>" in page
    assert "count: 2" in editor.draft.text
    assert "\r" not in editor.draft.text


def test_it_can_be_taken_away_as_a_file(editor: Editor) -> None:
    answer = editor.client.get(f"{editor.address}yaml/")
    assert answer.content.decode() == CLAIM
    assert 'filename="resourceclaim-team-a-train.yaml"' in answer["Content-Disposition"]


def test_a_discarded_draft_is_gone(editor: Editor) -> None:
    answer = editor.client.post(editor.address, {"do": "discard"})
    assert answer["Location"] == NEW
    assert not Draft.objects.exists()


def test_several_documents_are_one_draft(editor: Editor) -> None:
    editor.post(step="document ResourceClaimTemplate")
    assert editor.index == 1
    assert editor.text.startswith(CLAIM)
    page = editor.post(step="select 0")
    assert editor.index == 0
    assert 'value="select 1"' in page
    editor.post(step="remove-document 1")
    assert editor.text == CLAIM


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      resourceClaims:
      - {name: gpu, resourceClaimTemplateName: one-gpu}
      - {name: nic, resourceClaimTemplateName: one-nic}
      containers:
      - name: main
        image: example.com/web:1
        resources:
          claims: [{name: gpu}, {name: nic}]
"""


def template(name: str, class_name: str) -> str:
    return f"""\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: team-a}}
spec:
  spec:
    devices:
      requests:
      - name: one
        exactly: {{deviceClassName: {class_name}}}
"""


def test_a_pasted_deployment_is_asked_about_with_its_templates(
    demo: Cluster, viewer: Client
) -> None:
    text = (
        DEPLOYMENT
        + template("one-gpu", "gpu.nvidia.com")
        + template("one-nic", "rdma.dra.net")
    )
    editor = Editor(viewer, text)
    assert editor.index == 1, "the form shows what has one"
    page = words(viewer.get(editor.address).content.decode())
    assert "Pods of this text" in page
    assert "Deployment web: 3 pods each with" in page
    assert "Fits now on" in page
    page = words(editor.post(step="select 0"))
    assert "There is no form for Deployment" in page
    assert "Fits now on" in page


def test_a_pod_that_names_a_template_which_is_nowhere_says_so(
    demo: Cluster, viewer: Client
) -> None:
    editor = Editor(viewer, DEPLOYMENT + template("one-gpu", "gpu.nvidia.com"))
    page = words(viewer.get(editor.address).content.decode())
    assert "one-nic" in page
    assert "claim missing" in page


ODD_TEXTS = (
    "",
    "[]",
    "just words",
    "{",
    "a: &x [*x]",
    "kind: [ResourceClaim]\n",
    "- 1",
)


def test_any_text_is_a_draft(demo: Cluster, viewer: Client) -> None:
    for text in ODD_TEXTS:
        answer = viewer.post(NEW, {"from": "text", "text": text})
        assert answer.status_code == 302, text
        assert viewer.get(answer["Location"]).status_code == 200, text


def test_a_text_that_no_database_can_hold_is_refused_in_words(
    demo: Cluster, viewer: Client
) -> None:
    answer = viewer.post(NEW, {"from": "text", "text": "a: \x00"}, follow=True)
    assert "NUL character" in words(answer.content.decode())
    assert not Draft.objects.exists()


def test_the_number_of_queries_does_not_grow_with_the_claim(
    editor: Editor, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for _ in range(8):
        editor.post(step="add spec.devices.requests")
    with django_assert_max_num_queries(14):
        editor.post(fields={"metadata.name": "x"})


CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: mine}
spec:
  selectors:
  - cel: {expression: 'device.driver == "%s"'}
---
"""


def test_a_class_of_the_same_text_counts_as_it_is_written_now(
    demo: Cluster, viewer: Client
) -> None:
    claim = CLAIM.replace("gpu.nvidia.com", "mine")
    editor = Editor(viewer, CLASS % "nobody.example" + claim)
    page = words(editor.post(step="select 1"))
    assert "No device matches" in page
    page = words(editor.post(text=CLASS % "gpu.nvidia.com" + claim))
    assert "Fits now on" in page
    page = words(editor.post(text=CLASS % "nobody.example" + claim))
    assert "No device matches" in page


def test_what_kubectl_printed_is_made_a_new_object_at_a_press(
    demo: Cluster, viewer: Client
) -> None:
    printed = CLAIM.replace(
        "  name: train\n",
        '  name: train\n  uid: a-b-c\n  resourceVersion: "17"\n  creationTimestamp: null\n',
    )
    editor = Editor(viewer, printed + "status: {}\n")
    page = editor.post()
    assert "uid, resourceVersion, creationTimestamp, status are its own" in words(page)
    step = re.search(r'value="(sets metadata [^"]*)"', page)
    assert step
    editor.post(step=html.unescape(step[1]))
    assert editor.text == CLAIM


@pytest.mark.parametrize("name", ["a[b]c", "]", "x" * 600, "007"])
def test_a_capacity_whose_name_has_no_path_is_left_to_the_text(
    editor: Editor, name: str
) -> None:
    asked = f'        capacity: {{requests: {{"{name}": 5Gi, memory: 1Gi}}}}\n'
    page = editor.post(text=CLAIM + asked)
    fields = re.findall(r'name="[^"]*\.capacity\.requests\[([^"]*)\]"', page)
    assert fields == ["memory"]
    editor.post(fields={f"{ASK}.capacity.requests[memory]": "2Gi"})
    details = editor.value["spec"]["devices"]["requests"][0]["exactly"]
    assert details["capacity"]["requests"] == {name: "5Gi", "memory": "2Gi"}


def test_a_constraint_may_be_for_one_alternative_of_a_request(editor: Editor) -> None:
    editor.post(step="alternatives spec.devices.requests[0]")
    page = editor.post(step='add spec.devices.constraints "a.b/c"')
    field = "spec.devices.constraints[0].requests"
    offered = re.findall(rf'name="{re.escape(field)}" value="([^"]*)"', page)
    assert [name for name in offered if name] == ["gpu", "gpu/best", "gpu/other"]


def test_pods_are_asked_about_by_the_gates_of_the_cluster(
    demo: Cluster, viewer: Client
) -> None:
    """Before 1.36 no claim is made of extended resources, on the page as over REST."""
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - {name: c, resources: {limits: {nvidia.com/gpu: "1"}}}
"""
    said = "1 pod with extended resources (nvidia.com/gpu)"
    assert said in words(viewer.get(Editor(viewer, pod).address).content.decode())
    Cluster.objects.update(version="v1.34.0")
    editor = Editor(viewer, pod)
    assert said not in words(viewer.get(editor.address).content.decode())
    asked = {"manifest": pod}
    url = "/api/v1/clusters/demo/claims/preview/"
    answer = viewer.post(url, asked, content_type="application/json")
    assert answer.json()["previews"] == []
