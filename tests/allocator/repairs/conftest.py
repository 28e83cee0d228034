"""A lab in which a device is booked twice, seen by a look for what is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from allocator import wiring
from allocator.findings import passing
from allocator.models import AllocationRun, Finding, RepairStep
from allocator.repairs import doing
from allocator.repairs.looking import picture_of
from allocator.repairs.picture import Picture
from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.server import StandinServer
from dra.audits import Code
from tests.allocator import builders as build
from tests.allocator.lab import Lab
from tests.cluster.guarded_world import SERVED
from tests.cluster.standin.scheduled import eventually, scheduled

Json = dict[str, Any]
FINALIZER = "resource.kubernetes.io/delete-protection"
DEVICE = "n0/gpu-0"


class Ward:
    """The lab with its patient: ``first`` got n0/gpu-0 from the scheduler, ``second`` by
    hand. ``settle`` lets the mirror, the worker and the audit catch up."""

    def __init__(self, lab: Lab, plane: ControlPlane) -> None:
        self.lab = lab
        self.plane = plane
        self.store = lab.server.store

    def admit(self, **first: Any) -> Finding:
        self.store.put(build.claim("first", build.request(**first)))
        self.store.put(build.pod("one", "first"))
        eventually(lambda: scheduled(self.store, "one") == "True", "binding")
        self.give_too("second")
        return self.finding()

    def give_too(self, name: str) -> None:
        """Somebody writes the device of "first" into another claim."""
        second = build.claim(name)
        held = copy.deepcopy(self.claim("first")["status"]["allocation"])
        held["devices"]["results"] = held["devices"]["results"][:1]
        second["metadata"]["finalizers"] = [FINALIZER]
        second["status"] = {"allocation": held}
        self.store.put(second)

    def finding(self) -> Finding:
        self.settle()
        return Finding.objects.filter(code=Code.DEVICE_BOOKED_TWICE).latest("since")

    def settle(self) -> None:
        self.lab.sync()
        passing.forget()
        passing.update_findings(self.lab.cluster.pk)

    def work(self, step: RepairStep) -> RepairStep:
        """What the workers do about a step."""
        if step.run_id is not None:
            self.lab.execute(AllocationRun.objects.get(pk=step.run_id))
        else:
            doing.do_step(step.pk)
        self.settle()
        step.refresh_from_db()
        return step

    def picture(self, finding: Finding) -> Picture:
        finding.refresh_from_db()
        found = picture_of(finding)
        assert found is not None
        return found

    def claim(self, name: str) -> Json:
        return self.lab.claim(name)

    def version(self, name: str) -> str:
        version: str = self.claim(name)["metadata"]["resourceVersion"]
        return version

    def another_pod(self, name: str = "third") -> str:
        """A pod that wants a device of n0; ``True`` or ``False`` of PodScheduled."""
        self.store.put(build.claim(name))
        pod = build.pod(name, name)
        pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n0"}
        self.store.put(pod)
        eventually(lambda: scheduled(self.store, name), "a verdict")
        return scheduled(self.store, name)

    def booked_twice(self) -> bool:
        holders = [
            claim["metadata"]["name"]
            for claim in self.store.objects("ResourceClaim")
            if DEVICE in self.lab.devices(claim["metadata"]["name"])
        ]
        return len(holders) > 1


def expire(step: RepairStep) -> None:
    """As if the lease of a worker that died had run out."""
    past = timezone.now() - timedelta(seconds=1)
    RepairStep.objects.filter(pk=step.pk).update(busy_until=past)


@contextmanager
def ward_in(lab: Lab) -> Iterator[Ward]:
    for node in lab.server.store.objects("Node"):
        meta = node["metadata"]
        meta["labels"] = {"kubernetes.io/hostname": meta["name"]}
        lab.server.store.put(node)
    for piece in lab.server.store.objects("ResourceSlice"):
        piece["spec"]["devices"] = piece["spec"]["devices"][:1]
        lab.server.store.put(piece)
    lab.sync()
    with ControlPlane(lab.server.store, Habits(delay=0.0)) as plane:
        yield Ward(lab, plane)


@pytest.fixture(autouse=True)
def _fresh_auditors(settings: Any) -> Iterator[None]:
    settings.FINDINGS_SETTLE_SECONDS = 0
    passing.forget()
    yield
    passing.forget()


@pytest.fixture
def ward(lab: Lab) -> Iterator[Ward]:
    """Two nodes with one device each; rules are not known to be safe."""
    with ward_in(lab) as ward:
        yield ward


@pytest.fixture
def ruled_ward(tmp_path: Path, settings: Any, db: None) -> Iterator[Ward]:
    """As ``ward``, where rules are served and an administrator says that they are safe."""
    with StandinServer(build.lab(), served=SERVED) as server:
        lab = Lab(server, tmp_path)
        text = lab.file.read_text(encoding="utf-8")
        told = "  scheduler: {taintRules: safe}\n"
        lab.file.write_text(f"{text}{told}", encoding="utf-8")
        settings.CLUSTERS_FILE = str(lab.file)
        settings.RUN_MIRROR_SECONDS = 1
        settings.RUN_VERIFY_SECONDS = 2
        wiring.forget()
        with ward_in(lab) as ward:
            yield ward
        wiring.forget()


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


@pytest.fixture
def operator(client_of: Callable[..., Client]) -> Client:
    return client_of("operator")


@pytest.fixture
def admin(client_of: Callable[..., Client]) -> Client:
    return client_of("admin")
