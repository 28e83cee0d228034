"""What is remembered of a question serves every thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from dra.allocation.groups import Known


class Met:
    """A meaning that is looked up only when another one is looked up too."""

    barrier = Barrier(2, timeout=60)

    def __hash__(self) -> int:
        self.barrier.wait()
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def test_no_two_meanings_get_one_number_from_threads_that_ask_together() -> None:
    known = Known([])
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(known.code, (Met(), Met()))
    assert first != second


def test_a_meaning_keeps_its_number() -> None:
    known = Known([])
    assert [known.code(meaning) for meaning in "abacab"] == [0, 1, 0, 2, 0, 1]
