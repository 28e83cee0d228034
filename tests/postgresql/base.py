"""The backend that the settings of the tests name; Django looks for it in ``base``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.backends.postgresql import base, operations

from tests.postgresql.creation import DatabaseCreation

# Django fills them again at once, the same for every test.
KEPT = {"django_content_type", "auth_permission"}


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(
        self,
        style: Any,
        tables: Iterable[str],
        *,
        reset_sequences: bool = False,
        allow_cascade: bool = False,
    ) -> list[str]:
        """In any order: foreign keys are checked when the transaction ends."""
        assert not reset_sequences
        emptied = sorted(set(tables) - KEPT)
        return [f"DELETE FROM {self.quote_name(table)}" for table in emptied]


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    creation_class = DatabaseCreation
