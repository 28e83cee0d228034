"""Selectors on 100,000 devices, beside cel-python's own evaluators.

python -m bench.cel TABLE DIRECTORY
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from bench import cel_python, gpus
from bench.table import Figure, milliseconds, peak_megabytes, show
from dra import cel
from dra.cel.advice import advise
from dra.cel.catalog import Catalog
from dra.cel.explain import explain
from dra.cel.trace import trace
from dra.errors import NotSupportedError

A: Final = f'device.attributes["{gpus.DRIVER}"]'
K: Final = f'device.capacity["{gpus.DRIVER}"]'
EXPRESSIONS: Final = {
    "E1 driver, type, architecture in a list": (
        f'device.driver == "{gpus.DRIVER}" && {A}.type == "gpu" '
        f'&& {A}.architecture in ["Hopper", "Blackwell"]'
    ),
    "E2 memory and two versions": (
        f'{K}.memory.compareTo(quantity("40Gi")) >= 0 '
        f'&& {A}.driverVersion.isGreaterThan(semver("545.0.0")) '
        f'&& {A}.cudaComputeCapability.isGreaterThan(semver("8.0.0"))'
    ),
    "E3 regular expression, in, startsWith, ecc": (
        f'{A}.productName.lowerAscii().matches("^nvidia (a|h)[12]00.*") '
        f'&& "ecc" in {A} && {A}.brand.startsWith("Nv") '
        f'&& (!("ecc" in {A}) || {A}.ecc)'
    ),
    "E4 unique uuid": f'{A}.uuid.startsWith("GPU-1")',
    "E5 loop over a domain, type": (f'{A}.exists(k, k == "ecc") && {A}.type == "gpu"'),
}
WARM, FIRST, UNIQUE = 20.0, 60.0, 600.0
"""What selecting may take: a program, a new text with its compilation, by uuid."""
TYPICAL, LONGEST = 5.0, 500.0
"""What compiling may take: a usual text, and one of 10 KiB."""
PAGE: Final = 100.0
SAMPLE: Final = 250
"""Devices that cel-python is asked about; its time is scaled up."""
ALONE: Final = 1_000
"""Devices that are evaluated one by one."""

_numbers = itertools.count()


def _new(text: str) -> str:
    """The same expression as a text that was not seen before."""
    return f"{text} // {next(_numbers)}"


def _figure(what: str, ours: float, against: float, versus: str) -> Figure:
    return Figure(what, ours, against, versus, peak_megabytes())


class _Devices:
    def __init__(self) -> None:
        self.rows = gpus.rows()
        maker = gpus.Maker()
        self.inputs = [maker.device(row) for row in self.rows]
        started = time.perf_counter()
        self.table = cel.DeviceTable.of(self.inputs)
        self.built = (time.perf_counter() - started) * 1000
        self.step = len(self.rows) // SAMPLE
        sample = [gpus.published(row) for row in self.rows[:: self.step]]
        self.peers = {
            runner: cel_python.ask(runner, sample, EXPRESSIONS)
            for runner in cel_python.RUNNERS
        }


def select() -> None:
    """Whole tables: columns, warm, first, uuid."""
    devices = _Devices()
    table, scale = devices.table, devices.step
    peers = devices.peers
    figures = [
        _figure(
            "columns of all attributes, once per state",
            devices.built,
            peers["interpreted"]["converted"] * 1000 * scale,
            "cel-python: values of all devices",
        )
    ]
    for name, text in EXPRESSIONS.items():
        selection = table.select(cel.compile(text))
        for runner, answers in peers.items():
            ours = [selection[row] for row in range(0, len(table), devices.step)]
            assert ours == answers[name]["answers"], (runner, name)
        warm = milliseconds(_warm(table, text), times=9)
        first = milliseconds(lambda text=text: _first(table, text), times=9)  # type: ignore[misc]  # bound now
        for runner, answers in peers.items():
            against = answers[name]["evaluated"] * 1000 * scale
            figures.append(_figure(name, warm, against, f"cel-python, {runner}"))
        unique = "uuid" in name
        limit = UNIQUE if unique else WARM
        figures.append(_figure(f"{name}: warm", warm, limit, "target"))
        limit = UNIQUE if unique else FIRST
        figures.append(_figure(f"{name}: new text", first, limit, "target"))
    show(
        f"{len(table):,} devices; cel-python on {SAMPLE} of them, times {scale}",
        figures,
    )


def _warm(table: cel.DeviceTable, text: str) -> Callable[[], object]:
    """Selecting with a program that is compiled and was never asked."""
    programs: Iterator[cel.Program] = iter([cel.compile(_new(text)) for _ in range(30)])
    return lambda: table.select(next(programs))


def _first(table: cel.DeviceTable, text: str) -> object:
    return table.select(cel.compile(_new(text)))


def alone() -> None:
    """One device after another, without the table."""
    devices = _Devices()
    chosen = devices.inputs[:: len(devices.inputs) // ALONE]
    values = [cel.device_value(device, lists=False) for device in chosen]
    scale = ALONE / SAMPLE
    convert = milliseconds(
        lambda: [cel.device_value(device, lists=False) for device in chosen]
    )
    against = devices.peers["interpreted"]["converted"] * 1000 * scale
    figures = [_figure("values of the devices", convert, against, "cel-python")]
    for name, text in EXPRESSIONS.items():
        program = cel.compile(text)

        def run(program: cel.Program = program) -> None:
            for value in values:
                program.evaluate_value(value)

        spent = milliseconds(run)
        for runner, answers in devices.peers.items():
            against = answers[name]["evaluated"] * 1000 * scale
            figures.append(_figure(name, spent, against, f"cel-python, {runner}"))
    show(f"{ALONE:,} devices one by one, one evaluation each", figures)


def compiling() -> None:
    """Texts of every kind, each new to the process."""
    sample = [gpus.published(row) for row in gpus.rows()[:1]]
    peer = cel_python.ask("interpreted", sample, EXPRESSIONS)
    figures = []
    for name, text in EXPRESSIONS.items():
        spent = milliseconds(lambda text=text: cel.compile(_new(text)), times=15)  # type: ignore[misc]  # bound now
        against = peer[name]["compiled"] * 1000
        figures.append(_figure(name, spent, against, "cel-python (no types, no cost)"))
        figures.append(_figure(f"{name}: typical", spent, TYPICAL, "target"))
    for name, text in _long_texts().items():
        spent = milliseconds(lambda text=text: _compiled(_new(text)), times=3)  # type: ignore[misc]  # bound now
        figures.append(_figure(name, spent, LONGEST, "target"))
    show("compiling a selector", figures)


def _compiled(text: str) -> None:
    with contextlib.suppress(cel.CompileError, NotSupportedError):
        cel.compile(text)


def _long_texts() -> dict[str, str]:
    """Texts of 10 KiB, room for a number left."""
    terms = list(itertools.islice(itertools.cycle(EXPRESSIONS.values()), 200))

    def fill(unit: str, between: str) -> str:
        return between.join([unit] * (10_200 // len(unit + between)))

    usual = " && ".join(terms)[:10_200].rpartition(" && ")[0]
    return {
        "10 KiB of usual terms": usual,
        "10 KiB of true &&": fill("true", " && "),
        "10 KiB of macros": fill("[1].all(x, x > 0)", " && "),
        "10 KiB of elements": f"1 in [{fill('1', ',')}]",
        "10 KiB of mistakes": fill("nobody", " && "),
        "240 parentheses": "(" * 240 + "true" + ")" * 240,
        "240 loops in each other": "[1].all(x, " * 240 + "true" + ")" * 240,
        "types that double": "cel.bind(x, {x: x}, " * 100 + "true" + ")" * 100,
        "macros that double": f"optional.of(1){'.optMap(x, x)' * 100}.hasValue()",
    }


def explaining() -> None:
    """What the pages and the API ask for besides."""
    devices = _Devices()
    table = devices.table
    device = devices.inputs[0]
    figures = [
        _figure(
            "catalog of all attributes",
            milliseconds(lambda: [Catalog(table)[read] for read in table.columns]),
            PAGE,
            "budget of a page",
        )
    ]
    for name, text in EXPRESSIONS.items():
        for what, work in {
            "explain": lambda p: explain(p, table),
            "advise": lambda p: advise(p, table),
        }.items():
            programs = iter([cel.compile(_new(text)) for _ in range(10)])
            spent = milliseconds(lambda w=work, p=programs: w(next(p)))  # type: ignore[misc]  # bound now
            limit = UNIQUE if "uuid" in name else PAGE
            figures.append(_figure(f"{name}: {what}", spent, limit, "budget of a page"))
        program = cel.compile(text)
        spent = milliseconds(lambda p=program: trace(p, device), times=15)  # type: ignore[misc]  # bound now
        figures.append(_figure(f"{name}: trace", spent, PAGE, "budget of a page"))
    show(f"explanations of {len(table):,} devices", figures)


TABLES: Final[dict[str, Callable[[], None]]] = {
    "select": select,
    "alone": alone,
    "compile": compiling,
    "explain": explaining,
}


if __name__ == "__main__":
    TABLES[sys.argv[1]]()
