"""Pages of allocation runs."""

from __future__ import annotations
