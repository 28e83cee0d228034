"""Tags and filters of all templates."""

from __future__ import annotations
