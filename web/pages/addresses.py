"""Addresses of the same page with other parameters."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict


def asking(href: str, **parameters: str) -> str:
    """``href`` with these parameters, whatever they hold; those that are empty are
    left out, which asks for all."""
    said = {name: value for name, value in parameters.items() if value}
    # Half of a surrogate pair, which JSON may hold, is in no name that is looked for.
    return f"{href}?{urlencode(said, errors='replace')}" if said else href


def with_parameters(
    request: HttpRequest,
    *,
    drop: tuple[str, ...] = (),
    drop_value: tuple[str, str] | None = None,
    **changes: str | int | None,
) -> str:
    """The current path and query with parameters set, or removed where None.

    ``drop_value`` removes one value of a repeated parameter. The page number goes:
    it means nothing in another list. ``?`` alone is the unfiltered page.
    """
    query: QueryDict = request.GET.copy()
    for name in ("page", "format", *drop):
        query.pop(name, None)
    if drop_value is not None:
        name, gone = drop_value
        query.setlist(name, [v for v in query.getlist(name) if v != gone])
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = str(value)
    for name in [key for key in query if not any(query.getlist(key))]:
        del query[name]
    return f"{request.path}?{query.urlencode()}" if query else request.path
