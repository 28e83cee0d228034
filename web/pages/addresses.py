"""Addresses of the same page with other parameters."""

from __future__ import annotations

from django.http import HttpRequest, QueryDict


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
    for name in ("page", *drop):
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
