"""What-ifs of the portal: runs, scenarios that are kept, pages, REST, headroom."""

from __future__ import annotations
