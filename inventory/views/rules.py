"""Taint rules: which devices does somebody keep claims away from?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.html import strip_tags

from allocator.findings.queries import ObjectRef
from inventory.filtersets import TaintRuleFilter
from inventory.models import DeviceTaintRule
from inventory.queries import devices, slices
from inventory.views import links, ours
from inventory.views.device_tables import device_table
from inventory.views.kit import ClusterDetail, ClusterList, MirroredYaml
from web.pages import Column, Crumb, Fact, Heading, cells

EFFECTS = {
    "NoSchedule": "No new claim gets these devices unless it tolerates the taint; "
    "running pods stay.",
    "NoExecute": "No new claim gets these devices, and pods that use them are evicted "
    "unless their claim tolerates the taint.",
    "None": "Only for information: nothing is kept away.",
}


def _taint(rule: DeviceTaintRule) -> dict[str, Any]:
    spec = rule.raw.get("spec")
    taint = spec.get("taint") if isinstance(spec, dict) else None
    return taint if isinstance(taint, dict) else {}


def _target(rule: DeviceTaintRule) -> str:
    parts = [
        f"{word} {value}"
        for word, value in (
            ("driver", rule.driver),
            ("pool", rule.pool),
            ("device", rule.device),
        )
        if value
    ]
    return ", ".join(parts) or "every device"


class TaintRules(ClusterList[DeviceTaintRule]):
    title = "Taint rules"
    name = "taint-rules"
    noun = ("rule", "rules")
    filterset_class = TaintRuleFilter
    refresh_on = ("DeviceTaintRule", "ResourceSlice")
    empty_title = "No taint rules"
    nothing_yet = (
        "Nobody has tainted a device with a DeviceTaintRule, or this cluster does not "
        "serve the kind (it is behind a feature gate). The page Clusters says which."
    )

    def available_columns(self) -> Sequence[Column]:
        return (
            Column(
                "name",
                "Rule",
                sort=("name",),
                kind="mono",
                href=lambda r: self.url("taint-rule", r.name),
            ),
            Column("effect", "Effect", sort=("effect", "name"), kind="badge"),
            Column(
                "taint",
                "Taint",
                value=lambda r: links.taint_text(_taint(r)),
                kind="mono",
            ),
            Column("target", "On", value=_target, sort=("driver", "pool", "device")),
            Column("ours", "What it is", value=self._ours, cell=self._ours_cell),
            Column(
                "devices",
                "Devices",
                value=lambda r: devices.devices_of_rule(r).count(),
                kind="number",
                title="Published devices that the rule names now.",
            ),
            Column("problem", "Problem", if_any=True, value="problem"),
            Column(
                "created", "Age", value="created_at", sort=("-created_at",), kind="age"
            ),
        )

    @cached_property
    def _owner(self) -> str:
        return ours.owner_here(self.cluster.name)

    def _ours(self, rule: DeviceTaintRule) -> str:
        return str(strip_tags(self._ours_cell(rule, nothing="")))

    def _ours_cell(self, rule: DeviceTaintRule, nothing: str = cells.NOTHING) -> str:
        return ours.of_rule(self.cluster.name, rule.raw, self._owner) or nothing

    def queryset(self) -> QuerySet[DeviceTaintRule]:
        return devices.rule_rows(self.cluster).select_related("cluster")

    def filter_options(self) -> dict[str, list[str]]:
        return {"driver": slices.drivers(self.cluster)}


class TaintRulePage(ClusterDetail[DeviceTaintRule]):
    template_name = "inventory/rule.html"

    def load(self) -> DeviceTaintRule:
        name = self.kwargs["name"]
        rows = DeviceTaintRule.objects.select_related("cluster")
        try:
            return rows.get(cluster=self.cluster, name=name)
        except DeviceTaintRule.DoesNotExist:
            raise Http404(
                f"The cluster has no taint rule “{name}” (any more)."
            ) from None

    def heading(self) -> Heading:
        rule = self.object
        sentence = EFFECTS.get(rule.effect, "")
        if rule.effect in ("NoSchedule", "NoExecute") and not self._ours():
            sentence += f" To free them: kubectl delete devicetaintrule {rule.name}."
        if rule.problem:
            sentence = (
                f"This rule cannot be read: {rule.problem} It has no effect here."
            )
        return Heading(
            kind="Taint rule",
            name=rule.name,
            sentence=sentence,
            badges=[cells.badge(rule.effect)] if rule.effect else [],
            crumbs=[
                self.cluster_crumb(),
                Crumb("Taint rules", self.url("taint-rules")),
                Crumb(rule.name),
            ],
            yaml_href=self.url("taint-rule-yaml", rule.name),
        )

    def facts(self) -> list[Fact]:
        rule = self.object
        taint = _taint(rule)
        return [
            Fact("Taint", cells.copyable(links.taint_text(taint))),
            Fact("On", _target(rule)),
            Fact("Since", links.since(taint.get("timeAdded"))),
            Fact("Age", cells.age(rule.created_at)),
            *([Fact("What it is", said, wide=True)] if (said := self._ours()) else []),
        ]

    def _ours(self) -> str:
        here = self.cluster.name
        return ours.of_rule(here, self.object.raw, ours.owner_here(here))

    def concerned(self) -> list[ObjectRef]:
        return [ObjectRef("DeviceTaintRule", "", self.object.name)]

    def extra(self) -> dict[str, object]:
        rows = devices.devices_of_rule(self.object).order_by("driver", "pool", "name")
        table = device_table(self.cluster.name, rows.defer("facts"))
        return super().extra() | table | {"device_total": rows.count()}


class TaintRuleYaml(MirroredYaml):
    model = DeviceTaintRule
    kind = "Taint rule"
    section = ("Taint rules", "taint-rules")
    page = "taint-rule"
