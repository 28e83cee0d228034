"""One finding: what, where, why it matters, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dra.audits.codes import MEANINGS, SEVERITIES, Code, Severity


class Subject(msgspec.Struct, frozen=True, order=True):
    """Which thing a finding is about.

    ``kind`` is a Kubernetes kind, or "Pool" and "Driver": then ``name`` is
    ``driver/pool`` or the driver. ``device`` is the full name of a device that it is
    about, ``detail`` tells findings of one code about one thing apart (an attribute, a
    counter, a pod).
    """

    kind: str
    namespace: str
    name: str
    device: str = ""
    detail: str = ""

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"


class Finding(msgspec.Struct, frozen=True):
    """``code`` and ``subject`` identify it from one audit to the next.

    ``sentence`` says what is wrong here; ``why`` and ``repair`` are those of the code.
    ``evidence`` are facts by name, as text.
    """

    code: Code
    severity: Severity
    subject: Subject
    sentence: str
    why: str
    repair: str
    evidence: dict[str, str]

    @property
    def title(self) -> str:
        return MEANINGS[self.code].title

    @property
    def key(self) -> tuple[Code, Subject]:
        return self.code, self.subject


def finding(code: Code, subject: Subject, sentence: str, **evidence: object) -> Finding:
    meaning = MEANINGS[code]
    return Finding(
        code=code,
        severity=meaning.severity,
        subject=subject,
        sentence=sentence,
        why=meaning.why,
        repair=meaning.repair,
        evidence={name: str(value) for name, value in evidence.items() if value != ""},
    )


def worst_first(found: Finding) -> tuple[int, Code, Subject]:
    """To sort findings by: severity, code, subject."""
    return SEVERITIES.index(found.severity), found.code, found.subject


def of_claim(key: tuple[str, str], *, device: str = "", detail: str = "") -> Subject:
    return Subject("ResourceClaim", *key, device, detail)


def of_pool(key: tuple[str, str], *, device: str = "", detail: str = "") -> Subject:
    return Subject("Pool", "", f"{key[0]}/{key[1]}", device, detail)


def counted(number: int, noun: str) -> str:
    """ "1 device", "2 devices", "3 classes"."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


type Findings = Mapping[object, tuple[Finding, ...]]
"""By what was looked at; nothing for what is all right."""
