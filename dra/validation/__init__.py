"""What the API server would say to an object of DRA, before it is asked.

>>> outcome = validate(Request("DeviceClass", {"metadata": {"name": "GPU"}, "spec": {}}))
>>> outcome.accepted, outcome.causes[0].field
(False, 'metadata.name')
"""

from __future__ import annotations

from dra.validation.causes import Cause
from dra.validation.gates import Gates
from dra.validation.outcome import Outcome, Refusal, Request
from dra.validation.validate import validate

__all__ = ["Cause", "Gates", "Outcome", "Refusal", "Request", "validate"]
