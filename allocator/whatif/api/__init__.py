"""REST of what-ifs: ask, follow, cancel; scenarios that are kept; headroom."""

from __future__ import annotations
