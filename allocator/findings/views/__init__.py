"""Pages about what is wrong."""

from __future__ import annotations
