"""REST endpoints of what is asked for and held. Read-only mirrors."""

from __future__ import annotations
