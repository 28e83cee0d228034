"""From the editor into a cluster: dry run, create, change, and what others did meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from claims.authoring.manifests import to_text
from claims.mirror import store_for
from claims.models import Draft, ObjectWrite
from tests.claims.services.conftest import (
    Writable,
    claim,
    device_class,
    writable,
    writable_with,
)
from tests.claims.views.editor.test_page import Editor, words

__all__ = ["writable", "writable_with"]

NEW = "/c/lab/claims/new/"


class LabEditor(Editor):
    new = NEW


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


def catch_up(writable: Writable) -> None:
    """What the watch would have brought by now."""
    objects = writable.server.store.objects("ResourceClaim")
    store_for("ResourceClaim", writable.cluster.pk).replace(objects, "2000")


def changing(client: Client, writable: Writable, kind: str, name: str) -> Editor:
    """An editor that was opened to change an object."""
    answer = client.post(
        NEW, {"from": "edit", "kind": kind, "namespace": "lab", "name": name}
    )
    editor = LabEditor.__new__(LabEditor)
    editor.client, editor.address = client, answer["Location"]
    editor.revision, editor.index, editor.text = 1, 0, Draft.objects.get().text
    return editor


def test_a_dry_run_asks_the_server_and_writes_nothing(
    writable: Writable, operator: Client
) -> None:
    editor = LabEditor(operator, to_text(claim("fresh")))
    page = words(editor.post(step="dry-run"))
    assert "Dry run: the API server would take it" in page
    assert writable.stored("fresh") is None
    assert Draft.objects.exists()


def test_create_leads_to_the_claim_and_ends_the_draft(
    writable: Writable, operator: Client
) -> None:
    editor = LabEditor(operator, to_text(claim("fresh")))
    answer = editor.send("create")
    assert (
        answer["HX-Redirect"] == "/c/lab/claims/created/?o=ResourceClaim%2Flab%2Ffresh"
    )
    stored = writable.the("fresh")
    assert stored["metadata"]["annotations"]["dra-portal.io/created-by"] == "a-operator"
    assert not Draft.objects.exists()
    assert [w.outcome for w in ObjectWrite.objects.filter(dry_run=False)] == ["Created"]
    page = operator.get(answer["HX-Redirect"]).content.decode()
    assert "the watch brings it here" in page
    catch_up(writable)
    answer = operator.get(answer["HX-Redirect"])
    assert answer["Location"] == "/c/lab/claims/lab/fresh/"


def test_what_the_server_refuses_stands_at_its_field_and_the_draft_stays(
    writable: Writable, operator: Client
) -> None:
    bad = claim("fresh")
    bad["spec"]["devices"]["requests"][0]["name"] = "Not A Name"
    editor = LabEditor(operator, to_text(bad))
    page = editor.post(step="create")
    assert "spec.devices.requests[0].name" in page
    assert writable.stored("fresh") is None
    assert Draft.objects.get().text == editor.text


def test_a_name_that_is_taken_leaves_a_choice(
    writable: Writable, operator: Client
) -> None:
    editor = LabEditor(operator, to_text(claim("one")))
    page = editor.post(step="create")
    assert "already" in words(page)
    assert 'href="/c/lab/claims/lab/one/"' in page
    editor.post(step="rename")
    assert editor.focus == "f-metadata-name"


def test_several_objects_are_all_tried_before_the_first_is_written(
    writable: Writable, operator: Client
) -> None:
    text = to_text(claim("first")) + "---\n" + to_text(claim("one"))
    editor = LabEditor(operator, text)
    page = words(editor.post(step="create"))
    assert "ResourceClaim one" in page
    assert writable.stored("first") is None
    editor.post(step="select 1")
    editor.post(fields={"metadata.name": "second"})
    answer = editor.send("create")
    assert "first" in answer["HX-Redirect"]
    assert writable.stored("first")
    assert writable.stored("second")


def test_an_object_that_stands_in_the_text_twice_is_not_written_once(
    writable: Writable, operator: Client
) -> None:
    text = to_text(claim("same")) + "---\n" + to_text(claim("same"))
    page = words(LabEditor(operator, text).post(step="create"))
    assert "ResourceClaim same: It is in this text twice, first in line 1." in page
    assert writable.stored("same") is None


def test_an_object_is_changed(writable: Writable, operator: Client) -> None:
    editor = changing(operator, writable, "ResourceClaim", "one")
    text = editor.text.replace("metadata:\n", "metadata:\n  labels: {team: blue}\n", 1)
    editor.post(text=text)
    assert "HX-Redirect" in editor.send("create")
    assert writable.the("one")["metadata"]["labels"] == {"team": "blue"}


def test_a_spec_that_cannot_change_says_so_before_the_server_is_asked(
    writable: Writable, operator: Client
) -> None:
    editor = changing(operator, writable, "ResourceClaim", "one")
    page = words(
        editor.post(
            fields={"spec.devices.requests[0].exactly.deviceClassName": "other"}
        )
    )
    assert "field is immutable" in page


def test_somebody_elses_change_is_seen_and_can_be_saved_over(
    writable: Writable, operator: Client
) -> None:
    editor = changing(operator, writable, "ResourceClaim", "one")
    theirs = writable.the("one")
    theirs["metadata"]["labels"] = {"team": "red"}
    writable.server.store.put(theirs)
    text = editor.text.replace("metadata:\n", "metadata:\n  labels: {team: blue}\n", 1)
    page = editor.post(text=text, step="create")
    assert "was changed by somebody else meanwhile" in words(page)
    assert writable.the("one")["metadata"]["labels"] == {"team": "red"}
    catch_up(writable)
    editor.post(step="onto-newest")
    assert "HX-Redirect" in editor.send("create")
    assert writable.the("one")["metadata"]["labels"] == {"team": "blue"}


def test_an_object_that_was_deleted_meanwhile_can_be_created_anew(
    writable: Writable, operator: Client
) -> None:
    editor = changing(operator, writable, "ResourceClaim", "one")
    writable.server.store.delete("ResourceClaim", "one", "lab")
    page = editor.post(step="create")
    assert "Your text is kept" in words(page)
    editor.post(step="anew")
    assert "HX-Redirect" in editor.send("create")
    assert writable.stored("one")


def test_a_class_is_for_administrators(
    writable: Writable, operator: Client, client_of: Callable[..., Client]
) -> None:
    text = to_text(device_class("new.acme.test"))
    editor = LabEditor(operator, text)
    page = operator.get(editor.address).content.decode()
    assert "This needs the role “admin” and yours is “operator”" in page
    assert editor.send("create").status_code == 403
    assert writable.stored("new.acme.test", "DeviceClass") is None
    Draft.objects.all().delete()
    editor = LabEditor(client_of("admin"), text)
    assert "HX-Redirect" in editor.send("create")
    assert writable.stored("new.acme.test", "DeviceClass")


def test_a_viewer_writes_drafts_and_nothing_else(
    writable: Writable, client_of: Callable[..., Client]
) -> None:
    editor = LabEditor(client_of("viewer"), to_text(claim("fresh")))
    for step in ("create", "dry-run"):
        assert editor.send(step).status_code == 403
    assert writable.stored("fresh") is None


def test_a_cluster_that_is_read_only_says_where_else_to_go(
    writable_with: Callable[..., Writable], operator: Client
) -> None:
    writable = writable_with()
    writable.cluster.read_only = True
    writable.cluster.save()
    editor = LabEditor(operator, to_text(claim("fresh")))
    page = operator.get(editor.address).content.decode()
    assert "read-only here: download the YAML" in page
    assert "read-only" in words(editor.post(step="create"))
    assert writable.stored("fresh") is None
