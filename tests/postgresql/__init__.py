"""Django's PostgreSQL, for tests: tables are emptied row by row.

A test with real transactions ends by emptying every table. TRUNCATE makes a new file for
each of them and waits for the disk, half a second for tables with a few rows.
"""

from __future__ import annotations
