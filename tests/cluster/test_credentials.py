from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.client import ClusterClient
from cluster.config import ClusterConfig
from cluster.errors import Unreachable
from cluster.standin.server import StandinServer
from tests.cluster.rude import RudeServer, config_for, response

VERSION = response(b'{"gitVersion": "v1.36.2"}')
SECRET = "s3cret-token"

GOOD: dict[str, Any] = {
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": SECRET}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}


def connect(path: Path, content: Any, context: str = "") -> ClusterClient:
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    path.write_text(text)
    config = ClusterConfig(name="demo", kubeconfig=path, context=context)
    return ClusterClient.connect(config)


def user(**fields: Any) -> dict[str, Any]:
    return {**GOOD, "users": [{"name": "u", "user": {"token": SECRET, **fields}}]}


@pytest.mark.parametrize(
    ("content", "context", "message"),
    [
        ("", "", "is not a kubeconfig: it has no list of clusters"),
        ("just text " + SECRET, "", "is not a kubeconfig: it has no list of clusters"),
        ("clusters: [" + SECRET, "", "is not valid YAML: line "),
        ({**GOOD, "current-context": ""}, "", "has no current-context; name one with"),
        (GOOD, "other", 'has no context "other"; it has: x'),
        ({**GOOD, "clusters": []}, "", 'has no cluster "c"; it has: none'),
        ({**GOOD, "users": None}, "", 'has no user "u"; it has: none'),
        (
            {**GOOD, "clusters": [{"name": "c", "cluster": {"server": "host:6443"}}]},
            "",
            'server of cluster "c" must be an http(s) address',
        ),
        (
            user(**{"client-certificate": "gone.crt"}),
            "",
            "client-certificate names gone.crt, which does not exist",
        ),
        (
            {
                **GOOD,
                "clusters": [
                    {
                        "name": "c",
                        "cluster": {
                            "server": "https://127.0.0.1:1",
                            "certificate-authority-data": "no base64 " + SECRET,
                        },
                    }
                ],
            },
            "",
            "cannot be used (",
        ),
        ({**GOOD, "users": [{"name": "u", "user": {"token": 5}}]}, "", ""),
        ({**GOOD, "contexts": "x"}, "", "has no context"),
        ({**GOOD, "clusters": [5, {"cluster": 5}]}, "", 'has no cluster "c"'),
    ],
)
def test_every_mistake_in_a_kubeconfig_is_one_sentence(
    tmp_path, content, context, message
):
    if not message:
        # Odd but usable: it must not crash.
        connect(tmp_path / "kubeconfig", content, context)
        return
    with pytest.raises(Unreachable) as caught:
        connect(tmp_path / "kubeconfig", content, context)
    text = str(caught.value)
    assert message in text
    assert str(tmp_path / "kubeconfig") in text
    assert SECRET not in text
    # The error of the library, which holds the entry, is not chained either.
    assert caught.value.__context__ is None or SECRET not in repr(
        caught.value.__context__
    )


def test_a_missing_kubeconfig_and_a_folder_are_told(tmp_path):
    for path, message in (
        (tmp_path / "nope", "does not exist"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(Unreachable, match=message):
            ClusterClient.connect(ClusterConfig(name="demo", kubeconfig=path))


def test_outside_a_cluster_there_is_no_service_account():
    with pytest.raises(
        Unreachable, match="the service account of a pod cannot be used"
    ):
        ClusterClient.connect(ClusterConfig(name="demo", in_cluster=True))


def test_a_token_file_is_read(tmp_path):
    (tmp_path / "token").write_text(SECRET)
    with RudeServer(VERSION) as server:
        config = config_for(tmp_path, server.url, user={"tokenFile": "token"})
        assert ClusterClient.connect(config).version() == "v1.36.2"
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in server.requests[0]


def exec_user(script: str) -> dict[str, Any]:
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": ["-c", textwrap.dedent(script)],
            "interactiveMode": "Never",
        }
    }


def test_a_credential_command_is_run(tmp_path):
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": SECRET},
    }
    with RudeServer(VERSION) as server:
        script = f"print({json.dumps(json.dumps(answer))})"
        config = config_for(tmp_path, server.url, user=exec_user(script))
        assert ClusterClient.connect(config).version() == "v1.36.2"
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in server.requests[0]


