"""Deleting from the pages: what is said before, and that only what was seen is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from cluster.standin.access import Rule, User
from tests.claims.services.conftest import Writable, claim

FINALIZER = "resource.kubernetes.io/delete-protection"
ONE = "/c/lab/claims/lab/one/delete/"
CLASS = "/c/lab/classes/gpu.acme.test/delete/"
TEMPLATE = "/c/lab/templates/lab/t1/delete/"


def used(name: str, *pods: str, **meta: Any) -> Any:
    """A claim that holds a device and is reserved for ``pods``."""
    result = {"request": "gpu", "driver": "acme.test", "pool": "n1", "device": "gpu-0"}
    made = claim(name, **meta)
    made["status"] = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [
            {"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in pods
        ],
    }
    return made


def pod(name: str, claim_name: str) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "lab", "name": name, "uid": f"uid-{name}"},
        "spec": {
            "nodeName": "n1",
            "resourceClaims": [{"name": "gpu", "resourceClaimName": claim_name}],
        },
        "status": {"phase": "Running"},
    }


TEMPLATE_OBJECT = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"namespace": "lab", "name": "t1"},
    "spec": {"spec": claim()["spec"]},
}
OBJECTS = [
    used("held", finalizers=[FINALIZER]),
    used("busy", "p1", "p2", finalizers=[FINALIZER, "acme.test/tidy"]),
    used("bare", "p1"),
    claim("leaving", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"]),
    claim(
        "made",
        ownerReferences=[
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": "p9",
                "uid": "u9",
                "controller": True,
            }
        ],
    ),
    pod("p1", "busy"),
    TEMPLATE_OBJECT,
]


@pytest.fixture
def writable_with(
    tmp_path: Path, settings: Any, db: None
) -> Iterator[Callable[..., Writable]]:
    made: list[Writable] = []

    def make(**how: Any) -> Writable:
        made.append(Writable(tmp_path, settings, more=OBJECTS, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def writable(writable_with: Callable[..., Writable]) -> Writable:
    return writable_with()


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def seen(obj: Any) -> dict[str, str]:
    meta = obj["metadata"]
    return {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}


# --- before -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("one", "It goes at once."),
        (
            "held",
            "It goes as soon as the cluster&#x27;s controller has taken its allocation "
            "back, and the 1 device that it holds can be used again.",
        ),
        (
            "busy",
            "goes when its last consumer has ended: 2 consumers still use it.",
        ),
        ("bare", "It goes at once, although 1 consumer still uses it."),
        ("bare", "It has no delete-protection"),
        (
            "made",
            "It was made for the pod p9 and goes with it: delete the pod instead.",
        ),
        ("leaving", "It is being deleted already. It waits for: a/b."),
    ],
)
def test_the_page_of_a_claim_says_first_what_happens(
    writable: Writable, operator: Client, name: str, says: str
) -> None:
    assert says in page(operator, f"/c/lab/claims/lab/{name}/delete/")


def test_consumers_come_with_their_state_and_finalizers_with_their_meaning(
    writable: Writable, operator: Client
) -> None:
    text = page(operator, "/c/lab/claims/lab/busy/delete/")
    assert '>p1</a>: running on <a class="mono" href="/c/lab/nodes/n1/">' in text
    assert "pod p2: gone: the controller will remove its reservation" in text
    assert "after the last consumer has ended" in text
    assert "acme.test/tidy" in text
    assert ">gpu-0</a>" in text


def test_what_is_being_deleted_already_has_no_button(
    writable: Writable, operator: Client
) -> None:
    text = page(operator, "/c/lab/claims/lab/leaving/delete/")
    assert "Delete the claim</button>" not in text
    assert "Delete the claim</button>" in page(operator, ONE)


def test_the_pages_of_template_and_class_say_who_refers_to_it(
    writable: Writable, operator: Client, client_of: Callable[..., Client]
) -> None:
    text = page(operator, TEMPLATE)
    assert "It goes at once. No claim was made from it." in text
    text = page(client_of("admin"), CLASS)
    assert (
        "2 claims that wait ask for it and cannot be allocated until there is a class "
        "of this name again." in text
    )
    assert "3 claims of this class hold devices and keep them." in text
    assert "1 template asks for it" in text
    assert ">lab/busy</a>" in text
    assert ">lab/t1</a>" in text


def test_the_page_says_in_whose_name_it_happens(
    writable: Writable, operator: Client
) -> None:
    assert "The portal&#x27;s own account deletes it" in page(operator, ONE)
    writable.enter(", impersonate: true")
    assert "The API server sees the user a-operator" in page(operator, ONE)


def test_a_read_only_cluster_offers_no_button_and_a_reason(
    writable: Writable, operator: Client
) -> None:
    writable.cluster.read_only = True
    writable.cluster.save()
    text = page(operator, ONE)
    assert "is read-only here" in text
    assert "Delete the claim</button>" not in text
    assert ONE not in page(operator, "/c/lab/claims/lab/one/")
    answer = operator.post(ONE, seen(writable.the()))
    assert answer.status_code == 409
    assert writable.stored("one") is not None


# --- doors ----------------------------------------------------------------------------


def test_only_who_may_delete_sees_the_button_and_the_page(
    writable: Writable, operator: Client, client_of: Callable[..., Client]
) -> None:
    viewer, admin = client_of("viewer"), client_of("admin")
    for path in (ONE, TEMPLATE):
        around = path.removesuffix("delete/")
        assert path not in page(viewer, around)
        assert path in page(operator, around)
        assert viewer.get(path).status_code == 403
        assert viewer.post(path, seen(writable.the())).status_code == 403
    assert CLASS not in page(operator, CLASS.removesuffix("delete/"))
    assert CLASS in page(admin, CLASS.removesuffix("delete/"))
    assert operator.get(CLASS).status_code == 403
    gpu = writable.the("gpu.acme.test", "DeviceClass")
    assert operator.post(CLASS, seen(gpu)).status_code == 403
    assert admin.post(CLASS, seen(gpu)).status_code == 302
    assert writable.stored("gpu.acme.test", "DeviceClass") is None
    assert writable.stored("one") is not None


def test_what_is_not_there_is_404(writable: Writable, operator: Client) -> None:
    assert operator.get("/c/lab/claims/lab/none/delete/").status_code == 404
    assert operator.get("/c/none/claims/lab/one/delete/").status_code == 404
    assert operator.post("/c/none/claims/lab/one/delete/").status_code == 404


# --- after ----------------------------------------------------------------------------


def test_the_button_deletes_and_leads_to_the_list_with_a_message(
    writable: Writable, operator: Client
) -> None:
    text = page(operator, ONE)
    form = seen(writable.the())
    for name, value in form.items():
        assert f'name="{name}" value="{value}"' in text
    answer = operator.post(ONE, form, follow=True)
    assert answer.redirect_chain == [("/c/lab/claims/", 302)]
    assert "Deleted the claim lab/one." in answer.content.decode()
    assert writable.stored("one") is None
    answer = operator.post(ONE, form, follow=True)
    assert "is not there (any more)" in answer.content.decode()


def test_what_waits_for_a_finalizer_is_said_to_wait(
    writable: Writable, operator: Client
) -> None:
    path = "/c/lab/claims/lab/busy/delete/"
    answer = operator.post(path, seen(writable.the("busy")), follow=True)
    assert "Marked the claim lab/busy for deletion." in answer.content.decode()
    assert writable.the("busy")["metadata"]["deletionTimestamp"]


def test_what_was_changed_meanwhile_is_not_deleted(
    writable: Writable, operator: Client
) -> None:
    form = seen(writable.the())
    writable.server.store.put(claim("one", labels={"a": "b"}))
    answer = operator.post(ONE, form)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "It was not deleted." in text
    assert "was changed by somebody else meanwhile" in text
    assert f'href="{ONE}"' in text


def test_a_new_object_of_the_name_is_not_deleted_by_mistake(
    writable: Writable, operator: Client
) -> None:
    form = seen(writable.the())
    writable.server.store.put(claim("one", uid="another"))
    answer = operator.post(ONE, form)
    assert answer.status_code == 409
    assert "a new one has taken its name" in answer.content.decode()
    assert writable.stored("one") is not None


@pytest.mark.parametrize(
    "form", [{}, {"uid": "u"}, {"uid": "u", "resource_version": "x"}]
)
def test_a_form_that_does_not_say_what_was_seen_deletes_nothing(
    writable: Writable, operator: Client, form: dict[str, str]
) -> None:
    assert operator.post(ONE, form).status_code == 422
    assert writable.stored("one") is not None


def test_a_missing_right_is_shown_with_its_grant(
    writable_with: Callable[..., Writable], operator: Client
) -> None:
    looks = Rule(("get", "list"), ("*",))
    writable = writable_with(users={"t": User("portal", (looks,))}, token="t")
    answer = operator.post(ONE, seen(writable.the()))
    assert answer.status_code == 403
    assert "kubectl create role dra-portal-resourceclaims" in answer.content.decode()


def test_an_api_server_that_is_away_is_a_page_and_not_a_crash(
    writable: Writable, operator: Client
) -> None:
    form = seen(writable.the())
    writable.server.stop()
    answer = operator.post(ONE, form)
    assert answer.status_code == 503
    assert "It was not deleted." in answer.content.decode()
