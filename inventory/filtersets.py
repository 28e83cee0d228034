"""Filters of the inventory, the same on pages and in the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import django_filters as filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import StrIndex
from drf_spectacular.utils import extend_schema_field

from inventory.choices import DeviceState
from inventory.models import (
    Cluster,
    Device,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    Pool,
    ResourceSlice,
)
from inventory.queries.picked import picked
from inventory.selecting import Matches, NoSuchNode, Reached
from web.filters import (
    MAX_TEXT,
    ChoiceFilter,
    SearchFilter,
    TextFilter,
    YesNoFilter,
)

MAX_CONDITIONS = 10
MAX_CONDITION = 600
"""A qualified name and a value of 64 characters fit several times."""
MAX_ISSUES = 5
"""Issues of an expression that are told."""
ONE_NODE = "Whether a device is for one node alone; else several may reach it."
OWN_DEVICES = "Devices that are for this node alone."
REACHED_DEVICES = "Devices that pods on this node can get: its own and those it shares with other nodes."


class NodeFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "zone", "instance_type"), placeholder="name, zone or type"
    )
    zone = TextFilter(label="Zone")
    instance_type = TextFilter(label="Instance type")
    driver = TextFilter(
        label="Driver",
        method="filter_driver",
        help_text="Nodes with a device or a pool of this driver that is for them alone.",
    )
    ready = YesNoFilter(label="Ready")
    cordoned = YesNoFilter(label="Cordoned", field_name="unschedulable")

    class Meta:
        model = Node
        fields: list[str] = []

    def filter_driver(
        self, queryset: QuerySet[Node], _name: str, value: str
    ) -> QuerySet[Node]:
        """Nodes for which the driver has published a pool, or a device of one."""
        its = {
            "cluster": OuterRef("cluster"),
            "node_name": OuterRef("name"),
            "driver": value,
        }
        # Slices may name the node of each device, and a pool may have no device.
        return queryset.filter(
            Exists(Device.objects.filter(**its)) | Exists(Pool.objects.filter(**its))
        )


class NamespaceFilter(filters.FilterSet):
    q = SearchFilter(fields=("name",), placeholder="name")
    admin_access = YesNoFilter(label="Admin access")

    class Meta:
        model = Namespace
        fields: list[str] = []


class PoolFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "driver", "node_name"), placeholder="name, driver or node"
    )
    driver = TextFilter(label="Driver")
    node_name = TextFilter(
        label="Node", help_text="Pools of which every slice names this node."
    )
    complete = YesNoFilter(label="Complete")
    valid = YesNoFilter(label="Valid")
    usable = YesNoFilter(label="Usable", method="filter_usable")

    class Meta:
        model = Pool
        fields: list[str] = []

    def filter_usable(
        self, queryset: QuerySet[Pool], _name: str, value: str
    ) -> QuerySet[Pool]:
        """Devices of a pool may be allocated only when it is complete and valid."""
        usable = Q(complete=True, valid=True)
        return queryset.filter(usable if value == "true" else ~usable)


class SliceFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "driver", "pool_name", "node_name"),
        placeholder="name, driver, pool or node",
    )
    driver = TextFilter(label="Driver")
    pool = TextFilter(label="Pool", field_name="pool_name")
    node_name = TextFilter(label="Node", help_text="Slices that name this node.")
    unreadable = YesNoFilter(label="Unreadable", method="filter_unreadable")

    class Meta:
        model = ResourceSlice
        fields: list[str] = []

    def filter_unreadable(
        self, queryset: QuerySet[ResourceSlice], _name: str, value: str
    ) -> QuerySet[ResourceSlice]:
        readable = queryset.filter(problem="")
        return readable if value == "false" else queryset.exclude(problem="")


class ConditionsField(forms.Field):
    """A parameter that may be repeated: ``attr=name=value`` or ``attr=name``."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[str]:
        texts = [str(text) for text in value or () if text]
        if len(texts) > MAX_CONDITIONS:
            raise ValidationError(f"Use at most {MAX_CONDITIONS} conditions.")
        for text in texts:
            if len(text) > MAX_CONDITION or "\n" in text or "\x00" in text:
                raise ValidationError(
                    f"A condition is name=value on one line, at most {MAX_CONDITION} "
                    "characters."
                )
        return texts


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class AttributeFilter(filters.Filter):
    """Devices with this attribute or capacity, or with this value of it; all must hold.

    Exact on the value's text: ``gpu.nvidia.com/type=gpu``,
    ``gpu.nvidia.com/memory=81559Mi``.
    """

    field_class = ConditionsField

    def filter(self, qs: QuerySet[Any], value: list[str]) -> QuerySet[Any]:
        for index, condition in enumerate(value or ()):
            whole = f"\n{condition}\n" if "=" in condition else f"\n{condition}="
            # Not __contains: SQLite's LIKE ignores case.
            place = f"condition_{index}"
            qs = qs.alias(**{place: StrIndex("facts", Value(whole))})
            qs = qs.filter(**{f"{place}__gt": 0})
        return qs


type Ask = Callable[[str], tuple[Cluster, Matches]]
"""Evaluates an expression on every device of the one cluster that is looked at."""


