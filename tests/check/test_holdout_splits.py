"""Splits: which runs are fitted, and the message where there is no such split."""

import numpy as np
import pandas as pd
import pytest

from bayescale.check.extrapolation.splits import make_splits, parse_split
from bayescale.data import read_runs
from bayescale.errors import DataError


@pytest.fixture(scope="module")
def runs():
    """Five budgets, a decade apart, with four sizes each."""
    C = np.repeat([1e17, 1e18, 1e19, 1e20, 1e21], 4)
    N = np.tile([1e8, 2e8, 4e8, 8e8], 5)
    family = np.resize(["a", "b", "b", "c"], 20)
    return read_runs(pd.DataFrame({"N": N, "C": C, "loss": 3.0, "family": family, "one": "x"}))


def one(runs, text):
    (split,) = make_splits(runs, text)
    assert not (split.train & split.test).any()
    assert (split.train | split.test).all()
    return split


def test_compute_keeps_runs_at_the_limit_itself(runs):
    # C_max/10 is a budget of the sweep; rounding of 6 N D must not throw it out
    split = one(runs, "compute:10")
    assert split.train.sum() == 16
    assert runs.column("C")[split.test].min() == pytest.approx(1e21)
    assert one(runs, "compute:1000").train.sum() == 8
    assert "C <= C_max/10" in split.why


def test_compute_of_whole_numbers_does_not_overflow():
    N = np.array([10**9, 10**10, 7 * 10**10, 2 * 10**10], dtype=np.int64)
    D = np.array([10**11, 10**11, 15 * 10**11, 2 * 10**12], dtype=np.int64)
    with np.errstate(over="ignore"):
        assert (6 * N * D < 0).any()  # what whole numbers would make of it
    table = read_runs(pd.DataFrame({"N": N, "D": D, "loss": [2.6, 2.4, 1.9, 2.0]}))
    split = one(table, "compute:10")
    assert split.train.tolist() == [True, True, False, False]
    exact = [6 * int(n) * int(d) for n, d in zip(N, D, strict=True)]
    assert split.train.tolist() == [10 * c <= max(exact) for c in exact]


def test_largest_sizes_and_token_counts(runs):
    assert one(runs, "size:largest").test.sum() == 5
    assert one(runs, "size:2").test.tolist() == (runs.column("N") >= 4e8).tolist()
    split = one(runs, "data:largest")
    assert runs.column("D")[split.test].min() > runs.column("D")[split.train].max()


def test_sizes_that_differ_by_rounding_are_one():
    N = np.array([1e8, 1e8, 3e8, 3e8 * (1 + 1e-15), 3e8])
    table = read_runs(pd.DataFrame({"N": N, "D": np.arange(1, 6) * 1e9, "loss": 3.0}))
    assert one(table, "size:largest").test.tolist() == [False, False, True, True, True]


def test_each_group_is_left_out_in_turn(runs):
    splits = make_splits(runs, "group:family")
    assert [s.name for s in splits] == ["family=a", "family=b", "family=c"]
    assert np.sum([s.test for s in splits], axis=0).tolist() == [1] * 20
    assert splits[1].test.sum() == 10


def test_a_group_of_one_row_can_be_held_out(runs):
    table = runs.table.assign(family=["lone", *runs.table["family"][1:]])
    splits = make_splits(read_runs(table), "group:family")
    assert {s.name: int(s.test.sum()) for s in splits}["family=lone"] == 1


def test_fraction_takes_the_least_compute(runs):
    split = one(runs, "fraction:0.7")
    assert split.train.sum() == 14
    C = runs.column("C")
    assert C[split.train].max() <= C[split.test].min() * (1 + 1e-9)


def test_random_splits_follow_the_seed(runs):
    first, again = make_splits(runs, "random:20x0.7", 3), make_splits(runs, "random:20x0.7", 3)
    other = make_splits(runs, "random:20x0.7", 4)
    assert len(first) == 20
    assert {int(s.train.sum()) for s in first} == {14}
    assert all((a.train == b.train).all() for a, b in zip(first, again, strict=True))
    assert any((a.train != b.train).any() for a, b in zip(first, other, strict=True))
    assert len({s.train.tobytes() for s in first}) > 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("comptue:10", "Did you mean 'compute'"),
        ("compute", "expected compute:10"),
        ("compute:ten", "expected compute:10"),
        ("compute:1", "above 1"),
        ("compute:nan", "expected compute:10"),
        ("size:0", "size:largest"),
        ("size:1.5", "size:largest"),
        ("group:", "group:COLUMN"),
        ("fraction:70", "between 0 and 1"),
        ("random:0x0.7", "random:20x0.7"),
        ("random:20", "random:20x0.7"),
    ],
)
def test_texts_that_are_no_split(text, said):
    with pytest.raises(DataError, match=said):
        parse_split(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compute:1e5", "The largest factor that leaves a run is 10000"),
        ("size:4", "at most 3 can be held out"),
        ("group:familie", "Did you mean 'family'"),
        ("group:one", "all 20 runs .* are of one one"),
    ],
)
def test_splits_that_leave_nothing(runs, text, said):
    with pytest.raises(DataError, match=said):
        make_splits(runs, text)


def test_runs_of_one_budget_have_no_split_by_compute():
    table = read_runs(pd.DataFrame({"N": [1e8, 2e8, 4e8], "C": 1e19, "loss": 3.0}))
    with pytest.raises(DataError, match="No factor leaves"):
        make_splits(table, "compute:10")


def test_a_share_of_runs_of_one_budget_extrapolates_nothing():
    table = pd.DataFrame({"N": [1e8, 2e8, 4e8, 8e8], "C": [1e18, 1e19, 1e19, 1e19], "loss": 3.0})
    with pytest.raises(DataError, match=r"holds out no run .* larger .* 1e\+19 FLOP"):
        make_splits(read_runs(table), "fraction:0.7")
    assert one(read_runs(table), "fraction:0.3").train.tolist() == [True, False, False, False]
    # other splits claim nothing of the kind
    assert len(make_splits(read_runs(table), "random:2x0.5")) == 2


def test_compute_that_wrapped_around_is_refused(runs):
    """A column C of whole numbers, computed as 6 N D beyond 2^63, shuffles runs."""
    N = np.repeat(np.array([10**9, 4 * 10**9], dtype=np.int64), 3)
    D = np.tile(np.array([10**9, 3 * 10**9, 10**10], dtype=np.int64), 2)
    with np.errstate(over="ignore"):
        wrapped = np.abs(6 * N * D)
    assert wrapped.argmax() == 0  # the smallest run has come out largest
    table = pd.DataFrame({"N": N, "D": D, "C": wrapped, "loss": 3.0})
    for text in ("compute:3", "fraction:0.6"):
        with pytest.raises(DataError, match=r"larger by column C and not by N times D .*2\^63"):
            make_splits(read_runs(table), text)
    assert one(read_runs(table.drop(columns="C")), "compute:3").test.tolist() == [False] * 5 + [
        True
    ]


def test_no_compute_column():
    table = read_runs(pd.DataFrame({"N": [1e8, 2e8], "loss": [3.0, 2.9]}))
    with pytest.raises(DataError, match="no compute column"):
        make_splits(table, "compute:10")
    with pytest.raises(DataError, match="needs D"):
        make_splits(table, "data:largest")


def test_a_row_without_group_is_named(runs):
    table = runs.table.assign(family=[*runs.table["family"][:-1], None])
    with pytest.raises(DataError, match="no group in row 20"):
        make_splits(read_runs(table), "group:family")
