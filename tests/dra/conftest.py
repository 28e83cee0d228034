"""Settings of property tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine makes single examples slow; that says nothing about a law.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
