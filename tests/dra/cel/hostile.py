"""Expressions written to be slow, deep or large, in families: name and text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from tests.dra.cel.conformance import cases

SIZE = 10_240
"""Bytes that a selector may have; most texts here fill them."""

type Named = tuple[str, str]

_A = 'device.attributes["d"]'


def fill(unit: str, between: str = "", *, size: int = SIZE, around: str = "") -> str:
    """``unit`` as often as fits, joined; ``around`` is part of the size."""
    room = size - len(around.encode()) + len(between.encode())
    times = max(room // len((unit + between).encode()), 1)
    return between.join([unit] * times)


def wrap(opening: str, inside: str, closing: str, times: int) -> str:
    return opening * times + inside + closing * times


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
        for operand in ("1", "true", "'a'", "x", "device.driver", f"{_A}.x"):
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
        yield f"optional select {field}", _A + fill(f".?{field}", around=_A)
    yield "select of dyn", "dyn(1)" + ".a" * 248
    yield "index", "[1]" + fill("[0]", around="[1]")
    yield "index of dyn", "dyn([1])" + "[0]" * 240
    yield "optional index", _A + fill('[?"x"]', around=_A)
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
    "attributes": [f"{_A}.x"],
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


_LOOPS = ["map", "filter", "all", "exists", "exists_one"]


def macros() -> Iterator[Named]:
    for size in (2, 10, 100):
        numbers = ", ".join(map(str, range(size)))
        for loop in _LOOPS:
            for depth in (2, 4, 8, 16, 32):
                text = f"[{numbers}].{loop}(x{{}}, "
                opening = "".join(text.format(level) for level in range(depth))
                if len(opening) < 10_000:
                    yield (
                        f"{loop} of {size}, {depth} deep",
                        f"{opening}true{')' * depth}",
                    )
    for step in ("x + x", "[x, x]", "x.replace('', x)", "[x, x].flatten()", "{x: x}"):
        for start in ("'xx'", "[1]", "1", "{1: 1}", "b'xx'", "[[]]", "device"):
            for levels in (20, 60, 120, 230):
                text = f"cel.bind(x, {start}, " + f"cel.bind(x, {step}, " * levels
                yield f"doubling {step} of {start}, {levels}", _close(text, "x != x")
            many = "".join(f".map(x, {step})" for _ in range(20))
            yield f"doubling {step} of {start} by map", f"[{start}]{many} == []"
    for levels in (8, 12, 16, 20, 40):
        chain = "optional.of(1)" + ".optMap(x, x)" * levels
        yield f"{levels} optMap", f"{chain}.hasValue()"
        chain = "optional.of(1)" + ".optFlatMap(x, optional.of(x))" * levels
        yield f"{levels} optFlatMap", f"{chain}.hasValue()"
        yield f"{levels} sortBy", "[1]" + ".sortBy(x, x)" * levels + " == []"
        yield f"{levels} map", "[1]" + ".map(x, x)" * levels + " == []"
        yield f"{levels} filter", "[1]" + ".filter(x, x > 0)" * levels + " == []"
    for levels in (16, 40, 200):
        yield (
            f"binds side by side, {levels}",
            " && ".join(["cel.bind(x, true, x)"] * levels),
        )
    long = fill("x", " + ", size=4000)
    yield "long body", f"cel.bind(x, 1, {long}) == 1"
    yield "long bodies", f"[1].map(x, {long}) == [1].map(x, {long})"
    yield "long optMap", f"optional.of(1).optMap(x, {long}).hasValue()"
    yield "long target of optMap", f"optional.of({long[:240]}).optMap(x, x).hasValue()"
    yield "macros in a chain", fill("[1].all(x, x > 0)", " && ")
    yield "macros, bad variable", fill("[1].all(1, true)", " && ")
    yield "macros, wrong count", fill("[1].all(x)", " && ")
    yield "has of nothing", fill("has(x)", " && ")
    yield "has in a chain", fill(f"has({_A}.x)", " && ")
    yield "two variables", fill("[1].all(i, v, v > i)", " && ")
    yield "accumulator named", "[1].map(@result, 1)"
    yield "old accumulator named", "[1].map(__result__, 1) == [1]"


def _bound(name: str, start: str, step: str, levels: int) -> str:
    """A text with one ``%s`` for what is done with a large value."""
    opening = f"cel.bind({name}, {start}, " + f"cel.bind({name}, {step}, " * levels
    return f"{opening}%s{')' * (levels + 1)}"


def _close(text: str, inside: str) -> str:
    depth = text.count("(") - text.count(")")
    return f"{text}{inside}{')' * depth}"


def types() -> Iterator[Named]:
    for step in ("{x: x}", "{1: x, 2: x}", "[x]", "[[x]]", "{'a': [x, x]}", "type(x)"):
        for levels in (5, 10, 15, 20, 40, 100):
            for start in ("1", "[]", "{}", "dyn(1)", "null"):
                text = f"cel.bind(x, {start}, " + f"cel.bind(x, {step}, " * levels
                if len(text) > 10_000:
                    continue
                yield f"{step} of {start}, {levels}", _close(text, "x == x")
                yield f"{step} of {start}, {levels}, bad", _close(text, "x + x")
                yield f"{step} of {start}, {levels}, unequal", _close(text, "x == 1")
                yield (
                    f"{step} of {start}, {levels}, optional",
                    _close(text, "optional.of(x).hasValue()"),
                )
    for depth in (3, 6, 9):
        text = "1"
        for _ in range(depth):
            text = f"{{{text}: {text}}}"
        yield f"map types, {depth}", f"{text} == {text}"[:SIZE]
    for count in (10, 100, 1000):
        lists = ",".join(["[]"] * count)
        yield f"{count} open lists", f"[{lists}] == [[1], {lists}]"
        yield f"{count} open lists of lists", f"[[{lists}]] == [[[1]], [{lists}]]"
        yield f"{count} open conditionals", "true ? [] : " * min(count, 240) + "[1]"
        sums = " + ".join(["[]"] * min(count, 240))
        yield f"{count} open sums", f"{sums} + [1] == []"
        yield f"{count} open equalities", " && ".join(["[] == []"] * count)
    nested = wrap("[", "", "]", 120)
    yield "deep types", f"[{nested}, {nested[1:-1]}, {nested}] == []"
    yield "deep types joined", f"{nested} + {nested} == {nested}"


_FUNCTIONS = {
    "matches": "'a'.matches('a')",
    "semver": "semver('1.2.3').isGreaterThan(semver('1.2.4'))",
    "quantity": "quantity('1Gi').compareTo(quantity('2Gi')) > 0",
    "int": "int('1') == 1",
    "attribute": f"{_A}.x == 1",
    "attribute as any": f"{_A}.x > {_A}.y",
    "attribute method": f"{_A}.x.contains({_A}.y)",
    "attribute sum": f"{_A}.x + {_A}.y == {_A}.z",
    "timestamp": "timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') > 1",
    "duration": "duration('1h') > duration('2h')",
    "ip": "ip('::1').isLoopback()",
    "cidr": "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    "url": "url('http://a.b/c').getHost() == 'a.b'",
    "format": "format.uuid().validate('x').hasValue()",
    "format text": "'%s %d %.3f'.format(['a', 1, 1.5]) == ''",
    "optional": f"{_A}.?x.orValue(1) == 1",
    "in": f"{_A}.x in [1, 2, 3]",
    "sort": "[3, 1, 2].sort() == [1, 2, 3]",
    "replace": "'a'.replace('a', 'b') == 'b'",
}


def calls() -> Iterator[Named]:
    for name, text in _FUNCTIONS.items():
        yield f"{name} and", fill(text, " && ")
        yield f"{name} or", fill(text, " || ")
        yield f"{name} in a list", f"[{fill(text, ',', size=10_000)}] == []"
        yield f"{name} conditional", fill(f"{text} ? true", " : ") + " : true"
    for count in (2, 50, 2000):
        args = ",".join(["1"] * count)
        for name in ("size", "f", "int", "dyn", "_+_", "optional.of", "'a'.matches"):
            yield f"{name} of {count}", f"{name}({args}) == 1"
    overloads = f"{_A}.x"
    for operator in ("+", "-", "*", "<", "=="):
        middle = fill(overloads, f" {operator} ", size=4000)
        yield f"any {operator}", f"{middle} == 1"
    for name in ("getHours", "size", "contains", "isGreaterThan", "compareTo", "add"):
        yield f"any {name}", fill(f"{_A}.x.{name}({_A}.y)", " || ")


def regexes() -> Iterator[Named]:
    for name, pattern in {
        "repeat 1000": "a{1000}",
        "repeat of repeats": "(a{100}){100}",
        "repeats, three deep": "((a{10}){10}){10}",
        "repeats, five deep": "((((a{10}){10}){10}){10}){10}",
        "repeat over the limit": "a{1001}",
        "open repeats": "(a{0,100}){0,100}",
        "nested stars": wrap("(", "a", ")*", 60),
        "deep groups": wrap("(", "a", ")", 1000),
        "deeper groups": wrap("(", "a", ")", 4000),
        "deep stars": wrap("(?:", "a", ")*", 990),
        "alternatives": fill("a", "|", size=9000),
        "alternatives of words": fill("abc|def", "|", size=9000),
        "classes": fill("[a-z]", size=9000),
        "large class": "[" + "".join(chr(0x4E00 + i) for i in range(2500)) + "]",
        "unicode classes": fill("\\p{L}", size=3000),
        "unicode class repeats": "(\\p{L}{100}){10}",
        "dots": fill(".*", size=9000),
        "optional letters": fill("a?", size=4000) + fill("a", size=2000),
        "lazy": fill(".*?", size=9000),
        "case": "(?i)" + "straße" * 900,
        "flags": fill("(?i)", size=9000),
        "names": "".join(f"(?P<n{i}>a)" for i in range(800)),
        "unclosed group": "(" * 9000,
        "unclosed class": "[" * 9000,
        "stars only": "*" * 9000,
        "backslashes": "\\\\" * 4500,
        "any byte": "\\C" * 4000,
        "repeat of classes": "([a-z]{50}[0-9]{50}){20}",
        "word boundaries": "\\b" * 4000,
    }.items():
        quoted = pattern.replace("'", "\\'")
        for call in ("matches", "find", "findAll"):
            yield f"{name}, {call}", f"dyn('a'.{call}(r'{quoted}')) == 1"
        yield f"{name}, attribute", f"{_A}.s.matches(r'{quoted}')"
    many = [f"'a'.matches('(a{{{n}}}){{{n}}}')" for n in range(1, 400)]
    yield "many patterns", " || ".join(many)[:9000].rpartition(" || ")[0]
    many = [f"'a'.matches('x{{{n}}}')" for n in range(1, 1000)]
    yield "many repeats", " || ".join(many)[:9000].rpartition(" || ")[0]
    text = "a" * 8000
    for pattern in ("(a*)*b", "(a|aa)*b", "a.*a.*a.*b", "(.*)(.*)(.*)(.*)b"):
        yield f"long text, {pattern}", f"'{text}'.matches('{pattern}')"
        yield f"long text, findAll {pattern}", f"'{text}'.findAll('{pattern}') == []"
    for pattern in ("", "a", "a*?", "a|b", "$", ".", "a*$", "b*"):
        yield f"long text, findAll {pattern}", f"'{text}'.findAll('{pattern}') == []"


def formats() -> Iterator[Named]:
    for verb in [
        "s",
        "d",
        "f",
        "e",
        "x",
        "X",
        "b",
        "o",
        ".3f",
        ".300f",
        ".301f",
        ".12e",
        "q",
        ".",
    ]:
        clause = f"%{verb}"
        for value in ("'a'", "1", "1.5", "[]", "x"):
            count = 9500 // (len(clause) + len(value) + 1)
            values = ",".join([value] * count)
            yield (
                f"{clause} of {value}",
                f"'{clause * count}'.format([{values}]) == ''",
            )
        yield f"{clause} without values", f"'{clause * 3000}'.format([]) == ''"
    yield "percent signs", f"'{'%' * 9000}'.format([]) == ''"
    yield "odd percent signs", f"'{'%' * 9001}'.format([]) == ''"
    yield "long text", f"'{'a' * 9000}'.format([]) == ''"
    yield "long precision", f"'%.{'9' * 9000}f'.format([1.0]) == ''"
    yield "zeros as precision", f"'%.{'0' * 17}f'.format([1.5]) == ''"
    yield "precision without end", f"'%.{'9' * 9000}'.format([1.0]) == ''"
    yield "too many values", f"'a'.format([{fill('1', ',', size=9000)}]) == ''"
    yield "deep value", f"'%s'.format([{wrap('[', '1', ']', 230)}]) == ''"
    yield "deep wrong value", f"'%s'.format([{wrap('[', 'device', ']', 230)}]) == ''"
    yield "tiny double", "'%.300f'.format([5e-324]) == ''"
    yield "huge double", "'%.300f'.format([1.7e308]) == ''"
    yield "formats", fill("'%.300f'.format([1.7e308]) != ''", " && ")
    yield (
        "text of long formats",
        f"'{'%s' * 200}'.format([{fill('1.7e308', ',', size=1600)}]) == ''",
    )
    for text in ("1.7e308", "'%.300f'.format([1.7e308])"):
        yield (
            f"binds of {text[:9]}",
            _close(
                f"cel.bind(x, {text}, " + "cel.bind(x, '%s%s'.format([x, x]), " * 30,
                "x == ''",
            ),
        )


_LONG_LIST = _bound("l", "[1, 2, 3]", "l + l", 14)
_LONG_TEXT = _bound("s", "'abcdefghij'", "s + s", 12)
_ASTRAL = _bound("s", "'\U0001f600é'", "s + s", 14)
_MANY = "lists.range(300000)"


def runs() -> Iterator[Named]:
    """Cheap by CEL's cost, and long or large all the same."""
    free = fill("true", "&&", size=8000)
    for macro in ("all", "exists_one", "filter"):
        yield f"{macro}, free terms", f"dyn({_MANY}.{macro}(x, {free})) != 1"
        yield f"{macro}, nothing", f"dyn({_MANY}.{macro}(x, true)) != 1"
    yield "map, nothing", f"{_MANY}.map(x, true) != []"
    conditions = wrap("(true ? ", "true", " : false)", 240)
    yield "free conditions", f"{_MANY}.all(x, {conditions})"
    yield "free negations", f"{_MANY}.all(x, {wrap('!(', 'true', ')', 240)})"
    yield (
        "free presence",
        f"{_MANY}.all(x, {fill('has(device.driver)', '&&', size=5000)})",
    )
    yield (
        "free alternatives",
        f"{_MANY}.all(x, optional.of(true){'.or(optional.of(true))' * 200}.value())",
    )
    yield (
        "two loops",
        "lists.range(500).all(x, lists.range(500).all(y, x != y || true))",
    )
    for name, text in {
        "concatenated": "(l + l).size()",
        "flattened": "[l, l, l].flatten().size()",
        "compared": "[l] == [l + []] ? 1 : 1",
        "compared in a map": "{1: l} == {1: l + []} ? 1 : 1",
        "contained": "[l] in [[l + []]] ? 1 : 1",
        "indexed": "[[1]].indexOf(l)",
        "written": "'%s'.format([l]).size()",
        "joined": "l.map(x, 'a').join().size()",
        "reversed": "l.reverse().size()",
        "smallest": "l.min()",
        "sorted": "l.isSorted() ? 1 : 1",
        "summed": "l.sum()",
        "unwrapped": "[optional.of(l)].unwrapOpt().size()",
    }.items():
        yield f"long list {name}", f"{_LONG_LIST % f'{_MANY}.all(x, {text} > -2)'}"
        yield (
            f"long list {name} and kept",
            f"{_LONG_LIST % f'{_MANY}.map(x, {text}) != []'}",
        )
    kept = {
        "concatenated": "l + l",
        "flattened": "[l, l, l].flatten()",
        "reversed": "l.reverse()",
        "sliced": "l.slice(1, 1000)",
        "unwrapped": "[optional.of(l)].unwrapOpt()",
    }
    for name, text in kept.items():
        yield f"long lists kept, {name}", _LONG_LIST % f"{_MANY}.map(x, {text}) != []"
    for texts, long in (("text", _LONG_TEXT), ("astral text", _ASTRAL)):
        for name, text in {
            "replaced": "s.replace('', s.substring(0, 1000))",
            "replaced by more": "s.replace('', '12345')",
            "formatted": f"'{'%s' * 100}'.format([{fill('s', ',', size=199)}])",
            "quoted": "'%s'.format([[s]])",
            "quoted by name": "strings.quote(s)",
            "lower": "s.lowerAscii()",
            "upper": "s.upperAscii()",
            "joined": "[s, s, s].join(s)",
            "split": "s.split('').join()",
            "trimmed": "s.trim()",
            "doubled": "s + s",
            "hex": "'%x'.format([s])",
            "found": "s.find('.*')",
            "bytes": "string(bytes(s))",
        }.items():
            yield f"{texts} {name}", long % f"{_MANY}.all(x, {text} != '')"
            yield f"{texts} {name} and kept", long % f"{_MANY}.map(x, {text}) != []"
        for name, text in {
            "matched": "s.matches('(a|b)*c(d|e)*$')",
            "matched by many states": "s.matches('(.?){500}z$')",
            "found everywhere": "s.findAll('').size() > 0",
            "found by letters": "s.findAll('.').size() > 0",
            "found to the end": "s.findAll('(?:.*z)?').size() > 0",
            "searched": "s.contains(s.substring(1) + 'z')",
            "searched from the end": "s.lastIndexOf('z' + s.substring(5)) > -2",
            "searched for a part": "s.indexOf('z' + s.substring(5)) > -2",
            "split up": "s.split('').size() > 0",
            "validated": "format.dns1123Subdomain().validate(s).hasValue()",
            "parsed": "isURL('http://' + s)",
        }.items():
            yield f"{texts} {name}", long % f"{_MANY}.all(x, {text})"
    yield (
        "last index",
        "".join(
            (
                "cel.bind(s, lists.range(60000).map(x, 'a').join(), ",
                "s.lastIndexOf('b' + s.substring(30000)) == -1)",
            )
        ),
    )
    for name, text in {
        "patterns": "'a'.matches(string(x) + '(a{30}){30}')",
        "patterns of letters": r"'é'.matches(string(x) + '(\\p{L}{20})')",
        "patterns too large": r"'é'.matches(string(x) + '(\\p{L}\\p{N}){400}')",
        "bad patterns": "'a'.matches(string(x) + '(')",
        "versions": "isSemver('1.2.' + string(x))",
        "quantities": "isQuantity(string(x) + 'Gi')",
        "moments": "timestamp(x) < timestamp('2020-01-01T00:00:00Z')",
        "read moments": "timestamp(string(timestamp(x))) > timestamp(0)",
        "moments by zone": "timestamp(x).getHours('Europe/Berlin') < 25",
        "unknown zones": "timestamp(x).getHours('a' + string(x)) < 25",
        "spans": "duration(string(x) + 's') >= duration('0s')",
        "addresses": "isIP('10.0.0.' + string(x % 255))",
        "blocks": "cidr('10.0.0.0/8').containsIP('10.0.0.' + string(x % 255))",
        "urls": "isURL('http://a.b/' + string(x))",
        "queries": "url('http://a.b/?a=1&b=' + string(x)).getQuery().size() == 2",
        "formats": "'%d %s %x'.format([x, 'a', x]) != ''",
        "doubles": "'%.17f'.format([double(x) + 0.5]) != ''",
        "errors": "1 / 0 > x",
        "unknown keys": "device.attributes['a'].b > x",
        "names": "format.qualifiedName().validate('a/b' + string(x)).hasValue()",
        "lists": "[x, x, x].sum() > -1",
        "sorted": "[3, 2, 1, x].sort() != []",
        "maps": "{x: x, 'a': 2}.size() == 2",
        "optionals": "optional.of(x).optMap(y, y + 1).hasValue()",
        "binds": "cel.bind(y, x + 1, cel.bind(z, y + 1, z > x))",
        "types": "type(x) == int",
    }.items():
        yield f"many {name}", f"{_MANY}.all(x, {text})"
        yield f"any of many {name}", f"!{_MANY}.exists(x, !({text}))"


