"""Names that no device publishes, that few do, and that some lack where it matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dra.cel.advice import words
from dra.cel.advice.asked import Asked, Mask
from dra.cel.advice.origins import Failure
from dra.cel.advice.repairs import excludes, replaced
from dra.cel.advice.sites import Form, Site
from dra.cel.advice.warnings import MOST, Warning  # noqa: A004 - the word of the field
from dra.cel.ast import Ident, Node, Select
from dra.cel.catalog import type_of
from dra.cel.reads import Read

_FEW: Final = 100
"""A name is rare when at most one in so many devices of its domain has it."""
_TRIED: Final = 16
"""Devices on which a repair is tried."""

_DEFAULTS: Final = {
    "string": '""',
    "int": "-1",
    "bool": "false",
    "version": 'semver("0.0.0")',
    "quantity": 'quantity("0")',
    "ints": "[]",
    "bools": "[]",
    "strings": "[]",
    "versions": "[]",
}


def check(asked: Asked) -> Iterator[Warning]:
    """Warnings about names; the devices they fail on are counted in."""
    failing = {
        failure.node.id: failure for failure in asked.failures if _is_absence(failure)
    }
    told: dict[tuple[str, Read], None] = {}
    # What fails first: a name that is read twice is told of once, at the worse place.
    for site in sorted(asked.sites, key=lambda site: site.node.id not in failing):
        if len(told) >= MOST:
            return
        if not site.read.domain:
            continue
        failure = failing.get(site.node.id)
        warning = _unknown(asked, site, failure)
        if warning is None and failure is not None:
            yield _missing(asked, site, failure)
            continue
        if warning is None:
            warning = _rare(asked, site)
        if warning is None:
            continue
        whole = warning.code == "unknown-domain"
        about = site.read._replace(identifier="") if whole else site.read
        if (warning.code, about) not in told:
            told[warning.code, about] = None
            yield warning


def _is_absence(failure: Failure) -> bool:
    return failure.message.startswith("no such key: ")


def explained(asked: Asked, failure: Failure) -> bool:
    """Whether :func:`check` says why this happens."""
    site = asked.site_at.get(failure.node.id)
    return site is not None and bool(site.read.domain) and _is_absence(failure)


# --- nobody has it ---


def _unknown(asked: Asked, site: Site, failure: Failure | None) -> Warning | None:
    read = site.read
    if not read.identifier and site.form != "in":
        return None
    if not asked.rows.any():
        return None
    if read.identifier and (asked.has(read) & asked.rows).any():
        return None
    in_domain = asked.has_domain(read.kind, read.domain)
    domain_known = bool((in_domain & asked.rows).any())
    if not read.identifier and domain_known:
        return None
    split = None if domain_known else _split(asked, site)
    if split is not None:
        return split
    outside = asked.has(read) if read.identifier else in_domain
    code = "unknown-name" if domain_known else "unknown-domain"
    if read.identifier and domain_known:
        what = words.named(read)
        message = f"{asked.no_device} has the {what}"
    else:
        plural = "capacities" if read.kind == "capacity" else "attributes"
        message = f"{asked.no_device} has {plural} of {read.domain}"
    example = None
    if failure is not None:
        count = len(failure.rows)
        example = asked.table.ids[int(failure.rows[0])]
        message += (
            f", and the selector fails on {words.devices(count)} because of it "
            f"({asked.drivers(_mask(asked, failure.rows))}): the scheduler stops there"
        )
    elif site.form in ("has", "in"):
        message += ", so this is false on every one"
    elif site.form == "optional":
        message += ", so there is never a value here"
    message += "."
    suggestion = ""
    elsewhere = int(np.count_nonzero(outside))
    if elsewhere:
        message += (
            f" {words.devices(elsewhere)} {'that was' if elsewhere == 1 else 'that were'}"
            f" not asked {words.have(elsewhere)} it."
        )
    meant = [other for other in asked.catalog.near(read) if _is_asked(asked, other)]
    if meant:
        options = words.either(words.path(other) for other in meant)
        message += f" Did you mean {options}?"
        suggestion = _instead(asked, site, meant[0])
    elif not elsewhere:
        message += _present_instead(asked, read, domain_known=domain_known)
    return Warning(
        code,
        message,
        site.node.start,
        site.node.end,
        devices=0,
        total=asked.total,
        example=example,
        suggestion=suggestion,
    )


def _is_asked(asked: Asked, read: Read) -> bool:
    """Whether an asked device publishes ``read``, a name or a domain."""
    has = asked.has(read) if read.identifier else asked.has_domain(*read[:2])
    return bool((has & asked.rows).any())


def _present_instead(asked: Asked, read: Read, *, domain_known: bool) -> str:
    """What there is, where nothing is like what was written."""
    if domain_known:
        names = sorted(r.identifier for r in asked.catalog if r[:2] == read[:2])
        return (
            f" There {'is' if len(names) == 1 else 'are'} {words.some(names, most=8)}."
        )
    domains = sorted(asked.catalog.domains(read.kind))
    if not domains:
        return ""
    return f" Domains in use: {words.some(domains, most=5)}."


def _instead(asked: Asked, site: Site, read: Read) -> str:
    """The text that reads ``read`` in the same way, if it compiles."""
    text = _rewritten(site.form, read, bracket=_in_brackets(asked, site))
    return text if replaced(asked, site.node, text) is not None else ""


def _in_brackets(asked: Asked, site: Site) -> bool:
    return asked.source(site.node).endswith("]")


def _rewritten(form: Form, read: Read, *, bracket: bool) -> str:
    path = words.path(read)
    if not read.identifier:
        return f"{words.literal(read.domain)} in device.{read.kind}"
    operand = words.path(read._replace(identifier=""))
    key = words.literal(read.identifier)
    match form:
        case "has":
            return f"has({path})"
        case "in":
            return f"{key} in {operand}"
        case "optional" if bracket or not words.is_identifier(read.identifier):
            return f"{operand}[?{key}]"
        case "optional":
            return f"{operand}.?{read.identifier}"
    return f"{operand}[{key}]" if bracket else path


def _split(asked: Asked, site: Site) -> Warning | None:
    """``device.attributes.gpu.nvidia.com.type``: the dots of the domain are taken for
    steps into it."""
    domain = site.operand
    if not isinstance(domain, Select) or isinstance(domain.operand, Ident):
        return None
    names = [site.read.domain, site.read.identifier]
    top: Node = site.node
    while not isinstance(top, Select) or not top.test:
        parent = asked.parents.get(top.id)
        if not isinstance(parent, Select) or parent.operand is not top:
            break
        top = parent
        names.append(parent.field)
    if not isinstance(top, Select) or len(names) < 3:
        return None
    known = asked.catalog.domains(site.read.kind)
    for length in range(2, len(names)):
        dotted = ".".join(names[:length])
        if dotted in known:
            break
    else:
        dotted, length = ".".join(names[:-1]), len(names) - 1
    rest = "".join(f".{name}" for name in names[length:])
    text = f"device.{site.read.kind}[{words.literal(dotted)}]{rest}"
    if top.test:
        text = f"has({text})"
    return Warning(
        "split-domain",
        f"This looks for {names[1]} in a domain called {names[0]}, which no device has. "
        f"A domain with dots goes in quotes and brackets: {text}",
        top.start,
        top.end,
        devices=0,
        total=asked.total,
        suggestion=text,
    )


# --- some lack it ---


def _missing(asked: Asked, site: Site, failure: Failure) -> Warning:
    read, count = site.read, len(failure.rows)
    lacking = _mask(asked, failure.rows)
    whose = asked.drivers(lacking)
    message = (
        f"{count:,} of {words.devices(asked.total)} {words.do(count)} not have the "
        f"{words.named(read)}{'' if whose == read.domain else f' ({whose})'}. The "
        "scheduler stops with an error when it looks at "
        f"{'it' if count == 1 else 'one of them'}. "
    )
    owners = asked.driver_names(asked.has(read))
    others = asked.driver_names(lacking)
    guard = f"{_guard(asked, site)} && …"
    if len(owners) == 1 and owners[0] not in others:
        message += (
            f"Name the driver first, unless the device class does so already: "
            f"device.driver == {words.literal(owners[0])} && …; or check first: {guard}"
        )
    else:
        message += f"Check first: {guard}"
    return Warning(
        "missing",
        message,
        site.node.start,
        site.node.end,
        devices=count,
        total=asked.total,
        example=asked.table.ids[int(failure.rows[0])],
        suggestion=_with_default(asked, site, failure),
    )


def _guard(asked: Asked, site: Site) -> str:
    text = asked.source(site.node)
    if isinstance(site.node, Select):
        return f"has({text})"
    return f"{words.literal(site.read.identifier)} in {asked.source(site.operand)}"


def _with_default(asked: Asked, site: Site, failure: Failure) -> str:
    """The read with a default that excludes the devices without it, if one does."""
    column = asked.table.columns[site.read]
    types = {type_of(column.raws[code]) for code in _codes(asked, site.read)}
    if len(types) != 1:
        return ""
    name = site.read.identifier
    operand = asked.source(site.operand)
    key = f"[?{words.literal(name)}]" if _in_brackets(asked, site) else f".?{name}"
    default = _DEFAULTS.get(types.pop())
    if default is None:
        return ""
    text = f"{operand}{key}.orValue({default})"
    changed = replaced(asked, site.node, text)
    tried = failure.rows[:: max(1, len(failure.rows) // _TRIED)].tolist()
    if changed is None or not excludes(changed, asked, tried):
        return ""
    return text


def _codes(asked: Asked, read: Read) -> list[int]:
    found = asked.published(read)
    return [] if found is None else found.codes[:_TRIED]


# --- few have it ---


def _rare(asked: Asked, site: Site) -> Warning | None:
    read = site.read
    if not read.identifier:
        return None
    has = asked.has(read) & asked.rows
    few = int(np.count_nonzero(has))
    if few * _FEW > asked.total:
        return None
    domain = asked.count(asked.has_domain(read.kind, read.domain))
    if not few or few * _FEW > domain:
        return None
    return Warning(
        "rare-name",
        f"Only {few:,} of the {words.devices(domain)} with names of {read.domain} "
        f"{words.have(few)} the {words.noun(read)} {read.identifier}.",
        site.node.start,
        site.node.end,
        devices=few,
        total=asked.total,
        example=asked.example(has),
    )


def _mask(asked: Asked, rows: np.ndarray) -> Mask:
    mask = np.zeros(len(asked.table), np.bool_)
    mask[rows] = True
    return mask
