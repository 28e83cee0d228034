"""Small pieces of HTML that lists make thousands of: made in Python, always escaped.

The template tags of ``web.templatetags.portal`` call the same functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from web.looks import Tone, look_of

NOTHING = mark_safe('<span class="nothing">–</span>')  # a constant

_MONO = mark_safe(' class="mono"')  # a constant

type Html = SafeString


@lru_cache(maxsize=1024)  # a page has dozens, and finding the sprite's address is slow
def icon(name: str, label: str = "") -> Html:
    """An icon of the sprite; without ``label`` it is decoration."""
    href = f"{static('icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="icon" role="img" aria-label="{}"><use href="{}"/></svg>',
            label,
            href,
        )
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}"/></svg>', href
    )


def badge(word: str, label: str = "", title: str = "") -> Html:
    """The word of a state with its icon and tone; ``label`` is shown instead of it."""
    look = look_of(word)
    return toned(look.tone, look.icon, label or word, title)


def toned(tone: Tone, icon_name: str, label: str, title: str = "") -> Html:
    """A badge whose look does not come from the table of words."""
    hint = format_html(' title="{}"', title) if title else ""
    return format_html(
        '<span class="badge tone-{}"{}>{}{}</span>', tone, hint, icon(icon_name), label
    )


def link(href: str, text: object, *, mono: bool = False, title: str = "") -> Html:
    css = _MONO if mono else ""
    hint = format_html(' title="{}"', title) if title else ""
    return format_html('<a href="{}"{}{}>{}</a>', href, css, hint, text)


def mono(text: object) -> Html:
    return format_html('<span class="mono">{}</span>', text) if text else NOTHING


def number(value: float | None) -> str | Html:
    """With thin thousands separators: ``1,024``."""
    return NOTHING if value is None else f"{value:,}"


def count(value: int, singular: str, plural: str = "") -> str:
    """``1 device``, ``1,024 devices``."""
    word = singular if value == 1 else (plural or f"{singular}s")
    return f"{value:,} {word}"


def joined(parts: Iterable[object], separator: str = ", ") -> Html:
    return format_html_join(separator, "{}", ((part,) for part in parts)) or NOTHING


def tags(texts: Iterable[object]) -> Html:
    """Small neutral labels, one per text."""
    return format_html_join(" ", '<span class="tag">{}</span>', ((t,) for t in texts))


def copyable(text: str) -> Html:
    """An identifier with a button that copies it."""
    return format_html(
        '<span class="copyable"><span class="mono">{}</span>'
        '<button type="button" class="copy" data-copy="{}" title="Copy">{}'
        '<span class="sr-only">Copy {}</span></button></span>',
        text,
        text,
        icon("copy"),
        text,
    )


# --- time ------------------------------------------------------------------

_UNITS = (
    (365 * 86400, "y"),
    (86400, "d"),
    (3600, "h"),
    (60, "min"),
)


def span_words(seconds: float) -> str:
    """``12 s``, ``3 min``, ``5 h``, ``2 d``: the largest unit, rounded down."""
    seconds = max(0.0, seconds)
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def age(at: datetime | None, *, now: datetime | None = None) -> Html:
    """How long ago, with the exact time in UTC as title."""
    if at is None:
        return NOTHING
    elapsed = ((now or timezone.now()) - at).total_seconds()
    utc = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        utc.isoformat(timespec="seconds"),
        utc.strftime("%d %b %Y %H:%M:%S UTC"),
        span_words(elapsed),
    )


def ago(at: datetime | None) -> Html:
    """The same as a phrase: ``3 min ago``."""
    return NOTHING if at is None else format_html("{} ago", age(at))


# --- bars ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a stacked bar. ``kind`` picks colour and pattern."""

    kind: str
    amount: float
    label: str


_BAR_WIDTH = 100.0


def bar(parts: Iterable[Part], total: float, *, wide: bool = False) -> Html:
    """A stacked bar of ``parts`` on ``total``; says its numbers to a screen reader.

    The picture never stands alone: callers write the main numbers beside it.
    """
    shown = [part for part in parts if part.amount > 0]
    words = ", ".join(f"{part.amount:,} {part.label}" for part in shown)
    label = f"{words or 'nothing'} of {total:,}"
    x = 0.0
    rects = []
    for part in shown:
        width = part.amount / total * _BAR_WIDTH if total else 0.0
        width = min(width, _BAR_WIDTH - x)
        rects.append((f"{x:.2f}", f"{width:.2f}", part.kind, part.amount, part.label))
        x += width
    return format_html(
        '<svg class="bar{}" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><rect class="track" width="100" height="8"/>{}</svg>',
        " wide" if wide else "",
        label,
        format_html_join(
            "",
            '<rect x="{}" width="{}" height="8" class="part-{}">'
            "<title>{} {}</title></rect>",
            rects,
        ),
    )


def usage(counts: Mapping[str, int], *, wide: bool = False) -> Html:
    """The bar of devices by state, in the order in which people read it.

    Keys: free, in use, shared, blocked, tainted, incomplete, invalid (others are
    left out of the picture but count for the total).
    """
    order = ("in use", "shared", "blocked", "tainted", "incomplete", "invalid", "free")
    parts = [Part(word.replace(" ", "-"), counts.get(word, 0), word) for word in order]
    return bar(parts, sum(counts.values()), wide=wide)


def usage_cell(counts: Mapping[str, int]) -> Html:
    """Bar and "free / all" for a table cell."""
    total = sum(counts.values())
    if not total:
        return NOTHING
    return format_html(
        '<span class="meter">{}<span class="num">{} / {}</span></span>',
        usage(counts),
        f"{counts.get('free', 0):,}",
        f"{total:,}",
    )
