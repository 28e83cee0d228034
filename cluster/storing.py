"""Whatever a store raises, as one error: it means that the change was not taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class StoreError(Exception):
    """Whatever the store raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def storing() -> Iterator[None]:
    """Raises :class:`StoreError` for whatever the store raises inside."""
    try:
        yield
    # A store may raise anything; each means that the change was not taken.
    except Exception as error:
        raise StoreError(error) from error


def saving_failed(error: Exception) -> str:
    """What to report of it, as part of a sentence."""
    return (
        f"saving what the cluster sent failed ({type(error).__name__}); "
        "everything is read again"
    )
