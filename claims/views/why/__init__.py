"""The pages "Why is it waiting?" of claims and pods: the answer first, the evidence below."""

from __future__ import annotations

from claims.views.why.page import ClaimWhy
from claims.views.why.pod import PodWhy

__all__ = ["ClaimWhy", "PodWhy"]