def numbers() -> Iterator[Named]:
    for digit in "019":
        long = digit * 10_200
        for name, text in {
            "int": long,
            "negative int": f"-{long}",
            "uint": f"{long}u",
            "hex": f"0x{long}",
            "hex uint": f"0x{long}u",
            "double": f"{long}.0",
            "fraction": f"0.{long}",
            "point": f".{long}",
            "exponent": f"1e{long}",
            "negative exponent": f"1e-{long}",
            "no exponent": f"{long}e",
            "letters": f"{long}x",
        }.items():
            yield f"{name} of {digit}", text
            yield f"{name} of {digit}, compared", f"{text} == 1"
        for call in ("int", "uint", "double", "bool", "timestamp", "duration"):
            yield f"{call} from {digit}", f"{call}('{long[:10_000]}') == {call}('1')"
            yield f"{call} from -{digit}", f"dyn({call}('-{long[:10_000]}')) == 1"
            yield f"{call} from 0.{digit}", f"dyn({call}('0.{long[:10_000]}')) == 1"
            yield f"{call} from 1e{digit}", f"dyn({call}('1e{long[:10_000]}')) == 1"
            yield f"{call} from {digit}x", f"dyn({call}('{long[:10_000]}x')) == 1"
            yield f"{call} from 0x{digit}", f"dyn({call}('0x{long[:10_000]}x')) == 1"
        for call in ("quantity", "semver", "ip", "cidr", "url"):
            for middle in (".", "e", ":", "/", "-", "+"):
                body = f"1{middle}{long[:10_000]}"
                yield f"{call} of {digit}{middle}", f"dyn({call}('{body}')) == 1"
    yield "durations", f"duration('{fill('1h', size=10_000)}') > duration('1s')"
    yield (
        "duration, fractions",
        f"duration('{fill('.9h', size=10_000)}').getHours() > 1",
    )
    yield "underscores", f"double('{fill('1_', size=10_000)}') > 1.0"
    yield "underscores to the end", f"double('{fill('1_', size=10_000)}1') > 1.0"
    yield "hex double", f"double('0x{'f' * 9000}p1') > 1.0"
    yield "hex double, exponent", f"double('0x1p{'9' * 9000}') > 1.0"
    yield "hex double, negative exponent", f"double('0x1p-{'9' * 4000}') > 1.0"
    yield "hex double, underscores", f"double('0x{fill('f_', size=9000)}fp1') > 1.0"
    yield "address", f"isIP('{fill('1.', size=9000)}')"
    yield "address, colons", f"isIP('{fill(':', size=9000)}')"
    yield "address, groups", f"isIP('{fill('1:', size=9000)}')"
    yield (
        "subdomain",
        f"format.dns1123Subdomain().validate('{fill('a-', size=9000)}').hasValue()",
    )
    yield (
        "subdomain of dots",
        f"format.dns1123Subdomain().validate('{fill('a.', size=9000)}').hasValue()",
    )
    for name in ("dns1123Label", "qualifiedName", "labelValue", "uri", "uuid", "byte"):
        for part in ("a-", "a.", "/", "a/", "-", "%41", "A", "a=", "é"):
            body = fill(part, size=9000)
            yield f"{name} of {part}", f"format.{name}().validate('{body}').hasValue()"
    for part in ("a", "/", "%41", "%", "?", "&a=1", "a=b&", ":", "@", "[", "//"):
        body = f"http://a/{fill(part, size=9000)}"
        yield f"url of {part}", f"url('{body}').getQuery() == {{}}"
        yield f"host of {part}", f"isURL('http://{fill(part, size=9000)}')"
    for part in ("0.", "1.", "1-", "1+", "a-", "v", "0", "-", "+"):
        body = fill(part, size=9000)
        yield f"semver of parts {part}", f"isSemver('1.2.3-{body}')"
        yield f"normalised semver of {part}", f"isSemver('{body}', true)"
    for call in ("int", "uint", "double", "dyn"):
        yield f"folded {call}", fill(f"{call}(1) == {call}(2)", " || ")
    for number in (
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615u",
    ):
        yield f"limit {number}", f"{number} + {number} == {number}"
    for size in ("9223372036854775807", "1000000", "1000001", "4000000000"):
        yield f"range {size}", f"lists.range({size}).size() > 0"
        yield f"sorted range {size}", f"lists.range({size}).sort() == []"
        yield f"flatten {size}", f"[[1]].flatten({size}) == []"
        yield f"slice {size}", f"[1].slice(0, {size}) == []"
        yield f"slice from {size}", f"[1].slice({size}, 0) == []"
        yield f"split {size}", f"'a'.split('', {size}) == []"
        yield f"substring {size}", f"'a'.substring({size}) == ''"
        yield f"ranges {size}", f"lists.range({size}).map(x, lists.range({size})) == []"


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
    yield "doubled type often", _close(doubled, fill("a + 1", " || ", size=9500))
    doubled = "cel.bind(a, {1: 1}, " + "cel.bind(a, {a: a}, " * 14
    yield "more doubled type often", _close(doubled, fill("a + 1", " || ", size=9500))
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
