"""Whatever JSON holds, and real objects with it at any place."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.dra.validation.conformance import cases

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63), 2**70])
    | st.floats()
    | st.text()
    | st.sampled_from(["", "a", "A", "a/b", "1Gi", "-5", "v1", "2026-01-02T03:04:05Z"])
)
ANY_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)
CASES = st.sampled_from(cases())


@st.composite
def changed(draw: st.DrawFn, sent: Any) -> Any:
    """``sent`` with anything at one of its places."""
    places = _places(sent)
    if not places:
        return draw(ANY_JSON)
    return _put(sent, draw(st.sampled_from(places)), draw(ANY_JSON))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places in a JSON value, the value itself left out."""
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return []
    return [
        place
        for key, entry in inner
        for place in [(*path, key), *_places(entry, (*path, key))]
    ]


def _put(value: Any, path: tuple[Any, ...], replacement: Any) -> Any:
    result = copy.deepcopy(value)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = replacement
    return result
