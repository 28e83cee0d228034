"""A run of the tests gets its database, whoever is connected to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections
from django.db.backends.base.base import NO_DB_ALIAS

from tests.postgresql.creation import DatabaseCreation

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="needs sessions"),
]


def connected(name: str) -> Any:
    settings = {**connection.settings_dict, "NAME": name}
    return type(connections[DEFAULT_DB_ALIAS])(settings, alias=NO_DB_ALIAS)


@pytest.fixture
def creation() -> Iterator[DatabaseCreation]:
    """Of another run, with a database of its own."""
    made = connected(connection.settings_dict["NAME"]).creation
    assert isinstance(made, DatabaseCreation)
    made.connection.settings_dict["TEST"] = {
        **connection.settings_dict["TEST"],
        "NAME": f"{connection.settings_dict['NAME']}_other",
    }
    yield made
    made.drop(made.name)
    made.release()


def make(creation: DatabaseCreation) -> None:
    creation._create_test_db(0, True)


def test_who_is_still_connected_is_disconnected(creation: DatabaseCreation) -> None:
    make(creation)
    left = connected(creation.name)
    with left.cursor() as cursor:
        cursor.execute("CREATE TABLE remains ()")
    creation.release()
    make(creation)
    with pytest.raises(OperationalError), left.cursor() as cursor:
        cursor.execute("SELECT 1")
    left.close()
    with connected(creation.name).temporary_connection() as cursor:
        cursor.execute("SELECT 1 FROM pg_tables WHERE tablename = 'remains'")
        assert cursor.fetchall() == []
    creation._destroy_test_db(creation.name, 0)


def test_a_run_that_goes_on_keeps_its_database(creation: DatabaseCreation) -> None:
    make(creation)
    second = connected(connection.settings_dict["NAME"]).creation
    with pytest.raises(
        RuntimeError, match="Another run of the tests uses the database"
    ):
        second.claim(creation.name, patience=0.01)
    creation._destroy_test_db(creation.name, 0)
    second.claim(creation.name)
    second.release()
