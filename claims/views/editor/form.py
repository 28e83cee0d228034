"""The form of one object, read from its value.

Made anew from the object every time, so that form and text can never disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from claims.authoring.form import paths
from claims.authoring.form.fields import CONSTRAINT_KINDS
from claims.authoring.form.subjects import Kind, has_flat_layout, kind_of
from claims.views.editor.shapes import (
    Amount,
    AskForm,
    ConfigForm,
    ConstraintForm,
    Derived,
    Entry,
    Field,
    Named,
    ObjectForm,
    Remark,
    Remarks,
    RequestForm,
    Selector,
    Toleration,
)
from web.highlight import to_yaml

MOST_ENTRIES: Final = 64
"""Entries of one list that get a row; more are edited in the text."""


def object_form(
    value: Any, remarks: Remarks, typed: Mapping[str, str]
) -> ObjectForm | None:
    """The form of an object; None for kinds and layouts without one.

    ``typed`` holds what stands in fields of which no value could be made.
    """
    kind = kind_of(value)
    if kind is None or has_flat_layout(value):
        return None
    return _Maker(value, kind, remarks, typed).form()


@dataclass(slots=True)
class _Maker:
    value: Any
    kind: Kind
    remarks: Remarks
    typed: Mapping[str, str]
    used: set[str] = field(default_factory=set)
    hidden: int = 0

    def form(self) -> ObjectForm:
        name = self.field("metadata.name")
        namespace = self.field("metadata.namespace") if self.kind.namespaced else None
        if not self.kind.devices:
            form = ObjectForm(
                self.kind,
                name,
                namespace,
                "",
                selectors=self.selectors("spec"),
                configs=self.configs("spec", ()),
                extended=self.field("spec.extendedResourceName"),
            )
        else:
            form = self.claim(name, namespace)
        return self._finished(form)

    def claim(self, name: Field, namespace: Field | None) -> ObjectForm:
        devices = paths.text_of(self.kind.devices)
        requests = [
            self.request(entry) for entry in self.entries(f"{devices}.requests")
        ]
        # What constraints and config may be for: requests, and their alternatives.
        tops = [each.name.value for each in requests]
        subs = [ask.key for each in requests for ask in each.asks]
        names = list(dict.fromkeys([*tops, *subs]))
        return ObjectForm(
            self.kind,
            name,
            namespace,
            devices,
            requests=requests,
            constraints=[
                self.constraint(entry, names)
                for entry in self.entries(f"{devices}.constraints")
            ],
            configs=self.configs(devices, names),
        )

    def _finished(self, form: ObjectForm) -> ObjectForm:
        rest = [
            (path, remark)
            for path, said in self.remarks.items()
            if path not in self.used
            for remark in said
        ]
        return ObjectForm(
            **{
                name: getattr(form, name)
                for name in form.__dataclass_fields__
                if name not in ("elsewhere", "hidden")
            },
            elsewhere=rest,
            hidden=self.hidden,
        )

    # --- parts ---

    def request(self, entry: Entry) -> RequestForm:
        at = entry.path
        name = self.field(f"{at}.name")
        prioritized = isinstance(self.at(f"{at}.firstAvailable"), list)
        if prioritized:
            asks = [
                self.ask(each.path, f"{name.value}/", each)
                for each in self.entries(f"{at}.firstAvailable")
            ]
        else:
            asks = [self.ask(f"{at}.exactly", name.value, None)]
        said = [*self.said(at), *self.said(f"{at}.firstAvailable")]
        return RequestForm(entry, name, prioritized, asks, said)

    def ask(self, at: str, key: str, entry: Entry | None) -> AskForm:
        name = self.field(f"{at}.name") if entry else None
        return AskForm(
            key=key + (name.value if name else ""),
            path=at,
            name=name,
            device_class=self.field(f"{at}.deviceClassName"),
            mode=self.field(f"{at}.allocationMode"),
            count=self.field(f"{at}.count"),
            admin=None if entry else self.field(f"{at}.adminAccess"),
            selectors=self.selectors(at),
            tolerations=[
                self.toleration(each) for each in self.entries(f"{at}.tolerations")
            ],
            amounts=self.amounts(at),
            derived=[
                Derived(
                    each,
                    self.field(f"{each.path}.name"),
                    self.field(f"{each.path}.expression"),
                )
                for each in self.entries(f"{at}.derivedAttributes")
            ],
            entry=entry,
            remarks=[
                *(self.said(at) if entry or at.endswith(".exactly") else ()),
                *self.said(f"{at}.tolerations"),
                *self.said(f"{at}.capacity"),
                *self.said(f"{at}.capacity.requests"),
                *self.said(f"{at}.derivedAttributes"),
            ],
        )

    def selectors(self, at: str) -> list[Selector]:
        return [
            Selector(each, self.field(f"{each.path}.cel.expression", each.path))
            for each in self.entries(f"{at}.selectors")
        ]

    def toleration(self, entry: Entry) -> Toleration:
        at = entry.path
        return Toleration(
            entry,
            self.field(f"{at}.key", at),
            self.field(f"{at}.operator"),
            self.field(f"{at}.value"),
            self.field(f"{at}.effect"),
            self.field(f"{at}.tolerationSeconds"),
        )

    def amounts(self, at: str) -> list[Amount]:
        asked = self.at(f"{at}.capacity.requests")
        if not isinstance(asked, dict):
            return []
        found = []
        for name in list(asked)[:MOST_ENTRIES]:
            path = f"{at}.capacity.requests[{name}]"
            if _leads_to(path, name):
                found.append(Amount(name, path, self.field(path)))
        self.hidden += len(asked) - len(found)
        return found

    def constraint(self, entry: Entry, names: Sequence[str]) -> ConstraintForm:
        at = entry.path
        kind = next(
            (k for k in CONSTRAINT_KINDS if self.at(f"{at}.{k}") is not None),
            CONSTRAINT_KINDS[0],
        )
        value = self.at(f"{at}.{kind}")
        said = [each for k in CONSTRAINT_KINDS for each in self.said(f"{at}.{k}")]
        return ConstraintForm(
            entry,
            kind,
            Field(f"~attribute:{at}", "" if value is None else str(value), said),
            f"{at}.requests",
            self.named(f"{at}.requests", names),
            [*self.said(at), *self.said_below(f"{at}.requests")],
        )

    def configs(self, at: str, names: Sequence[str]) -> list[ConfigForm]:
        return [
            ConfigForm(
                each,
                self.field(f"{each.path}.opaque.driver", f"{each.path}.opaque"),
                self.field(f"{each.path}.opaque.parameters"),
                f"{each.path}.requests",
                self.named(f"{each.path}.requests", names),
                [*self.said(each.path), *self.said_below(f"{each.path}.requests")],
            )
            for each in self.entries(f"{at}.config")
        ]

    def named(self, path: str, names: Sequence[str]) -> list[Named]:
        held = self.at(path)
        chosen = [str(each) for each in held] if isinstance(held, list) else []
        return [
            Named(name, name in chosen)
            for name in dict.fromkeys([*names, *chosen])
            if name
        ]

    # --- single values ---

    def at(self, path: str) -> Any:
        return paths.get(self.value, paths.parse(path))

    def entries(self, path: str) -> list[Entry]:
        held = self.at(path)
        if not isinstance(held, list):
            return []
        shown = min(len(held), MOST_ENTRIES)
        self.hidden += len(held) - shown
        return [
            Entry(f"{path}[{n}]", n, n == 0, n == len(held) - 1) for n in range(shown)
        ]

    def field(self, path: str, *also: str) -> Field:
        """``also`` are paths whose remarks are shown here too."""
        said = [remark for at in (path, *also) for remark in self.said(at)]
        text = self.typed.get(path)
        return Field(path, _text(self.at(path)) if text is None else text, said)

    def said(self, path: str) -> Sequence[Remark]:
        self.used.add(path)
        return self.remarks.get(path, ())

    def said_below(self, path: str) -> list[Remark]:
        """Remarks on a list or on its entries."""
        found: list[Remark] = []
        for at in self.remarks:
            if at == path or at.startswith(f"{path}["):
                found += self.said(at)
        return found


def _leads_to(path: str, name: str) -> bool:
    """Whether the path leads to the key ``name``: one with brackets, or beyond all
    length, has no path and is edited in the text."""
    try:
        return str(paths.parse(path)[-1]) == name
    except paths.PathError:
        return False


def _text(value: Any) -> str:
    """A value as its field shows it; maps and lists as YAML."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return to_yaml(value).rstrip("\n") if value else json.dumps(value)
    return json.dumps(value)
