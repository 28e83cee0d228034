from __future__ import annotations

import pytest

from dra.errors import QuantityError
from dra.quantity import Format, Quantity, nanos, parse, read

ECHOES = {
    # sent: what a Kubernetes 1.36 API server answers with
    "+5": "+5",
    "5.": "5.",
    ".5": "500m",
    "1e3": "1e3",
    "1E3": "1E3",
    "007": "007",
    "1.5Gi": "1536Mi",
    "0.5Ki": "512",
    "1000000Ei": "9223372036854775807",
    "1000Mi": "1000Mi",
    "1024Mi": "1Gi",
    "1000m": "1",
    "1n": "1n",
    "0.1n": "1n",
    "-1": "-1",
    "0": "0",
    "100000000000000000000": "100E",
    "1.1": "1100m",
    "12345678901234567890": "12345678901234567890",
    "1Ei": "1Ei",
    "9Ei": "9223372036854775807",
    "16Ei": "9223372036854775807",
    "1000k": "1M",
    "1000000": "1M",
    "1M": "1M",
    "5e-1": "500e-3",
    "1.0": "1",
    "10.50": "10500m",
    "1Mi": "1Mi",
    "1048576": "1048576",
    "0.001k": "1",
    "1k": "1k",
}


@pytest.mark.parametrize(("sent", "answered"), ECHOES.items())
def test_a_quantity_is_written_as_the_api_server_echoes_it(sent, answered):
    assert str(parse(sent)) == answered


@pytest.mark.parametrize(("sent", "answered"), ECHOES.items())
def test_an_echo_has_the_value_that_was_sent(sent, answered):
    assert parse(answered) == parse(sent)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1n", 1),
        ("1u", 10**3),
        ("1m", 10**6),
        ("1", 10**9),
        ("1k", 10**12),
        ("1M", 10**15),
        ("1G", 10**18),
        ("1T", 10**21),
        ("1P", 10**24),
        ("1E", 10**27),
        ("1Ki", 2**10 * 10**9),
        ("1Mi", 2**20 * 10**9),
        ("1Gi", 2**30 * 10**9),
        ("1Ti", 2**40 * 10**9),
        ("1Pi", 2**50 * 10**9),
        ("1Ei", 2**60 * 10**9),
        ("-2.5", -25 * 10**8),
        ("12e6", 12 * 10**15),
        ("12E-3", 12 * 10**6),
        ("1e+3", 10**12),
        ("1e-30", 1),
        ("-1e-30", -1),
        ("0e-30", 0),
        ("1e-3000", 1),
        ("0.0000000011", 2),
        ("-0.0000000011", -2),
        ("0.3Ki", 3072 * 10**8),
        ("-9Ei", -(2**63 - 1) * 10**9),
        ("18446744073709551616", 2**64 * 10**9),
    ],
)
def test_the_value_is_exact_down_to_nano_and_rounds_away_from_zero(text, value):
    assert parse(text).nanos == value


@pytest.mark.parametrize("text", ["k", ".", "+", "-", "Ki", "e3"])
def test_a_suffix_without_digits_is_zero_as_in_kubernetes(text):
    assert parse(text).nanos == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1 ",
        " 1",
        "bogus",
        "1.2.3",
        "--1",
        "1ki",
        "1i",
        "1e",
        "1E+",
        "1K",
        "1_000",
        "١",
        "1,5",
        "e-10",
        "+e-10",
        "0x10",
        "NaN",
        "1e3001",
        "9" * 1001,
    ],
)
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(QuantityError):
        parse(text)


def test_the_error_names_the_text():
    with pytest.raises(QuantityError, match='"80 GB" is not a quantity'):
        parse("80 GB")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("+5", "5"),
        ("007", "7"),
        ("1E3", "1e3"),
        ("1500Mi", "1500Mi"),
        ("2048Ki", "2Mi"),
        ("-2048Ki", "-2Mi"),
        ("1023Ki", "1023Ki"),
        ("0.75Gi", "768Mi"),
        ("1.0001Ki", "1024102400u"),
        ("1000E", "1e21"),
        ("2500000", "2500k"),
        ("1e20", "100e18"),
        ("0Ki", "0"),
    ],
)
def test_the_canonical_form_has_no_fraction_and_the_largest_suffix(text, canonical):
    assert parse(text).canonical() == canonical


