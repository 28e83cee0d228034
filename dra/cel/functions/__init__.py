"""The functions of CEL as Kubernetes 1.36 offers them, one topic a module.

Each module has one function that declares its overloads with their
implementations; :func:`declarations` puts them together.
"""

from __future__ import annotations

from functools import cache

from dra.cel.declarations import Declarations
from dra.cel.functions import (
    conversions,
    documents,
    formatting,
    listing,
    networks,
    operators,
    optionals,
    quantities,
    regex,
    strings,
    times,
    versions,
)

_TOPICS = (
    operators.declare,
    conversions.declare,
    strings.declare,
    regex.declare,
    listing.declare,
    quantities.declare,
    versions.declare,
    times.declare,
    networks.declare,
    formatting.declare,
    documents.declare,
    optionals.declare,
)


@cache
def declarations(*, includes: bool) -> Declarations:
    """All functions; ``includes`` adds the one for list attributes."""
    found = Declarations()
    for declare in _TOPICS:
        declare(found)
    if includes:
        listing.declare_includes(found)
    return found
