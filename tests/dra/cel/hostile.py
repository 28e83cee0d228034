"""Expressions written to be slow, deep or large, in families: name and text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from tests.dra.cel.conformance import cases
from tests.dra.cel.hostile_library import calls, formats, numbers, regexes, runs
from tests.dra.cel.hostile_macros import macros, types
from tests.dra.cel.hostile_parts import (
    ATTRIBUTES,
    SIZE,
    Named,
    close,
    fill,
    wrap,
)


@cache
def all_texts() -> tuple[Named, ...]:
    """Every hostile text, each name once."""
    return tuple(_all_texts())


def _all_texts() -> Iterator[Named]:
    for family in (
        chains,
        nests,
        unclosed,
        literals,
        lists_and_maps,
        macros,
        types,
        calls,
        regexes,
        formats,
        runs,
        numbers,
        blanks,
        errors,
        recorded,
    ):
        yield from ((f"{family.__name__}: {name}", text) for name, text in family())


def chains() -> Iterator[Named]:
    operators = [
        "&&",
        "||",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "in",
        "+",
        "-",
        "*",
        "/",
        "%",
        ".",
        ".?",
        "?",
        "?:",
        ",",
        ";",
        "&",
        "|",
        "=",
    ]
    for operator in operators:
        for operand in ("1", "true", "'a'", "x", "device.driver", f"{ATTRIBUTES}.x"):
            yield f"{operand} {operator}", fill(operand, f" {operator} ")
    for terms in (1200, 2559):
        for operator in ("&&", "||"):
            yield f"{terms} {operator}", f"{operator} ".join(["true"] * terms)
            yield f"{terms} {operator} names", operator.join(["x"] * terms)
            yield f"{terms} {operator} ints", operator.join(["1"] * terms)
    yield "&& and ||", fill("true && false", " || ")
    yield "|| and &&", fill("true || false", " && ")
    yield "&& and conditional", fill("true && true ? true", " : ") + " : true"
    yield "mixed sums", fill("1 + 2 * 3 - 4 / 5 % 6", " + ")
    yield "comparisons in a chain", fill("1 < 2 == true", " && ")
    for field in ("a", "attributes", "driver", "x.y"):
        yield f"select {field}", "device" + fill(f".{field}")
        yield f"select {field} twice", f"device.attributes.{field}" + f".{field}" * 300
        yield (
            f"optional select {field}",
            ATTRIBUTES + fill(f".?{field}", around=ATTRIBUTES),
        )
    yield "select of dyn", "dyn(1)" + ".a" * 248
    yield "index", "[1]" + fill("[0]", around="[1]")
    yield "index of dyn", "dyn([1])" + "[0]" * 240
    yield "optional index", ATTRIBUTES + fill('[?"x"]', around=ATTRIBUTES)
    for method in ("size()", "matches('a')", "orValue(1)", "value()", "all(x, x)"):
        yield f"method {method}", "'a'" + fill(f".{method}", around="'a'")
    yield "methods within the limit", "'a'" + ".trim()" * 245 + " == ''"
    yield "replace in a chain", "'a'" + ".replace('a', 'aa')" * 120 + " == ''"
    yield "conditionals right", fill("true ? 1", " : ") + " : 1"
    yield "conditionals in the middle", wrap("true ? ", "1", " : 1", 240)
    yield "commas", fill(",")
    yield "calls of a name", fill("f()", " && ")


PAIRS = {
    "parentheses": ("(", ")"),
    "lists": ("[", "]"),
    "maps": ("{1: ", "}"),
    "map keys": ("{", ": 1}"),
    "not": ("!", ""),
    "minus": ("-", ""),
    "not, parentheses": ("!(", ")"),
    "minus, parentheses": ("-(", ")"),
    "dyn": ("dyn(", ")"),
    "optionals": ("optional.of(", ")"),
    "conditions": ("(true ? ", " : 1)"),
    "conditions on the left": ("(", " ? 1 : 2)"),
    "sums on the right": ("1 + (", ")"),
    "sums on the left": ("(", " + 1)"),
    "and": ("true && (", ")"),
    "indexes": ("[1][", "]"),
    "messages": ("T{a: ", "}"),
    "optional elements": ("[?", "]"),
    "optional entries": ("{?1: ", "}"),
    "type": ("type(", ")"),
    "has": ("has(", ".x)"),
    "bind values": ("cel.bind(x, ", ", x)"),
    "bind bodies": ("cel.bind(x, 1, ", ")"),
    "map in lists": ("[1].map(x, ", ")"),
    "all in lists": ("[1].all(x, ", ")"),
    "map of maps": ("(", ".map(x, x))"),
    "filter of filters": ("(", ".filter(x, true))"),
    "exists of exists": ("[", "].exists(x, x)"),
    "optMap": ("optional.of(1).optMap(x, ", ")"),
    "optMap targets": ("(", ").optMap(x, x)"),
    "optFlatMap": ("optional.of(1).optFlatMap(x, optional.of(", "))"),
    "sortBy": ("[1].sortBy(x, ", ")"),
    "sortBy targets": ("[", "].sortBy(x, 1)"),
    "transformMap": ("{1: 1}.transformMap(k, v, ", ")"),
    "transformMapEntry": ("{1: 1}.transformMapEntry(k, v, {1: ", "})"),
    "functions": ("f(", ")"),
    "methods": ("'a'.matches(", ")"),
    "sets": ("sets.contains([", "], [])"),
    "flatten": ("[", "].flatten()"),
    "format": ("'%s'.format([", "])"),
    "strings.quote": ("strings.quote(", ")"),
}


def nests() -> Iterator[Named]:
    for name, (opening, closing) in PAIRS.items():
        most = (SIZE - 20) // len(opening + closing)
        for inside in ("1", "true", "'a'", "device"):
            for times in (10, 24, 60, 120, 240, 249, 250, 251, 260, 1000, most):
                if times <= most:
                    text = wrap(opening, inside, closing, times)
                    yield f"{times} {name} around {inside}", text
        yield f"{name}, equal", _equal(wrap(opening, "1", closing, 120))
        yield f"{name}, equal, short", _equal(wrap(opening, "1", closing, 30))
    for name, (opening, closing) in PAIRS.items():
        other = {"(": "[", "[": "("}.get(opening[:1], "(")
        both = {"(": ")", "[": "]"}[other]
        text = wrap(opening + other, "1", both + closing, 120)
        yield f"{name} and {other}", text


def _equal(text: str) -> str:
    return f"{text} == {text}"


def unclosed() -> Iterator[Named]:
    openings = ["(", "[", "{", "'", '"', "'''", '"""', "r'", "b'", 'rb"', "`", "//"]
    for opening in openings:
        yield opening, opening
        yield f"{opening} filled", opening + "a" * (SIZE - len(opening))
        yield f"{opening} often", fill(opening)
        yield f"{opening} often, spaced", fill(opening, " ")
        yield f"{opening} after text", f"device.driver == {opening}" + "x" * 9000
        yield f"{opening} of backslashes", opening + "\\" * (SIZE - len(opening))
        yield f"{opening} of escapes", opening + fill("\\n", around=opening)
        yield f"{opening} of new lines", opening + "\n" * (SIZE - len(opening))
        yield f"{opening} of quotes", opening + fill("'\"", around=opening)
    for name, (opening, closing) in PAIRS.items():
        yield f"{name} never closed", opening * 240
        yield f"{name} never opened", "1" + (closing or "!") * 240
        yield f"{name} often, never closed", fill(opening)
    for quote in ("'''", '"""', "r'''"):
        yield f"{quote} with quotes", quote + fill("''\"\" ", around=quote)
        yield f"{quote} with a bad escape", quote + "a" * 9000 + "\\q" + quote
        yield f"{quote} escapes", quote + fill("\\\\", size=9000) + quote
    yield "strings side by side", fill("''")
    yield "bad escapes", fill("'\\q'", " ")


_CHARACTERS = {
    "astral": "\U0001f600",
    "NUL": "\0",
    "lone surrogate": "\ud800",
    "surrogate pair in halves": "\ud83d\ude00",
    "accent": "é",
    "combining": "e\u0301",
    "wide": "漢",
    "right to left": "\u202e",
    "byte order mark": "\ufeff",
    "line separator": "\u2028",
    "next line": "\x85",
    "no-break space": "\xa0",
    "vertical tab": "\v",
    "delete": "\x7f",
    "last code point": "\U0010ffff",
    "fraction": "½",
    "Arabic digit": "\u0663",
    "long s": "ſ",
}


def literals() -> Iterator[Named]:
    for name, character in _CHARACTERS.items():
        size = len(character.encode("utf-8", "surrogatepass"))
        often = character * (9000 // size)
        yield f"{name} alone", character
        yield f"{name} often", often
        yield f"{name} in a name", f"device.a{character}b"
        yield f"{name} in a string", f"device.driver == '{often}'"
        yield f"{name} in bytes", f"b'{often}' == b''"
        yield f"{name} in a comment", f"true // {often}"
        yield f"{name} before an error", f"'{often}' == nobody"
        yield f"{name} after an error", f"nobody == '{often}'"
        yield f"{name} escaped", f"'\\{character}'"
        yield f"{name} as a key", f"device.attributes['{character}'].x == 1"
        yield f"{name} as a pattern", f"'a'.matches('{character}')"
    for escape in ("\\n", "\\x41", "\\u00e9", "\\U0001f600", "\\101", "\\'", "\\\\"):
        for prefix in ("", "b"):
            for quote in ("'", '"', "'''", '"""'):
                body = fill(escape, size=10_200)
                yield f"{prefix}{quote}{escape}", f"{prefix}{quote}{body}{quote} == 1"
    for bad in ("\\ud800", "\\U00110000", "\\Uffffffff", "\\400", "\\x4", "\\"):
        yield f"bad escape {bad}", f"'{bad}' == ''"
        yield f"bad escape {bad} often", "'" + fill(bad, size=9000) + "' == ''"
    yield "long string", "'" + "a" * 10_200 + "' == ''"
    yield "long name", "a" * SIZE
    yield "long field", "device." + "a" * 10_000
    yield "long function", "a" * 10_000 + "()"
    yield "long method", "'a'." + "a" * 10_000 + "()"
    yield "long type name", "a" * 10_000 + "{}"
    yield "long dotted type name", fill("a", ".", size=10_000) + "{}"
    yield "long dotted function", fill("a", ".", size=400) + "()"


_ELEMENTS = {
    "ints": ["1"],
    "strings": ["'a'"],
    "bools": ["true"],
    "names": ["device"],
    "attributes": [f"{ATTRIBUTES}.x"],
    "mixed": ["1", "'a'"],
    "last differs": ["1"] * 2000 + ["'a'"],
    "lists": ["[]"],
    "maps": ["{}"],
    "lists of lists": ["[[1]]", "[['a']]"],
    "empty and typed lists": ["[]", "[1]", "[[]]"],
    "dyn": ["dyn(1)", "1"],
    "nulls": ["null", "device"],
    "types": ["int", "string", "type(1)"],
    "optionals": ["optional.none()", "optional.of(1)"],
    "unknown names": ["x", "y"],
    "functions": ["f()"],
    "conversions": ["int('1')"],
    "negative": ["-1"],
    "doubles": ["1e9", "0.1"],
}


def lists_and_maps() -> Iterator[Named]:
    for name, elements in _ELEMENTS.items():
        many = elements * 4000
        items: list[str] = []
        pairs: list[str] = []
        room, pair_room = 10_100, 10_100
        for number, item in enumerate(many):
            room -= len(item) + 1
            pair_room -= len(item) + len(str(number)) + 2
            if room > 0:
                items.append(item)
            if pair_room > 0:
                pairs.append(f"{number}:{item}")
        yield f"list of {name}", f"[{','.join(items)}] == []"
        yield f"list of {name}, in", f"1 in [{','.join(items)}]"
        yield f"list of {name}, size", f"[{','.join(items)}].size() > 0"
        yield f"map of {name}", f"{{{','.join(pairs)}}} == {{}}"
        yield f"map of {name}, in", f"1 in {{{','.join(pairs)}}}"
    yield "list of optional elements", f"[{fill('?x', ',', size=10_000)}] == []"
    yield "same key", f"{{{fill('1: 1', ',', size=10_000)}}} == {{}}"
    many_ints = fill("1", ",", size=5000)
    for call in ("sort", "distinct", "reverse", "flatten", "sum", "isSorted", "min"):
        yield f"long list, {call}", f"dyn([{many_ints}].{call}()) == 1"
    yield "two long lists", f"[{many_ints}] == [{many_ints}]"
    yield "two long lists, sets", f"sets.equivalent([{many_ints}], [{many_ints}])"
    yield "comma at the end", f"[{many_ints},] == []"
    yield "two commas at the end", f"[{many_ints},,] == []"


def blanks() -> Iterator[Named]:
    yield "nothing", ""
    for name, text in {
        "spaces": " ",
        "tabs": "\t",
        "new lines": "\n",
        "returns": "\r\n",
        "form feeds": "\f",
        "comments": "//\n",
        "long comments": f"// {'a' * 100}\n",
        "mixed": " \t\r\n// x\n",
    }.items():
        yield name, fill(text)
        yield f"{name} before true", fill(text, size=10_000) + "true"
        yield f"{name} before an error", fill(text, size=10_000) + "nobody"
        yield f"{name} before a bad character", fill(text, size=10_000) + "#"
        yield f"{name} between", fill(f"true{text}", f"&&{text}")
        yield f"{name} after", "true" + fill(text, size=10_000)
    yield "one long comment", "//" + "a" * 10_000
    yield "comment in a comment", "// //" * 2000
    yield "comment with a return", "true // a\r && false"
    yield "slashes", "/" * 9000
    yield "too long", "true" + " " * SIZE
    yield "too long by one", "'" + "é" * 5116 + "a' == ''"
    yield "very long", "true && " * 100_000 + "true"
    yield "very long name", "a" * 1_000_000
    yield "very long and halved", "\ud800" * 500_000


def errors() -> Iterator[Named]:
    for name, unit in {
        "names": "x",
        "fields": "device.x",
        "types": "1 == 'a'",
        "overloads": "1 + 'a'",
        "functions": "f(x)",
        "methods": "x.f(y)",
        "signatures": "[1].matches({'a': [1]})",
        "ints": "1",
        "protobuf": "google.protobuf.Any{}",
    }.items():
        for between in (" && ", " || ", "&&\n", "\t&& "):
            yield f"{name} by {between!r}", fill(unit, between)
        yield f"{name} in a list", f"[{fill(unit, ',', size=10_000)}]"
        yield (
            f"{name} after wide text",
            f"'{'漢' * 1000}' == " + fill(unit, " || ", size=7000),
        )
    deep = wrap("[", "1", "]", 100)
    yield "deep types", fill(f"{deep} + 1", " || ")
    yield "deep types in a call", fill(f"size({deep}, {deep})", " || ")
    yield "large types", "x(" + fill(wrap("{1: ", "1", "}", 50), ",", size=9000) + ")"
    yield (
        "large type often",
        f"cel.bind(a, {deep}, {fill('a + 1', ' || ', size=9000)})",
    )
    doubled = "cel.bind(a, {1: 1}, " + "cel.bind(a, {a: a}, " * 10
    yield "doubled type often", close(doubled, fill("a + 1", " || ", size=9500))
    doubled = "cel.bind(a, {1: 1}, " + "cel.bind(a, {a: a}, " * 14
    yield "more doubled type often", close(doubled, fill("a + 1", " || ", size=9500))
    yield "patterns", fill("'a'.matches('(')", " || ")
    yield "durations", fill("duration('x') == duration('y')", " || ")
    yield "mixed lists", fill("[1, 'a'] == []", " || ")
    yield "mixed maps", f"{{{fill('1: 1, true: true', ', ', size=9000)}}} == {{}}"
    yield "formats", fill("'%d'.format(['a']) == ''", " || ")


def recorded() -> Iterator[Named]:
    """Expressions with answers of the reference, many times."""
    chosen = random.Random(1).sample(cases(), 150)
    for case in chosen:
        if len(case.expression) < 1000:
            yield case.id, fill(f"({case.expression})", " && ")