class ExpressionField(forms.CharField):
    """A CEL expression; its value is what ``ask`` made of it, None without any text."""

    widget = forms.Textarea(
        attrs={
            "rows": "1",
            "class": "expression",
            "spellcheck": "false",
            "autocomplete": "off",
            "autocapitalize": "off",
            "placeholder": 'device.driver == "gpu.example.com"',
        }
    )

    def __init__(self, *, ask: Ask | None = None, **kw: Any) -> None:
        self.ask = ask
        super().__init__(strip=False, **kw)
        # A NUL is for the compiler to refuse, with its place.
        self.validators.clear()

    def clean(self, value: Any) -> tuple[Cluster, Matches] | None:
        # A form sends a line break as two characters; an expression has one.
        text = super().clean(value).replace("\r\n", "\n")
        if not text.strip():
            return None
        if self.ask is None:
            raise ValidationError(
                "A CEL filter is for the devices of one cluster: name the cluster, too."
            )
        cluster, found = self.ask(text)
        if problems := sentences(found):
            raise ValidationError(problems)
        return cluster, found


def sentences(found: Matches) -> list[str]:
    """Why there is no answer: each issue with its place, or that the time was over."""
    if found.incomplete:
        return [found.incomplete]
    return [
        issue.message
        if issue.line is None
        else f"Line {issue.line}, column {issue.column}: {issue.message}"
        for issue in found.compiled.issues[:MAX_ISSUES]
    ]


@extend_schema_field({"type": "string"})
class CelFilter(filters.Filter):
    """Devices on which the expression is true. Needs ``ask`` (see :data:`Ask`)."""

    field_class = ExpressionField

    def filter(
        self, qs: QuerySet[Any], value: tuple[Cluster, Matches] | None
    ) -> QuerySet[Any]:
        if value is None:
            return qs
        cluster, found = value
        return qs.filter(picked(cluster, found.table, found.mask))


type AskReach = Callable[[str], tuple[Cluster, Reached]]
"""What a node of the one cluster that is looked at reaches. Raises NoSuchNode."""


class ReachField(forms.CharField):
    """The name of a node; its value is what ``ask`` found, None without a name."""

    def __init__(self, *, ask: AskReach | None = None, **kw: Any) -> None:
        self.ask = ask
        super().__init__(max_length=MAX_TEXT, **kw)

    def clean(self, value: Any) -> tuple[Cluster, Reached] | None:
        name = super().clean(value)
        if not name:
            return None
        if self.ask is None:
            raise ValidationError(
                "Which devices a node reaches is known of one cluster: name the "
                "cluster, too."
            )
        try:
            return self.ask(name)
        except NoSuchNode as error:
            raise ValidationError(str(error)) from error


@extend_schema_field({"type": "string"})
class ReachFilter(filters.Filter):
    """Devices that pods on the node can get. Needs ``ask`` (see :data:`AskReach`)."""

    field_class = ReachField

    def filter(
        self, qs: QuerySet[Any], value: tuple[Cluster, Reached] | None
    ) -> QuerySet[Any]:
        if value is None:
            return qs
        cluster, found = value
        return qs.filter(picked(cluster, found.table, found.reach.any_way))


class DeviceFilter(filters.FilterSet):
    """``ask`` evaluates the CEL filter, ``reach`` that by reach; without it there is none."""

    q = SearchFilter(
        fields=("name", "pool", "node_name", "facts"),
        placeholder="name, node, or any attribute value",
    )
    driver = TextFilter(label="Driver")
    state = filters.MultipleChoiceFilter(label="State", choices=DeviceState)
    node_name = TextFilter(label="Node", help_text=OWN_DEVICES)
    reaches = ReachFilter(label="Reached by node", help_text=REACHED_DEVICES)
    one_node = YesNoFilter(
        label="For one node", method="filter_one_node", help_text=ONE_NODE
    )
    pool = TextFilter(label="Pool")
    slice = TextFilter(label="Slice", field_name="slice__name")
    shareable = YesNoFilter(label="Shareable")
    tainted = YesNoFilter(label="Tainted")
    taint = TextFilter(label="Taint key", method="filter_taint")
    attr = AttributeFilter(label="Attribute")
    cel = CelFilter(label="CEL")

    class Meta:
        model = Device
        fields: list[str] = []

    def __init__(
        self,
        *args: Any,
        ask: Ask | None = None,
        reach: AskReach | None = None,
        **kw: Any,
    ) -> None:
        super().__init__(*args, **kw)
        self.filters["cel"].extra["ask"] = ask
        self.filters["reaches"].extra["ask"] = reach

    def filter_one_node(
        self, queryset: QuerySet[Device], _name: str, value: str
    ) -> QuerySet[Device]:
        several = Q(node_name="")
        return queryset.filter(several if value == "false" else ~several)

    def filter_taint(
        self, queryset: QuerySet[Device], _name: str, value: str
    ) -> QuerySet[Device]:
        """Devices with a taint of this key. Few are tainted: JSON is read for those."""
        candidates = queryset.exclude(taints=[]).values_list("pk", "taints")
        wanted = [
            pk
            for pk, taints in candidates.iterator(chunk_size=2000)
            if any(isinstance(t, dict) and t.get("key") == value for t in taints)
        ]
        return queryset.filter(pk__in=wanted)


class ClassFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "extended_resource_name"), placeholder="name or resource"
    )
    extended = YesNoFilter(label="Extended resource", method="filter_extended")

    class Meta:
        model = DeviceClass
        fields: list[str] = []

    def filter_extended(
        self, queryset: QuerySet[DeviceClass], _name: str, value: str
    ) -> QuerySet[DeviceClass]:
        none = Q(extended_resource_name="")
        return queryset.filter(none if value == "false" else ~none)


class TaintRuleFilter(filters.FilterSet):
    q = SearchFilter(
        fields=("name", "driver", "pool", "device"), placeholder="name, driver, device"
    )
    driver = TextFilter(label="Driver")
    effect = ChoiceFilter(
        label="Effect",
        choices=[(name, name) for name in ("NoSchedule", "NoExecute", "None")],
    )

    class Meta:
        model = DeviceTaintRule
        fields: list[str] = []
