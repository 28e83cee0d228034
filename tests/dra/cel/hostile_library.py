"""Texts that are hard on the functions of the library: what calls them, how long they
run, what they are given."""

from __future__ import annotations

from collections.abc import Iterator

from tests.dra.cel.hostile_parts import (
    ATTRIBUTES,
    Named,
    bound,
    close,
    fill,
    wrap,
)

_FUNCTIONS = {
    "matches": "'a'.matches('a')",
    "semver": "semver('1.2.3').isGreaterThan(semver('1.2.4'))",
    "quantity": "quantity('1Gi').compareTo(quantity('2Gi')) > 0",
    "int": "int('1') == 1",
    "attribute": f"{ATTRIBUTES}.x == 1",
    "attribute as any": f"{ATTRIBUTES}.x > {ATTRIBUTES}.y",
    "attribute method": f"{ATTRIBUTES}.x.contains({ATTRIBUTES}.y)",
    "attribute sum": f"{ATTRIBUTES}.x + {ATTRIBUTES}.y == {ATTRIBUTES}.z",
    "timestamp": "timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') > 1",
    "duration": "duration('1h') > duration('2h')",
    "ip": "ip('::1').isLoopback()",
    "cidr": "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    "url": "url('http://a.b/c').getHost() == 'a.b'",
    "format": "format.uuid().validate('x').hasValue()",
    "format text": "'%s %d %.3f'.format(['a', 1, 1.5]) == ''",
    "optional": f"{ATTRIBUTES}.?x.orValue(1) == 1",
    "in": f"{ATTRIBUTES}.x in [1, 2, 3]",
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
    overloads = f"{ATTRIBUTES}.x"
    for operator in ("+", "-", "*", "<", "=="):
        middle = fill(overloads, f" {operator} ", size=4000)
        yield f"any {operator}", f"{middle} == 1"
    for name in ("getHours", "size", "contains", "isGreaterThan", "compareTo", "add"):
        yield f"any {name}", fill(f"{ATTRIBUTES}.x.{name}({ATTRIBUTES}.y)", " || ")


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
        yield f"{name}, attribute", f"{ATTRIBUTES}.s.matches(r'{quoted}')"
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
            close(
                f"cel.bind(x, {text}, " + "cel.bind(x, '%s%s'.format([x, x]), " * 30,
                "x == ''",
            ),
        )


_LONG_LIST = bound("l", "[1, 2, 3]", "l + l", 14)
_LONG_TEXT = bound("s", "'abcdefghij'", "s + s", 12)
_ASTRAL = bound("s", "'\U0001f600é'", "s + s", 14)
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
