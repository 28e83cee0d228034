"""The CEL page: what does this expression do on my devices?"""

from __future__ import annotations

from claims.views.cel.device import CelOnDevice
from claims.views.cel.page import CelPage

__all__ = ["CelOnDevice", "CelPage"]
