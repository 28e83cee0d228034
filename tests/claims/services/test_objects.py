"""Writing objects for somebody: in whose name, where not at all, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User as PortalUser
from django.utils import timezone

from claims.choices import Verb
from claims.models import ObjectWrite
from claims.services import objects, record
from claims.services.objects import CREATED_BY, UPDATED_BY, ReadOnly
from cluster.objects import Created, Deleted, Forbidden, Invalid, Updated, expected_of
from cluster.standin.access import Rule, User
from inventory.choices import Source
from tests.claims.services.conftest import Writable, claim, device_class
from web.doors import Role

LOOKS = Rule(("get", "list", "watch"), ("*",))
ALL = Rule(("*",), ("*",))


@pytest.fixture
def ada(person: Callable[..., PortalUser]) -> PortalUser:
    return person("operator", "ada")


def notes(obj: Any) -> dict[str, str]:
    return dict(obj["metadata"].get("annotations", {}))


def test_the_portal_s_own_account_leaves_the_user_s_name_on_the_object(
    writable: Writable, ada: PortalUser
) -> None:
    outcome = objects.create(writable.cluster, ada, claim())
    assert isinstance(outcome, Created)
    assert notes(writable.the("new")) == {CREATED_BY: "ada"}
    said = objects.author_sentence(writable.cluster, ada)
    assert said.endswith("in the annotation dra-portal.io/created-by: ada.")
    said = objects.author_sentence(writable.cluster, ada, verb=Verb.UPDATE)
    assert said.endswith("in the annotation dra-portal.io/updated-by: ada.")


def test_nobody_can_write_under_another_s_name_by_typing_the_annotation(
    writable: Writable, ada: PortalUser
) -> None:
    copied = claim(annotations={CREATED_BY: "bob", UPDATED_BY: "bob", "a/b": "c"})
    objects.create(writable.cluster, ada, copied)
    assert notes(writable.the("new")) == {CREATED_BY: "ada", "a/b": "c"}


def test_a_change_says_who_changed_and_keeps_who_created(
    writable: Writable, ada: PortalUser, person: Callable[..., PortalUser]
) -> None:
    objects.create(writable.cluster, ada, claim())
    seen = writable.the("new")
    seen["metadata"]["labels"] = {"team": "vision"}
    outcome = objects.update(
        writable.cluster,
        person("admin", "bob"),
        seen,
        expected_of(seen),
        namespace="lab",
        name="new",
    )
    assert isinstance(outcome, Updated)
    assert notes(writable.the("new")) == {CREATED_BY: "ada", UPDATED_BY: "bob"}


def test_with_impersonation_the_cluster_sees_the_user_and_decides(
    writable_with: Callable[..., Writable], ada: PortalUser
) -> None:
    portal = User("portal", (LOOKS, Rule(("impersonate",), ("users",))))
    writable = writable_with(
        users={"t": portal, "a": User("ada", (ALL,)), "b": User("bob", (LOOKS,))},
        token="t",
        entry=", impersonate: true",
    )
    assert isinstance(objects.create(writable.cluster, ada, claim()), Created)
    assert notes(writable.the("new")) == {}
    said = objects.author_sentence(writable.cluster, ada)
    assert said.startswith("The API server sees the user ada")
    bob = PortalUser.objects.create_user("bob")
    outcome = objects.create(writable.cluster, bob, claim("other"))
    assert isinstance(outcome, Forbidden)
    assert outcome.missing == "create resourceclaims in the namespace lab"


@pytest.mark.parametrize(
    "name", ["system:kube-scheduler", "ada\r\nImpersonate-Group: system:masters"]
)
def test_nobody_becomes_a_component_of_kubernetes_by_name(
    writable_with: Callable[..., Writable], name: str
) -> None:
    writable = writable_with(entry=", impersonate: true")
    user = PortalUser.objects.create_user(name)
    outcome = objects.create(writable.cluster, user, claim())
    assert isinstance(outcome, Forbidden)
    assert "belong to Kubernetes itself" in outcome.reason
    assert writable.stored("new") is None


def test_a_dry_run_writes_nothing_and_is_recorded_as_one(
    writable: Writable, ada: PortalUser
) -> None:
    outcome = objects.create(writable.cluster, ada, claim(), dry_run=True)
    assert isinstance(outcome, Created)
    assert writable.stored("new") is None
    row = ObjectWrite.objects.get()
    assert (row.dry_run, row.outcome, row.uid) == (True, "Created", "")


def test_what_was_written_by_whom_is_kept(writable: Writable, ada: PortalUser) -> None:
    cluster = writable.cluster
    unnamed = claim(generateName="train-")
    del unnamed["metadata"]["name"]
    made = objects.create(cluster, ada, unnamed)
    assert isinstance(made, Created)
    name = made.object["metadata"]["name"]
    deleted = objects.delete(
        cluster,
        ada,
        "ResourceClaim",
        expected_of(made.object),
        namespace="lab",
        name=name,
    )
    assert isinstance(deleted, Deleted)
    assert writable.stored(name) is None
    objects.create(cluster, ada, {"kind": ["odd"], "metadata": {"name": 7}})
    rows = [
        (row.user, row.verb, row.kind, row.namespace, row.name, row.outcome)
        for row in ObjectWrite.objects.order_by("pk")
    ]
    assert rows == [
        ("ada", "create", "ResourceClaim", "lab", name, "Created"),
        ("ada", "delete", "ResourceClaim", "lab", name, "Deleted"),
        ("ada", "create", "", "", "", "Invalid"),
    ]
    assert ObjectWrite.objects.earliest("pk").uid == made.object["metadata"]["uid"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"source": Source.DUMP}, "is a dump file"),
        ({"read_only": True}, "writer: none in the clusters file"),
    ],
)
def test_a_cluster_that_is_only_read_says_what_to_do_instead(
    writable: Writable, ada: PortalUser, columns: dict[str, Any], says: str
) -> None:
    cluster = writable.cluster
    for column, value in columns.items():
        setattr(cluster, column, value)
    outcome = objects.create(cluster, ada, claim(), dry_run=True)
    assert isinstance(outcome, ReadOnly)
    assert says in outcome.reason
    assert "kubectl" in outcome.reason
    assert objects.author_sentence(cluster, ada) == outcome.reason


def test_the_clusters_file_is_believed_before_the_watch_has_read_it(
    writable: Writable, ada: PortalUser
) -> None:
    writable.enter(", writer: none")
    assert isinstance(objects.create(writable.cluster, ada, claim()), ReadOnly)
    writable.file.write_text("clusters: []", encoding="utf-8")
    outcome = objects.create(writable.cluster, ada, claim())
    assert isinstance(outcome, ReadOnly)
    assert outcome.reason == "The cluster lab is not in the clusters file."
    writable.file.write_text("clusters: [{name: lab, kubeconfig: nowhere}]")
    assert isinstance(objects.create(writable.cluster, ada, claim()), ReadOnly)


@pytest.mark.parametrize("meta", [[], {"annotations": []}, {"annotations": {"a": 1}}])
def test_what_cannot_carry_an_annotation_is_left_to_the_server(
    writable: Writable, ada: PortalUser, meta: Any
) -> None:
    if isinstance(meta, dict):
        meta |= {"name": "new", "namespace": "lab"}
    outcome = objects.create(writable.cluster, ada, claim() | {"metadata": meta})
    assert isinstance(outcome, Invalid)


def test_classes_are_an_administrator_s_matter() -> None:
    assert objects.role_for("DeviceClass") is Role.ADMIN
    assert objects.role_for("ResourceClaim") is Role.AUTHOR
    assert objects.role_for("ResourceClaimTemplate") is Role.AUTHOR


def test_a_class_has_no_namespace(writable: Writable, ada: PortalUser) -> None:
    outcome = objects.create(writable.cluster, ada, device_class("new.acme.test"))
    assert isinstance(outcome, Created)
    assert ObjectWrite.objects.get().namespace == ""


def test_the_record_has_an_end(writable: Writable, monkeypatch: Any) -> None:
    cluster = writable.cluster

    def row(days: float, *, dry_run: bool = False) -> ObjectWrite:
        return ObjectWrite.objects.create(
            cluster=cluster,
            user="ada",
            verb=Verb.CREATE,
            dry_run=dry_run,
            outcome="Created",
            at=timezone.now() - timedelta(days=days),
        )

    row(400)
    row(8, dry_run=True)
    kept = [row(6, dry_run=True), row(300)]
    record.tidy(cluster)
    assert set(ObjectWrite.objects.all()) == set(kept)
    monkeypatch.setattr(record, "MAX_ROWS", 1)
    record.tidy(cluster)
    assert list(ObjectWrite.objects.all()) == kept[:1]
