"""The compose file: what docker would refuse, and what we ask of every container."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.dra_portal.deployed import OURS, ROOT, Json, compose

FILE = compose()
SERVICES: dict[str, Json] = FILE["services"]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
KEYS = {
    "build", "cap_drop", "command", "depends_on", "deploy", "environment",
    "healthcheck", "image", "init", "networks", "ports", "read_only", "restart",
    "secrets", "security_opt", "stop_grace_period", "tmpfs", "user", "volumes",
}  # fmt: skip
CONDITIONS = {"service_healthy", "service_completed_successfully"}


def test_it_has_every_process() -> None:
    assert set(SERVICES) == {"db", "redis", *OURS}
    assert SERVICES["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", SERVICES)
def test_every_name_that_a_service_uses_is_defined(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= KEYS
    assert set(service.get("secrets", ())) <= set(FILE["secrets"])
    assert set(service["networks"]) <= set(FILE["networks"])
    for volume in service.get("volumes", ()):
        source = volume.split(":")[0]
        assert source in FILE["volumes"] or source.startswith("./")
    for other, how in service.get("depends_on", {}).items():
        assert how["condition"] in CONDITIONS
        healthy = how["condition"] == "service_healthy"
        assert ("test" in SERVICES[other]["healthcheck"]) is healthy


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["user"].split(":")[0]) > 0
    assert "inside" in service["networks"]


def test_database_and_queue_cannot_be_reached_from_outside() -> None:
    assert FILE["networks"]["inside"] == {"internal": True}
    for name in ("db", "redis"):
        assert SERVICES[name]["networks"] == ["inside"]
        assert "ports" not in SERVICES[name]
    assert [p for s in SERVICES.values() for p in s.get("ports", ())] == [
        "127.0.0.1:8000:8000"
    ]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"migrate"}))
def test_every_service_that_stays_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries"} <= set(check)
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", OURS)
def test_our_processes_are_one_image_with_one_configuration(name: str) -> None:
    first: Any = SERVICES["web"]
    service = SERVICES[name]
    assert (service["image"], service["build"]) == (first["image"], first["build"])
    own = {"DRA_PORTAL_METRICS_LISTEN", "DRA_PORTAL_METRICS_DIR"}
    shared = {k: v for k, v in service["environment"].items() if k not in own}
    assert shared == first["environment"]
    assert service["volumes"] == ["./config:/config:ro"]


def test_a_run_may_end_before_a_worker_is_killed() -> None:
    grace = {name: s.get("stop_grace_period") for name, s in SERVICES.items()}
    assert grace["worker"] == "120s"
    assert grace["web"] == grace["watch"] == grace["beat"] == "30s"


def test_no_secret_is_in_the_file() -> None:
    assert set(FILE["secrets"]) == {"secret_key", "postgres_password"}
    for service in SERVICES.values():
        for key, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|TOKEN", key):
                assert key.endswith("_FILE")
                assert value.startswith("/run/secrets/")
    assert not re.search(r"://[^/\s:]+:[^/\s@]+@", TEXT)


def test_what_health_checks_look_at_is_what_processes_touch() -> None:
    from dra_portal import alive

    assert SERVICES["web"]["environment"]["DRA_PORTAL_VAR"] == "/tmp"
    for name in ("watch", "worker", "beat"):
        (test,) = SERVICES[name]["healthcheck"]["test"][1:]
        assert f"/tmp/{alive.path_of(name).name} " in test
    assert "/readyz" in SERVICES["web"]["healthcheck"]["test"][-1]


def test_the_image_holds_what_runs_and_nothing_else() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert {f"!{name}" for name in names} == {i for i in ignored if i[0] == "!"}
    assert ignored[0] == "*"
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages <= names
    assert "--locked --no-default-groups" in dockerfile
    assert "USER 10001:10001" in dockerfile
    assert "groupadd --gid 10001 " in dockerfile
    assert "useradd --uid 10001 --gid 10001 " in dockerfile
    assert dockerfile.count("collectstatic") == 1
