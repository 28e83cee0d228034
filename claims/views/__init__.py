"""Pages of claims, templates and pods."""

from __future__ import annotations
