"""Laws of quantities; each quotes the rule it checks."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dra.quantity import NANO, Quantity, parse

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(1000),
    "M": Fraction(10**6),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "e3": Fraction(1000),
    "E-3": Fraction(1, 1000),
    "e+9": Fraction(10**9),
}
NUMBERS = st.from_regex(r"\A[+-]?(0|[0-9]{1,12})(\.[0-9]{0,11})?\Z")
TEXTS = st.tuples(NUMBERS, st.sampled_from(sorted(SUFFIXES))).map("".join)
QUANTITIES = TEXTS.map(parse)


@given(NUMBERS, st.sampled_from(sorted(SUFFIXES)))
def test_no_precision_is_lost_down_to_nano(number, suffix):
    """ "the Quantity will NEVER be internally represented by a floating point number" """
    exact = Fraction(number.rstrip(".").replace("+", "")) * SUFFIXES[suffix] * NANO
    found = parse(number + suffix).nanos
    limit = (2**63 - 1) * NANO
    if suffix.endswith("i"):
        exact = max(min(exact, Fraction(limit)), Fraction(-limit))
    assert abs(found - exact) < 1
    assert abs(found) >= abs(exact), "rounds away from zero"


@given(TEXTS)
def test_what_is_written_reads_as_the_same_value(text):
    """ "No precision is lost" when serialised."""
    quantity = parse(text)
    for written in (str(quantity), quantity.canonical()):
        assert parse(written) == quantity


@given(QUANTITIES)
def test_the_canonical_form_is_canonical(quantity):
    """ "This means that exponent/suffix will be adjusted up or down" to one form."""
    once = quantity.canonical()
    assert parse(once).canonical() == once


@given(QUANTITIES)
def test_the_canonical_form_has_no_fraction(quantity):
    """ "No fractional digits will be emitted" """
    assert "." not in quantity.canonical()


@given(QUANTITIES, QUANTITIES)
def test_addition_commutes_in_value(a, b):
    assert a + b == b + a


@given(QUANTITIES, QUANTITIES, QUANTITIES)
def test_addition_is_associative_in_value(a, b, c):
    assert (a + b) + c == a + (b + c)


@given(QUANTITIES, QUANTITIES)
def test_subtraction_undoes_addition(a, b):
    assert (a + b) - b == a


@given(QUANTITIES, QUANTITIES, QUANTITIES)
def test_the_order_is_total_and_transitive(a, b, c):
    assert (a < b) + (a == b) + (a > b) == 1
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high


@given(QUANTITIES, QUANTITIES)
def test_equal_quantities_hash_alike(a, b):
    if a == b:
        assert hash(a) == hash(b)


@given(QUANTITIES, QUANTITIES, QUANTITIES)
def test_addition_keeps_the_order(a, b, c):
    if a <= b:
        assert a + c <= b + c


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_within_64_bits_comes_back(value):
    assert Quantity.of(value).as_integer() == value
    assert Quantity.of(value).value() == value
