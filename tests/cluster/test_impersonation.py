"""Acting as the signed-in user: the setting, the header, and what the server makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.config import load_clusters
from cluster.errors import ConfigError, Forbidden
from cluster.standin.access import Rule, User
from cluster.standin.server import StandinServer
from tests.cluster.running import CLAIMS, claim, client_of

EVERYTHING = Rule(("*",), ("*",))
USERS = {
    "portal-token": User("portal", (Rule(("impersonate", "get", "list"), ("*",)),)),
    "ada-token": User("ada", (EVERYTHING,)),
    "zoë-token": User("zoë", (EVERYTHING,)),
}


def test_a_client_as_somebody_may_what_that_user_may(tmp_path: Path) -> None:
    with StandinServer(users=USERS) as server:
        portal = client_of(server, tmp_path, token="portal-token")
        with pytest.raises(Forbidden, match='User "portal" cannot create'):
            portal.create(CLAIMS, "default", claim("mine"))
        made = portal.as_user("ada").create(CLAIMS, "default", claim("hers"))
        assert made["metadata"]["name"] == "hers"
        with pytest.raises(Forbidden, match='User "bob" cannot create'):
            portal.as_user("bob").create(CLAIMS, "default", claim("his"))
        with pytest.raises(Forbidden, match='User "portal" cannot create'):
            portal.create(CLAIMS, "default", claim("mine"))
        portal.close()


def test_a_name_beyond_latin_letters_arrives_as_it_is(tmp_path: Path) -> None:
    with StandinServer(users=USERS) as server:
        portal = client_of(server, tmp_path, token="portal-token")
        portal.as_user("zoë").create(CLAIMS, "default", claim("hers"))
        with pytest.raises(Forbidden, match='User "Зоя" cannot create'):
            portal.as_user("Зоя").create(CLAIMS, "default", claim("other"))
        portal.close()


def test_without_the_right_to_impersonate_the_server_names_the_user(
    tmp_path: Path,
) -> None:
    with StandinServer(users={"t": User("poor")}) as server:
        poor = client_of(server, tmp_path, token="t")
        with pytest.raises(Forbidden, match='users "ada" is forbidden'):
            poor.as_user("ada").get(CLAIMS, "default", "x")
        poor.close()


def read(directory: Path, entry: str) -> bool:
    file = directory / "clusters.yaml"
    file.write_text(f"clusters: [{entry}]", encoding="utf-8")
    return load_clusters(file)[0].impersonate


def test_impersonation_is_a_choice_of_each_cluster(tmp_path: Path) -> None:
    assert read(tmp_path, "{name: a, kubeconfig: x, impersonate: true}")
    assert not read(tmp_path, "{name: a, kubeconfig: x, impersonate: false}")
    assert not read(tmp_path, "{name: a, kubeconfig: x}")


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{name: a, kubeconfig: x, impersonate: yes please}", "must be true or false"),
        ("{name: a, dump: [x], impersonate: true}", "a dump cannot be written to"),
    ],
)
def test_a_wrong_choice_is_named_with_its_place(
    tmp_path: Path, entry: str, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, entry)
    assert str(caught.value) == f"clusters.yaml: clusters[0].impersonate: {says}"
