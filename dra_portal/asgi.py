"""ASGI entry: ordinary views are synchronous, the event stream needs the loop."""

from __future__ import annotations

import os
from importlib import import_module

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
application = get_asgi_application()

import_module("dra_portal.metrics").begin()
# Every page is imported now and not by whoever asks first.
import_module(settings.ROOT_URLCONF)
import_module("dra_portal.warming").start()
