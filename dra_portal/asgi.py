"""ASGI entry: ordinary views are synchronous, the event stream needs the loop."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
application = get_asgi_application()
