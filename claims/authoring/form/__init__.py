"""The form of the claim editor: fields and steps that change one object of a draft.

The object as plain JSON is the only model. A field is named by its path as the API
server writes it, so that what is wrong with a value is found at its field; a step is
a word and a path (``add spec.devices.requests``). What the form does not know stays.
"""

from __future__ import annotations

from claims.authoring.form.fields import Applied, with_fields
from claims.authoring.form.rebasing import differences, rebased
from claims.authoring.form.steps import STEPS, Done, StepError, done
from claims.authoring.form.subjects import KINDS, Kind, blank, devices_path, kind_of

__all__ = [
    "KINDS",
    "STEPS",
    "Applied",
    "Done",
    "Kind",
    "StepError",
    "blank",
    "devices_path",
    "differences",
    "done",
    "kind_of",
    "rebased",
    "with_fields",
]