@pytest.mark.parametrize(
    ("text", "integer"),
    [("5", 5), ("1Gi", 2**30), ("1k", 1000), ("1e3", 1000), ("0", 0), ("-7", -7)],
)
def test_whole_numbers_that_kubernetes_keeps_in_64_bits_are_integers(text, integer):
    assert parse(text).is_integer()
    assert parse(text).as_integer() == integer


@pytest.mark.parametrize(
    "text",
    ["1.5", "1000m", "1.0", "1.5Gi", "1Pi", "9Ei", "12345678901234567890", "10E"],
)
def test_other_values_are_no_integers_even_when_whole(text):
    assert not parse(text).is_integer()
    with pytest.raises(QuantityError, match="cannot convert value to integer"):
        parse(text).as_integer()


@pytest.mark.parametrize(
    ("text", "value"), [("1500m", 2), ("-1500m", -2), ("1n", 1), ("80Gi", 80 * 2**30)]
)
def test_the_rounded_value_rounds_away_from_zero(text, value):
    assert parse(text).value() == value


def test_a_sum_has_the_format_of_the_left_side_unless_that_is_zero():
    assert str(parse("1Gi") + parse("512Mi")) == "1536Mi"
    assert str(parse("1Ki") + parse("24")) == "1048"
    assert str(parse("0") + parse("1Ki")) == "1Ki"
    assert str(parse("1e3") + parse("1k")) == "2e3"


def test_a_difference_may_be_negative():
    assert str(parse("1Gi") - parse("2Gi")) == "-1Gi"
    assert str(parse("100m") - parse("1")) == "-900m"


def test_taking_away_the_least_64_bit_number_adds_it_instead():
    """It has no opposite in 64 bits; where the sum has no room the answer is exact."""
    least = Quantity.of(-(2**63))

    assert (parse("1k") - least).value() == 1000 - 2**63
    assert (parse("-1k") - least).value() == 2**63 - 1000


def test_a_sum_beyond_64_bits_is_exact_and_no_integer():
    total = parse("9E") + parse("9E")
    assert total.nanos == 18 * 10**27
    assert not total.is_integer()


def test_equal_values_are_equal_whatever_they_look_like():
    assert parse("1Gi") == parse("1024Mi") == parse("1073741824")
    assert hash(parse("1Gi")) == hash(parse("1073741824"))
    assert parse("1Gi") != "1Gi"


def test_whole_units_can_be_written_in_any_format():
    assert str(Quantity.of(1_600_000_000, Format.BINARY)) == "1562500Ki"
    assert str(Quantity.of(98)) == "98"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (None, "0"),
        (5, "5"),
        (0, "0"),
        (1.5, "1500m"),
        (3.0, "3"),
        (1e22, "10e21"),
        ("  2Gi ", "2Gi"),
    ],
)
def test_a_json_field_may_be_a_number_or_null_or_have_space_around_it(raw, text):
    assert read(raw).canonical() == parse(text).canonical()
    assert raw is None or nanos(raw) == read(raw).nanos


@pytest.mark.parametrize("raw", [True, float("nan"), float("inf"), "x"])
def test_other_json_is_refused(raw):
    with pytest.raises(QuantityError):
        read(raw)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("1500m", 1.5), ("-2k", -2000.0), ("1e400", float("inf")), ("0", 0.0)],
)
def test_an_approximate_float_is_near_or_infinite(text, number):
    assert parse(text).as_float() == number


def test_the_sign_and_the_truth_of_a_quantity():
    assert [parse(t).sign for t in ("-1n", "0Ki", "1n")] == [-1, 0, 1]
    assert not parse("0Ki")
    assert parse("1n")