def test_a_credential_command_that_fails_is_named(tmp_path):
    config = config_for(
        tmp_path, "http://127.0.0.1:1", user=exec_user("raise SystemExit(3)")
    )
    with pytest.raises(
        Unreachable, match=r"the command .*python.* failed; run it by hand"
    ):
        ClusterClient.connect(config)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with RudeServer(VERSION) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        assert client.version() == "v1.36.2"
        through = {"proxy-url": "http://127.0.0.1:1"}
        client = ClusterClient.connect(
            config_for(tmp_path, server.url, cluster=through)
        )
        with pytest.raises(Unreachable, match="the proxy on the way to"):
            client.version()


# --- TLS ---


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    openssl = shutil.which("openssl")
    assert openssl, "no openssl: make test installs it on Debian"
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "tls.crt", folder / "tls.key"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=standin", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def test_a_server_with_a_certificate_of_the_kubeconfig_is_trusted(
    tmp_path, certificate
):
    with RudeServer(VERSION, certificate=certificate) as server:
        trust = {"certificate-authority": str(certificate[0])}
        client = ClusterClient.connect(config_for(tmp_path, server.url, cluster=trust))
        assert client.version() == "v1.36.2"
        client.close()


def test_an_unknown_certificate_is_explained_and_nothing_was_sent(
    tmp_path, certificate
):
    with RudeServer(VERSION, certificate=certificate) as server:
        client = ClusterClient.connect(config_for(tmp_path, server.url))
        with pytest.raises(Unreachable) as caught:
            client.request("POST", "/api/v1/nodes", body={})
        assert "is not trusted: self" in str(caught.value)
        assert "check certificate-authority in the kubeconfig" in str(caught.value)
        assert not caught.value.outcome_unknown
    assert server.requests == []


def test_skipping_the_check_is_silent(tmp_path, certificate):
    with RudeServer(VERSION, certificate=certificate) as server:
        careless = {"insecure-skip-tls-verify": True}
        client = ClusterClient.connect(
            config_for(tmp_path, server.url, cluster=careless)
        )
        assert client.version() == "v1.36.2"
        client.close()


def test_https_to_a_plain_server_is_explained(tmp_path):
    with StandinServer() as server:
        url = server.url.replace("http://", "https://")
        client = ClusterClient.connect(config_for(tmp_path, url))
        with pytest.raises(
            Unreachable, match="does not speak TLS; is its address http:"
        ):
            client.version()


_TOGETHER = """
import sys, threading
from pathlib import Path
from cluster.client import ClusterClient
from cluster.config import ClusterConfig
sys.setswitchinterval(1e-6)
config = ClusterConfig(name="demo", kubeconfig=Path(sys.argv[1]))
ready, failed = threading.Barrier(4), []
def connect():
    ready.wait()
    try:
        ClusterClient.connect(config)
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=connect) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed)
"""


def test_the_first_clusters_may_connect_at_the_same_time(tmp_path):
    """Threads that import parts of the package together meet halves of its modules."""
    config_for(tmp_path, "http://127.0.0.1:1")
    run = subprocess.run(
        [sys.executable, "-c", _TOGETHER, str(tmp_path / "kubeconfig")],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert run.stdout == "[]\n"


def test_importing_the_package_does_not_import_the_kubernetes_client():
    """It takes a second; only a process that connects should pay."""
    names = "client, config, convert, discovery, dump, reflector, resources, store"
    script = (
        f"import sys; from cluster import {names}; print('kubernetes' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert run.stdout == "False\n"
