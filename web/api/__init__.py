"""API manners shared by every endpoint: doors, paging, errors, caching."""

from __future__ import annotations
