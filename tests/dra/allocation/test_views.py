"""The view of a slice is one for all who ask."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from dra.allocation import views
from dra.objects import ResourceSlice, read
from tests.dra.builders import device, piece


def test_threads_that_ask_at_the_same_time_get_one_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = read(piece("s", device("a"), device("b")), ResourceSlice)
    both = Barrier(2, timeout=0.5)
    make: Any = views._make_view

    def slowly(asked: ResourceSlice) -> views.SliceView:
        with suppress(BrokenBarrierError):
            both.wait()  # where the other one has to wait for us, it never comes
        view: views.SliceView = make(asked)
        return view

    monkeypatch.setattr(views, "_make_view", slowly)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(views.view_of, (found, found))
    assert first is second is views.view_of(found)
