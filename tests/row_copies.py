"""The rows of a mirrored cluster, kept as text and written again under new keys.

Mirroring a cluster of 20 nodes takes longer than most tests of its pages. The rows are
those that the mirror has written; only keys are new, so no cache of the portal takes one
cluster for another.
"""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import ForeignKey, Model
from django.utils import timezone

from inventory.models import Cluster, WatchState

MIRRORS = ("inventory", "claims")
NULL = "\\N"

type Row = list[str]


def tables() -> list[type[Model]]:
    """Tables of what is mirrored, parents first."""
    models = [
        model for app in MIRRORS for model in apps.get_app_config(app).get_models()
    ]
    above = {model: set(parents(model).values()) for model in models}
    # What somebody has written belongs to a user as well.
    mirrored = {model: those for model, those in above.items() if User not in those}
    in_order = TopologicalSorter(mirrored).static_order()
    # Not what is counted from time to time: a mirror begins without a past.
    return [model for model in in_order if Cluster in mirrored.get(model, ())]


def parents(model: type[Model]) -> dict[str, Any]:
    """Column → the model that it points to."""
    return {
        field.column: field.related_model
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
    }


def columns(model: type[Model]) -> list[str]:
    return [field.column or field.name for field in model._meta.concrete_fields]


class RowCopies:
    """What one cluster looks like in the tables."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = {
            field.attname: getattr(cluster, field.attname)
            for field in Cluster._meta.concrete_fields
            if not field.primary_key
        }
        self._key = str(cluster.pk)
        self._rows = [(model, rows_of(model, cluster)) for model in tables()]

    def write(self, name: str) -> Cluster:
        """Make a cluster with this name of them, as if it had been read just now."""
        cluster = Cluster.objects.create(**{**self._cluster, "name": name})
        new_keys: dict[type[Model], dict[str, str]] = {
            Cluster: {self._key: str(cluster.pk)}
        }
        for model, rows in self._rows:
            names = columns(model)
            places = {
                names.index(column): new_keys[parent]
                for column, parent in parents(model).items()
            }
            key = names.index("id")
            places[key] = new_keys[model] = dict(
                zip(
                    (row[key] for row in rows),
                    fresh_keys(model, len(rows)),
                    strict=True,
                )
            )
            insert(model, (renamed(row, places) for row in rows))
        now = timezone.now()
        WatchState.objects.filter(cluster=cluster).update(listed_at=now, alive_at=now)
        return cluster


def renamed(row: Row, places: dict[int, dict[str, str]]) -> Row:
    made = row.copy()
    for place, new_keys in places.items():
        if made[place] != NULL:
            made[place] = new_keys[made[place]]
    return made


def rows_of(model: type[Model], cluster: Cluster) -> list[Row]:
    """In the text form of COPY, which has no tabs or line ends within a value."""
    asked = (
        f"SELECT {quoted(model)} FROM {table(model)} WHERE cluster_id = %s ORDER BY id"
    )
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY ({asked}) TO STDOUT", [cluster.pk]) as copy,
    ):
        text = b"".join(bytes(part) for part in copy).decode()
    return [line.split("\t") for line in text.split("\n")[:-1]]


def insert(model: type[Model], rows: Iterable[Row]) -> None:
    text = "".join("\t".join(row) + "\n" for row in rows)
    asked = f"COPY {table(model)} ({quoted(model)}) FROM STDIN"
    if text:
        with connection.cursor() as cursor, cursor.copy(asked) as copy:
            copy.write(text)


def fresh_keys(model: type[Model], count: int) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [str(key) for (key,) in cursor.fetchall()]


def table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def quoted(model: type[Model]) -> str:
    return ", ".join(connection.ops.quote_name(name) for name in columns(model))
