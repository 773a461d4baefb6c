"""Where the law is right, auto's intervals are hardly wider; where it's wrong, they still hold.

A small, seeded part of ``python -m benchmarks.extrapolation.simulated``.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from benchmarks.extrapolation.simulated import AUTO, coverage, plain, ratios, run
from benchmarks.extrapolation.truths import BUDGETS, RIGHT, WRONG, design, sweep

REPEATS, DRAWS = 3, 60
CHANCE = 0.01  # that a test of coverage fails by bad luck, if coverage is what it should be


@pytest.fixture(scope="module")
def rows():
    truths, quick = ["chinchilla", *WRONG], {"min_ess": 0, "workers": 1}
    return {
        t: [r for law in (plain(t), AUTO) for r in run(t, law, REPEATS, DRAWS, **quick)]
        for t in truths
    }


def test_a_right_law_gets_hardly_wider_inside_the_data(rows):
    new_run, mean = ratios(rows["chinchilla"], "chinchilla")
    assert new_run < 1.5
    assert mean < 1.5


def test_a_right_law_is_covered_beyond_the_data(rows):
    own = [r for r in rows["chinchilla"] if r.law == AUTO]
    # runs of one sweep err alike: one of each is independent
    inside = sum(r.held[0] for r in own)
    assert inside >= stats.binom.ppf(CHANCE, REPEATS, 0.9)


def test_wrong_laws_are_covered_by_auto_and_not_by_chinchilla(rows):
    of = {law: [r for t in WRONG for r in rows[t] if r.law == law] for law in ("chinchilla", AUTO)}
    inside = sum(r.held[0] for r in of[AUTO])
    assert inside >= stats.binom.ppf(CHANCE, len(of[AUTO]), 0.85)
    share, error = coverage(of["chinchilla"])
    assert share + 3 * error < 0.85
    scored = {law: np.mean([r.interval_score for r in own]) for law, own in of.items()}
    assert scored[AUTO] < 0.5 * scored["chinchilla"]


@pytest.mark.parametrize("truth", [*RIGHT, *WRONG])
def test_simulated_runs_are_what_is_said(truth):
    N, D = design()
    assert np.allclose(np.unique(np.round(np.log10(6 * N * D), 6)), np.log10(BUDGETS))
    beyond = sweep(truth, 3, beyond=True)
    assert np.allclose(6 * beyond["N"] * beyond["D"], 10 * BUDGETS[-1])
    one, again, other = sweep(truth, 3), sweep(truth, 3), sweep(truth, 4)
    assert one.equals(again)
    assert not one.equals(other)


def test_whole_numbers_beyond_63_bits_split_and_fit_right():
    """N and D of int64 with 6 N D above 2^63 give the very answer that floats do."""
    table = sweep("chinchilla", 0)
    table["N"] = np.round(table["N"] * 30)
    table["D"] = np.round(table["D"] * 30)
    whole = table.astype({"N": np.int64, "D": np.int64})
    row = pd.DataFrame({"N": [10**10], "D": [10**10], "loss": [2.5]})
    whole, floats = (pd.concat([t, row.astype(t.dtypes)]) for t in (whole, table))
    sizes, tokens = (whole[c].to_numpy() for c in "ND")
    with np.errstate(over="ignore"):
        assert (6 * sizes * tokens < 0).any()
    found = [
        bs.check.holdout("chinchilla", t, split="compute:10", draws=50, progress=False)
        for t in (whole, floats)
    ]
    one, other = (f.to_frame() for f in found)
    assert one.equals(other)
    product = [int(n) * int(d) for n, d in zip(sizes, tokens, strict=True)]
    most = max(product) + max(product) // 10**9  # a budget at the limit itself is fitted
    assert found[0].splits[0].train.tolist() == [10 * p <= most for p in product]
