"""The database of one run of the tests: nobody else's, and no remains of an earlier run.

A process that a killed run left behind (a watch, a worker) is still connected to the
database, which then can neither be made anew nor dropped: every test of the next run is
an error of its setup. Such sessions are ended. Those of a run that goes on are not: it
holds a lock, and a second run with the same name says so.
"""

from __future__ import annotations

from typing import Any

from django.db import OperationalError
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import creation

PATIENCE = 20
"""Seconds for a run that is about to end."""


class DatabaseCreation(creation.DatabaseCreation):
    _claim: Any = None
    """The connection whose session holds the lock."""

    def _create_test_db(
        self, verbosity: int, autoclobber: bool, keepdb: bool = False
    ) -> str:
        self.claim(self.name)
        if autoclobber and not keepdb:
            self.drop(self.name)
        made = super()._create_test_db(verbosity, autoclobber, keepdb)  # type: ignore[misc]  # not in the stubs
        return str(made)

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        self.drop(test_database_name)
        self.release()

    @property
    def name(self) -> str:
        return str(self._get_test_db_name())  # type: ignore[attr-defined]  # not in the stubs

    def claim(self, name: str, *, patience: float = PATIENCE) -> None:
        """Raises RuntimeError when another run has the database of this name."""
        settings = {**self.connection.settings_dict, "NAME": "postgres"}
        self._claim = type(self.connection)(settings, alias=NO_DB_ALIAS)
        try:
            with self._claim.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = {int(patience * 1000)}")
                cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])
        except OperationalError as error:
            self.release()
            raise RuntimeError(
                f"Another run of the tests uses the database {name}; "
                "DRA_PORTAL_TEST_DATABASE names one for this run."
            ) from error

    def release(self) -> None:
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def drop(self, name: str) -> None:
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # not in the stubs
            quoted = self.connection.ops.quote_name(name)
            cursor.execute(f"DROP DATABASE IF EXISTS {quoted} WITH (FORCE)")
