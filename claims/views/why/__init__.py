"""A claim's page "Why is it waiting?": the answer first, the evidence below."""

from __future__ import annotations

from claims.views.why.page import ClaimWhy

__all__ = ["ClaimWhy"]
