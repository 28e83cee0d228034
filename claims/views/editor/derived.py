"""A derived attribute that no constraint looks at: the constraint as a button."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from claims.authoring.form import paths
from claims.authoring.form.subjects import kind_of
from claims.views.editor.shapes import Remark

_FIELD: Final = re.compile(
    r"(?P<request>.*\.requests\[\d+\])\.(?P<ask>exactly|firstAvailable\[\d+\])"
    r"\.derivedAttributes\[\d+\]\.name$"
)
_UNUSED: Final = "must be referenced by at least one"


def is_unused(field: str, message: str) -> bool:
    """Whether an error is about that."""
    return _UNUSED in message and _FIELD.search(field) is not None


def remark(value: Any, field: str, text: str) -> Remark:
    """With the step that adds a constraint for the request that makes the attribute."""
    found, kind = _FIELD.search(field), kind_of(value)
    if found is None or kind is None:
        return Remark("bad", text)
    attribute = paths.get(value, paths.parse(field))
    request = paths.get(value, paths.parse(f"{found['request']}.name"))
    sub = ""
    if found["ask"] != "exactly":
        own = paths.parse(f"{found['request']}.{found['ask']}.name")
        sub = f"/{paths.get(value, own)}"
    at: paths.Path = (*kind.devices, "constraints")
    there = paths.get(value, at)
    new = {"requests": [f"{request}{sub}"], "matchAttribute": attribute}
    constraints = [*(there if isinstance(there, list) else ()), new]
    step = f"sets spec {json.dumps([[paths.text_of(at), constraints]])}"
    return Remark("bad", text, step, "Its devices have the same")
