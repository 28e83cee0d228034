"""Settings of the test run: PostgreSQL, fast hashes, nothing of the developer's machine."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("DRA_PORTAL_VAR", tempfile.mkdtemp(prefix="dra-portal-tests-"))
os.environ["DRA_PORTAL_DATABASE"] = os.environ.get(
    "DRA_PORTAL_TEST_DATABASE", "postgresql://postgres@127.0.0.1:5432/dra_portal"
)
os.environ.setdefault("DRA_PORTAL_BROKER", "memory://")
os.environ.setdefault("DRA_PORTAL_LOG_LEVEL", "WARNING")

from dra_portal.settings import *  # noqa: F403

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":  # noqa: F405  # from the star import
    DATABASES["default"]["ENGINE"] = "tests.postgresql"  # noqa: F405
    # Nobody wants a test's rows back after a crash, so nothing waits for the disk.
    DATABASES["default"]["OPTIONS"] = {"options": "-c synchronous_commit=off"}  # noqa: F405
# Times after which an answer is cut short are for those who wait for it.
CEL_SECONDS = WAITING_SECONDS = 60
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405  # from the star import
