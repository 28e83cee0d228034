"""Pages of what-ifs."""

from __future__ import annotations
