"""Pages of what-ifs: building a scenario, its answer, what is kept, headroom."""

from __future__ import annotations
