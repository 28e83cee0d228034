"""What every page and endpoint shares: doors, list pages, exports, API manners.

Knows nothing of DRA and none of the other apps.
"""

from __future__ import annotations
