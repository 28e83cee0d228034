"""Rules for the spec of a DeviceClass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from dra.validation.causes import Causes, invalid
from dra.validation.formats import is_extended_resource_name
from dra.validation.parts import CONFIGURATION
from dra.validation.rules import Rule, Scope, each
from dra.validation.schema import part
from dra.validation.selectors import SELECTORS

_CONFIG: Final[Rule] = each(CONFIGURATION, at_most=32)


def check_class_spec(
    spec: Mapping[str, Any], old: Mapping[str, Any] | None, path: str, scope: Scope
) -> Causes:
    """Selectors and configurations that did not change at all count as stored."""
    for name, rule in (("selectors", SELECTORS), ("config", _CONFIG)):
        shape = part("DeviceClass", "spec", name)
        unchanged = old is not None and shape.same(spec.get(name), old.get(name))
        of_part = dataclasses.replace(scope, stored=unchanged)
        yield from rule(spec.get(name), f"{path}.{name}", of_part)
    resource = spec.get("extendedResourceName")
    if resource is not None and not is_extended_resource_name(resource):
        yield invalid(
            f"{path}.extendedResourceName",
            resource,
            "must be a valid extended resource name",
        )
