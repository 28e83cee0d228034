"""``manage.py check --deploy`` in the settings that compose and the manifests define."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dra_portal.checks import check_time_of_a_run, longest_run_seconds
from tests.dra_portal import deployed
from tests.dra_portal.watched import write_clusters

COMPOSE = deployed.compose(DRA_PORTAL_HOSTS="dra.example.com")
WEB: dict[str, str] = COMPOSE["services"]["web"]["environment"]


def check(
    directory: Path,
    environment: dict[str, str],
    *arguments: str,
    secret: Path | None = None,
) -> Any:
    """As in the container, with the files of secrets and clusters elsewhere."""
    (directory / "secret").write_text("Zq8-fH2_" * 8)
    write_clusters(directory, "- {name: here, kubeconfig: k}\n")
    moved = environment | {
        "DRA_PORTAL_SECRET_KEY_FILE": str(secret or directory / "secret"),
        "DRA_PORTAL_DATABASE_PASSWORD_FILE": str(directory / "secret"),
        "DRA_PORTAL_CLUSTERS": str(directory / "clusters.yaml"),
        "DRA_PORTAL_VAR": str(directory),
        "PATH": os.environ["PATH"],
        **deployed.BYTECODE,
        "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
    }
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", *arguments],
        cwd=deployed.ROOT,
        env=moved,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.parametrize(
    "environment", [WEB, deployed.settings()], ids=["compose", "kubernetes"]
)
def test_it_is_clean(tmp_path: Path, environment: dict[str, str]) -> None:
    done = check(tmp_path, environment, "--fail-level", "INFO")
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_it_still_sees_what_is_wrong(tmp_path: Path) -> None:
    done = check(
        tmp_path, WEB | {"DRA_PORTAL_DEBUG": "true"}, "--fail-level", "WARNING"
    )
    assert done.returncode == 1
    assert "security.W018" in done.stderr


def test_nothing_starts_without_the_secret_key(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    done = check(tmp_path, WEB, secret=empty)
    assert done.returncode == 1
    assert "DRA_PORTAL_SECRET_KEY" in done.stderr


def test_probes_are_answered_without_tls_and_pages_are_not(
    client: Client, settings: Any, db: None
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert client.get("/metrics").status_code == 401
    assert client.get("/login/")["Location"].startswith("https://")


def test_a_limit_that_is_too_short_for_a_run_is_told(
    tmp_path: Path, settings: Any
) -> None:
    settings.CLUSTERS_FILE = str(
        write_clusters(tmp_path, "- {name: a, kubeconfig: k, writer: carrier}\n")
    )
    assert check_time_of_a_run() == []
    settings.TASK_SECONDS = int(longest_run_seconds())
    (message,) = check_time_of_a_run()
    assert message.id == "dra_portal.W002"
