"""Row filters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescale.data import filter_rows
from bayescale.errors import DataError

TABLE = pd.DataFrame(
    {
        "N": [1e8, 1e9, 7e9, 7e10],
        "D": [2e9, 2e10, 1.4e11, 1.4e12],
        "family": ["llama", "llama", "pythia", None],
        "my col": [1, 2, 3, 4],
        "D/N": [20.0, 20.0, 20.0, 20.0],
        "clean": [True, False, True, True],
    }
)


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("N > 1e9", [False, False, True, True]),
        ("family == 'llama'", [True, True, False, False]),
        ('family != "llama"', [False, False, True, True]),
        ("family == 'llama' and N > 5e8", [False, True, False, False]),
        ("N < 5e8 or N > 1e10", [True, False, False, True]),
        ("not N > 1e9", [True, True, False, False]),
        ("(N > 1e9) & (D < 1e12)", [False, False, True, False]),
        ("~(N > 1e9)", [True, True, False, False]),
        ("5e8 < N <= 7e9", [False, True, True, False]),
        ("N > 10**9", [False, False, True, True]),
        ("`my col` >= 3", [False, False, True, True]),
        ("`D/N` == 20 and `my col` in [1, 4]", [True, False, False, True]),
        ("family in ('pythia', 'opt')", [False, False, True, False]),
        ("family not in ['pythia']", [True, True, False, True]),
        ("6 * N * D > 1e20", [False, True, True, True]),
        ("clean", [True, False, True, True]),
        ("not clean", [False, True, False, False]),
        ("N > -1", [True, True, True, True]),
    ],
)
def test_expressions(expression, kept):
    np.testing.assert_array_equal(filter_rows(TABLE, expression), kept)


@given(st.floats(1e7, 1e11), st.floats(1e9, 1e13))
def test_a_filter_agrees_with_numpy(n, d):
    sizes, tokens = TABLE["N"].to_numpy(), TABLE["D"].to_numpy()
    mask = (sizes > n) | (tokens <= d)
    if mask.any():
        np.testing.assert_array_equal(filter_rows(TABLE, f"N > {n!r} or D <= {d!r}"), mask)
    else:
        with pytest.raises(DataError, match="leaves none of 4 rows"):
            filter_rows(TABLE, f"N > {n!r} or D <= {d!r}")


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "N.__class__",
        "@pd.read_pickle",
        "[x for x in N]",
        "(lambda: 1)()",
        "N[0] > 1",
        "f'{N}' == ''",
        "(y := 3) > N",
        "N if D else D",
        "10**N > 1",
        "9**9**9**9 > N",
        "10.0**999 > N",
        "__name__ == 'x'",
        "index > 1",
        "ilevel_0 > 1",
        "N >",
        "N > 1; D > 1",
        "",
        "(" * 500 + "N" + ")" * 500 + " > 1",
    ],
)
def test_nothing_of_python_is_reachable(expression):
    with pytest.raises(DataError, match="^where: "):
        filter_rows(TABLE, expression)


def test_what_the_columns_hold_is_told_when_nothing_fits():
    with pytest.raises(DataError, match="family holds 'llama', 'pythia'"):
        filter_rows(TABLE, "family == 'Llama'")
    with pytest.raises(DataError, match=r"N lies between 1e\+08 and 7e\+10"):
        filter_rows(TABLE, "N > 1e12")


def test_text_without_quotes_is_explained():
    with pytest.raises(DataError, match="'llama', which is no column.*Text goes in quotes"):
        filter_rows(TABLE, "family == llama")
