"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescale.data import parse_quantity
from bayescale.data.headers import read_header, unit_scale
from bayescale.data.quantity import parse_number
from bayescale.errors import DataError

SUFFIXES = {"k": 3, "K": 3, "m": 6, "M": 6, "b": 9, "B": 9, "bn": 9, "t": 12, "T": 12}


@pytest.mark.parametrize(
    ("text", "what", "value"),
    [
        ("7.68B", "N", 7.68e9),
        ("7.68b", "N", 7.68e9),
        ("70 billion params", "N", 70e9),
        ("350M", "N", 350e6),
        ("1.4T tokens", "D", 1.4e12),
        ("300k", "D", 3e5),
        ("1_000", "D", 1000.0),
        ("1,000,000", "D", 1e6),
        ("1 000 000", "D", 1e6),
        ("1\u00a0000\u00a0000", "D", 1e6),
        ("5.76e23", "C", 5.76e23),
        ("5.76E+23 FLOPs", "C", 5.76e23),
        ("6x10^21", "C", 6e21),
        ("6 × 10^21", "C", 6e21),
        ("1 ZFLOP", "C", 1e21),
        ("2 exaFLOPs", "C", 2e18),
        ("1 PF-day", "C", 8.64e19),
        (".5B", "N", 5e8),
        (7e9, "N", 7e9),
        (10**21, "C", 1e21),
    ],
)
def test_ways_of_writing(text, what, value):
    assert parse_quantity(text, what) == value


@given(
    st.decimals(min_value="0.001", max_value="999", places=3),
    st.sampled_from(sorted(SUFFIXES)),
    st.sampled_from(["", " "]),
)
def test_a_suffix_is_exactly_a_power_of_ten(number, suffix, space):
    assert parse_number(f"{number}{space}{suffix}", "N") == float(f"{number}e{SUFFIXES[suffix]}")


@given(st.floats(min_value=1e6, max_value=1e30))
def test_any_float_reads_back(value):
    assert parse_quantity(repr(value), "C") == value


@given(st.integers(min_value=100, max_value=10**25))
def test_any_whole_number_reads_back_with_separators(value):
    for text in (str(value), f"{value:,}", f"{value:_}"):
        assert parse_quantity(text, "N") == float(value)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_with_one_line(text):
    try:
        message, value = "", parse_quantity(text, "N")
    except DataError as err:
        message, value = str(err), 0.0
    assert message.startswith("N") or value >= 100


@pytest.mark.parametrize(
    ("header", "words", "scale"),
    [
        ("params (B)", ("params",), 1e9),
        ("Params [M]", ("params",), 1e6),
        ("tokens_B", ("tokens",), 1e9),
        ("tokens_t", ("tokens",), 1e12),
        ("params_m", ("params",), 1e6),
        ("params_in_billions", ("params", "in"), 1e9),
        ("FLOPs (1E21)", ("flops",), 1e21),
        ("flops_1e18", ("flops",), 1e18),
        ("Tokens (x10^9)", ("tokens",), 1e9),
        ("Compute (PF-days)", ("compute",), 8.64e19),
        ("C (ZFLOPs)", ("c",), 1e21),
        ("D (tokens)", ("d",), 1.0),
        ("D (B tokens)", ("d",), 1e9),
        ("loss (nats/token)", ("loss",), 1.0),
        ("Model Size", ("model", "size"), 1.0),
        ("nParams", ("n", "params"), 1.0),
        ("ParamsB", ("params",), 1e9),
        ("N_B", ("n",), 1e9),
        ("N (B)", ("n",), 1e9),
        ("#Params(M)", ("params",), 1e6),
        ("Params (non-embedding)", ("params", "non", "embedding"), 1.0),
        ("B", ("b",), 1.0),
    ],
)
def test_units_in_headers(header, words, scale):
    found = read_header(header)
    assert found.words == words
    assert found.scale == scale


def test_speeds_and_unknown_units_are_no_units():
    assert unit_scale("TFLOPs") is None
    assert unit_scale("furlongs") is None
