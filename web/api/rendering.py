"""JSON answers that can be sent, whatever somebody has said that they repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer


class WholeJSONRenderer(JSONRenderer):
    """An escape in a body can say half a character, of which no UTF-8 can be made; an
    answer that repeats it says it by an escape too."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().render(data, accepted_media_type, renderer_context)
        except UnicodeEncodeError:
            return _Escaping().render(data, accepted_media_type, renderer_context)


class _Escaping(JSONRenderer):
    ensure_ascii = True
