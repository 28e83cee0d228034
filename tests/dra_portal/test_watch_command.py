"""``manage.py watch`` as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from cluster.standin.server import StandinServer
from inventory.models import Cluster, Device
from tests.dra_portal.watched import (
    PATIENCE,
    clusters_of,
    equal,
    eventually,
    states,
)
from tests.inventory.mirror.worlds import slice_

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.skipif(
    "connection.settings_dict['ENGINE'].endswith('sqlite3')",
    reason="the test database is in the memory of this process",
)
def test_a_signal_ends_it_at_once(tmp_path: Path, number: signal.Signals) -> None:
    of_tests = connection.settings_dict
    url = (
        f"postgresql://{of_tests['USER']}:{of_tests['PASSWORD']}@{of_tests['HOST']}"
        f":{of_tests['PORT']}/{of_tests['NAME']}"
    )
    with StandinServer([slice_("a")]) as server:
        path = clusters_of(server, tmp_path)
        process = subprocess.Popen(
            [sys.executable, "manage.py", "watch", "--clusters", str(path)],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
                "DRA_PORTAL_DATABASE": url,
                "DRA_PORTAL_VAR": str(tmp_path),
                "PYTHONWARNINGS": "",
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            eventually(equal(server))
            eventually(lambda: states().get("ResourceSlice") == "live")
            process.send_signal(number)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert states()["ResourceSlice"] == "stopped"


def test_once_reads_everything_and_exits(tmp_path: Path) -> None:
    with StandinServer([slice_("a")]) as server:
        call_command("watch", once=True, clusters=clusters_of(server, tmp_path))
        equal(server)()
    assert Device.objects.count() == 2


def test_once_fails_with_a_sentence_per_cluster(tmp_path: Path) -> None:
    path = tmp_path / "clusters.yaml"
    path.write_text("clusters: [{name: a, dump: [gone.json]}]\n", encoding="utf-8")
    with pytest.raises(CommandError, match=r"^a: .*gone\.json: there is no such file$"):
        call_command("watch", once=True, clusters=path)
    assert Cluster.objects.get().error != ""


@pytest.mark.parametrize("text", [None, "clusters: 7\n", "clusters: [{name: A}]\n"])
def test_an_unusable_file_is_told_with_its_name_and_the_variable(
    tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "clusters.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=r"clusters\.yaml.*DRA_PORTAL_CLUSTERS"):
        call_command("watch", clusters=path)
