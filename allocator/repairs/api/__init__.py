"""REST endpoints of repairs."""

from __future__ import annotations
