"""Remarks on tables that can be fitted all the same."""

import numpy as np
import pandas as pd
import pytest

from bayescale.data import read_runs
from bayescale.data.divergence import _levels, diverged, excess

N = np.repeat(np.geomspace(1e8, 1e10, 6), 6)
D = np.tile(np.geomspace(2e9, 1e12, 6), 6)


def loss_of(n, d):
    """Return Chinchilla's losses."""
    return 1.8 + 480 * n**-0.35 + 2000 * d**-0.366


def table(**columns) -> pd.DataFrame:
    return pd.DataFrame({"N": N, "D": D, "loss": loss_of(N, D)} | columns)


def kinds(runs) -> list[str]:
    return [flag.kind for flag in runs.flags]


def flag_of(runs, kind: str):
    (flag,) = [flag for flag in runs.flags if flag.kind == kind]
    assert flag.message.strip()
    assert "\n" not in flag.message
    assert f"  {kind}: {flag.message}" in runs.describe()
    return flag


def test_a_clean_table_has_no_flags():
    assert kinds(read_runs(table())) == []


@pytest.mark.parametrize(("rows", "text"), [(1, "only one run"), (2, "only two runs")])
def test_too_few_rows(rows, text):
    assert text in flag_of(read_runs(table().head(rows)), "few-rows").message


def test_copied_rows():
    frame = pd.concat([table(), table().iloc[[4, 9]]])
    flag = flag_of(read_runs(frame), "duplicates")
    assert flag.rows == (37, 38)
    assert "rows 37, 38: an exact copy" in flag.message


def test_rows_with_lists_can_be_compared():
    frame = table(layers=[[1, 2]] * len(N))
    assert kinds(read_runs(frame)) == []
    assert kinds(read_runs(pd.concat([frame, frame.iloc[[0]]]))) == ["duplicates"]


def test_one_run_twice_with_another_loss():
    frame = pd.concat([table(), table().iloc[[4]].assign(loss=3.0)])
    flag = flag_of(read_runs(frame), "repeats")
    assert flag.rows == (5, 37)
    assert "1 such cells" in flag.message
    assert "other seeds" in flag.message


def test_fewer_tokens_than_a_hundredth_of_the_parameters():
    frame = table()
    frame.loc[7, "D"] = 1e6
    frame.loc[7, "loss"] = 12.0
    flag = flag_of(read_runs(frame), "few-tokens")
    assert flag.rows == (8,)
    assert "row 8" in flag.message


def test_one_row_in_billions():
    frame = table()
    frame.loc[3, "N"] = 7.0
    assert flag_of(read_runs(frame), "mixed-units").rows == (4,)


def test_compute_that_is_nearly_6nd_or_far_from_it():
    compute = 6 * N * D
    assert kinds(read_runs(table(C=compute * 1.01))) == []
    flag = flag_of(read_runs(table(C=compute * np.linspace(0.74, 1.07, len(N)))), "cost")
    assert "between 0.74 and 1.07 times 6 N D" in flag.message
    compute[2] *= 50
    flag = flag_of(read_runs(table(C=compute)), "cost-far")
    assert flag.rows == (3,)
    assert "50 times" in flag.message or "(50)" in flag.message
    np.testing.assert_array_equal(read_runs(table(C=compute)).column("C"), compute)


def test_diverged_runs_are_named_by_row():
    frame = table()
    frame.loc[[20, 35], "loss"] = [7.0, 10.5]
    flag = flag_of(read_runs(frame), "diverged")
    assert flag.rows == (21, 36)


def test_a_badly_tuned_run_is_not_called_diverged():
    frame = table()
    frame.loc[20, "loss"] *= 1.3
    assert "diverged" not in kinds(read_runs(frame))


def test_selecting_looks_again():
    frame = table()
    frame.loc[20, "loss"] = 9.0
    runs = read_runs(frame)
    assert "diverged" in kinds(runs)
    assert kinds(runs.select(runs.column("loss") < 8, "healthy")) == ["selected"]


def test_excess_is_the_log_ratio_to_the_best_smaller_run():
    n, d = np.array([1.0, 2.0, 2.0, 4.0]), np.array([1.0, 1.0, 3.0, 2.0])
    loss = np.array([4.0, 3.0, 5.0, 6.0])
    # The last run dominates the first two only: it has fewer tokens than the third.
    expected = np.log([1.0, 1.0, 5 / 3, 6 / 3])
    np.testing.assert_allclose(excess([n, d], loss), expected)
    np.testing.assert_allclose(excess([n], loss), np.log([1.0, 1.0, 5 / 3, 6 / 3]))


@pytest.mark.parametrize("count", [60, 900])
def test_excess_agrees_with_all_pairs_whether_binned_or_not(count):
    rng = np.random.default_rng(5)
    n, d = np.exp(rng.uniform(16, 23, count)), np.exp(rng.uniform(20, 27, count))
    loss = loss_of(n, d) * np.exp(rng.normal(0, 0.02, count))
    # More than 500 distinct values are compared by bins of about 1.4%.
    levels = [_levels(x) if count == 900 else x for x in (n, d)]
    smaller = np.logical_and.reduce([x[None] <= x[:, None] for x in levels])
    slow = np.log(loss) - np.log(np.where(smaller, loss[None], np.inf).min(axis=1))
    np.testing.assert_allclose(excess([n, d], loss), slow, atol=1e-12)
    assert not diverged([n, d], loss).any()
    loss[count // 2] = 3 * loss_of(1e8, 2e9)
    assert np.flatnonzero(diverged([n, d], loss)).tolist() == [count // 2]


def test_bins_are_narrow_and_in_order():
    values = np.sort(np.exp(np.random.default_rng(1).uniform(16, 23, 2000)))
    levels = _levels(values)
    assert np.all(np.diff(levels) >= 0)
    assert levels.max() < 500
    for level in np.unique(levels):
        assert np.ptp(np.log(values[levels == level])) < 7.01 / 499
