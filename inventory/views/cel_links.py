"""Links from other pages to the CEL page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse


def cel_href(cluster: str, expression: str, **parameters: str) -> str:
    """The CEL page with an expression; ``parameters`` as it has them (``term``).

    A class comes as ``device_class``.
    """
    scope = parameters.pop("device_class", "")
    said = {"expression": expression, "class": scope, **parameters}
    query = [(name, value) for name, value in said.items() if value]
    return f"{reverse('cel', args=[cluster])}?{urlencode(query, errors='replace')}"


def joined(expressions: Sequence[str]) -> str:
    """One expression that is true where all of these are."""
    if len(expressions) == 1:
        return expressions[0]
    return " && ".join(map(enclosed, expressions))


def enclosed(expression: str) -> str:
    """In parentheses, of which a comment at the end must not swallow the last."""
    return f"({expression}\n)" if "//" in expression else f"({expression})"
