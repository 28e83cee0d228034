"""``{% load portal %}``: the cells of lists, for templates.

{% badge "in use" %}  {% badge word label=… title=… %}   state with icon and tone
{% icon "copy" %}     {% copyable text %}                 {% age when %}
{% usage counts %}    {% usage_cell counts %}             bars of devices by state
{{ n|num }}  {{ n|counted:"device" }}  {{ text|cel }}  {{ value|yaml }}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils.safestring import SafeString

from web import highlight
from web.doors import Role, role_of
from web.namespaces import may_write_in
from web.pages import cells
from web.pages.addresses import with_parameters

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    return cells.icon(name, label)


@register.simple_tag
def badge(word: str, label: str = "", title: str = "") -> SafeString:
    return cells.badge(str(word), str(label), title)


@register.simple_tag
def toned(tone: Any, icon_name: str, label: str, title: str = "") -> SafeString:
    return cells.toned(tone, icon_name, label, title)


@register.simple_tag
def copyable(text: str) -> SafeString:
    return cells.copyable(str(text))


@register.simple_tag
def age(at: datetime | None) -> SafeString:
    return cells.age(at)


@register.simple_tag
def usage(counts: Mapping[str, int], *, wide: bool = False) -> SafeString:
    return cells.usage(counts, wide=wide)


@register.simple_tag
def usage_cell(counts: Mapping[str, int]) -> SafeString:
    return cells.usage_cell(counts)


@register.simple_tag(takes_context=True)
def address(context: template.Context, **changes: Any) -> str:
    """The current address with other parameters: ``{% address tab="claims" %}``."""
    return with_parameters(context["request"], **changes)


@register.simple_tag(takes_context=True)
def may(context: template.Context, role: str) -> bool:
    """``{% may "operator" as can_run %}``."""
    held = role_of(context["request"].user)
    return held is not None and held.includes(Role(role))


@register.simple_tag(takes_context=True)
def may_write(context: template.Context, namespace: str) -> bool:
    """``{% may_write object.namespace as can_delete %}``, in the page's cluster."""
    user = context["request"].user
    return may_write_in(user, role_of(user), context["cluster"].name, namespace)


@register.filter
def num(value: float | None) -> Any:
    return cells.number(value)


@register.filter
def counted(value: int, noun: str) -> str:
    """``3|counted:"device"`` → ``3 devices``; irregular: ``"entry,entries"``."""
    singular, _, plural = noun.partition(",")
    return cells.count(value, singular, plural)


@register.filter
def cel(text: str) -> SafeString:
    return highlight.expression(text)


@register.filter
def yaml(value: Any) -> SafeString:
    return highlight.yaml_lines(highlight.to_yaml(value))


@register.filter
def get(mapping: Mapping[Any, Any], key: Any) -> Any:
    """``mapping|get:key``; None when absent."""
    return mapping.get(key)


@register.simple_tag
def share(part: float) -> SafeString:
    """A bar that is filled to ``part`` (0 to 1) of its length."""
    percent = round(part * 100)
    return cells.bar([cells.Part("used", percent, "% taken")], 100)
