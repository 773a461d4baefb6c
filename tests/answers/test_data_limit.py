"""Optima under limited unique tokens: brute force, limits of the law, what lies outside."""

import json

import numpy as np
import pandas as pd
import pytest

from bayescale.answers.data_limit import allocate_limited
from bayescale.answers.surface import surface
from bayescale.data import read_runs
from bayescale.errors import DataError, FitError
from bayescale.laws.effective import plain_design
from tests.answers.conftest import made_up

BUDGETS, UNIQUE = [1e20, 1e22, 1e23], ["25B", "2.5T"]


@pytest.fixture(scope="module")
def runs():
    return read_runs(pd.DataFrame({**plain_design(), "loss": 3.0}))


@pytest.fixture(scope="module", params=["repetition", "repetition-tokens"])
def fit(request, runs):
    return made_up(request.param, runs, draws=15)


def test_no_size_has_a_lower_loss(fit):
    """Brute force over sizes, 20 e-folds of them."""
    found, laws = allocate_limited(fit, BUDGETS, UNIQUE), surface(fit)
    steps = np.exp(np.linspace(-12, 8, 20001))
    for k in range(laws.size):
        for i, c in enumerate(found.C):
            for j, unique in enumerate(found.unique_tokens):
                size, loss = (found.draws[n][k, i, j] for n in ("N_opt", "loss"))
                tokens = c / 6 / (size * steps)
                grid = laws.mean(k, N=size * steps, D=tokens, U=np.minimum(tokens, unique))
                assert loss <= grid.min() * (1 + 1e-12)
                assert grid.min() == pytest.approx(loss, rel=1e-6)


def test_without_a_limit_it_is_the_fresh_optimum(runs):
    """repetition-tokens at one epoch is Chinchilla: N_opt = G (C/6)^a."""
    fit = made_up("repetition-tokens", runs, draws=15)
    found = allocate_limited(fit, 1e21, "1000T")
    A, B, alpha, beta = (fit.draws(n) for n in ("A", "B", "alpha", "beta"))
    total = alpha + beta
    size = (alpha * A / (beta * B)) ** (1 / total) * (1e21 / 6) ** (beta / total)
    np.testing.assert_allclose(found.draws["N_opt"][:, 0, 0], size, rtol=2e-6)
    assert (found.draws["excess"] < 1e-12).all()
    assert (found.draws["epochs"] == 1).all()


def test_fewer_unique_tokens_never_help_and_epochs_are_tokens_over_unique(fit):
    found = allocate_limited(fit, BUDGETS, ["10B", "25B", "100B"])
    assert (np.diff(found.draws["loss"], axis=2) <= 1e-12).all()
    assert (found.draws["excess"] >= 0).all()
    seen = found.draws["D_opt"] / found.unique_tokens
    np.testing.assert_allclose(found.draws["epochs"], np.maximum(seen, 1))


def test_what_is_told(fit):
    found = allocate_limited(fit, BUDGETS, UNIQUE)
    record = json.loads(json.dumps(found.to_dict()))["allocations"]
    assert [(r["C"], r["unique_tokens"]) for r in record[:2]] == [(1e20, 25e9), (1e20, 2.5e12)]
    assert record[2]["probability_above_4_epochs"] > 0.5  # 1e22 FLOP on 25B tokens, prior draws
    assert record[3]["probability_repeated"] < 0.2
    for r, choice in zip(record, found.recommended, strict=True):
        assert r["recommended"]["expected_regret"] >= 0
        assert r["recommended"]["epochs"] == pytest.approx(max(choice.D / r["unique_tokens"], 1))
    assert found.dataset["epochs"].dims == ("draw", "budget", "limit")
    assert len(found.to_frame()) == 6 * 6
    assert "P(> 4 epochs)" in str(found).replace("\n", " ") or "epochs" in str(found)


def test_what_lies_outside_is_told(runs):
    fit = made_up("repetition", runs, draws=15)
    far = allocate_limited(fit, 1e24, "25B")
    assert any("U 1.25x above the data" in w for w in far.warnings)
    assert any("epochs at the optimum, 40 in the data" in w for w in far.warnings)
    low = allocate_limited(fit, float(runs.column("C").min()) / 10, "1B")
    assert any("C 10x below the data" in w for w in low.warnings)


def test_budgets_so_large_that_nothing_changes_the_loss_are_refused(runs):
    fit = made_up("repetition", runs, draws=5, spread=1e-6)
    with pytest.raises(FitError, match="so many epochs that neither size nor tokens change"):
        allocate_limited(fit, 1e36, "1M")


def test_laws_without_unique_tokens_are_refused(chinchilla):
    with pytest.raises(FitError, match="needs a law of N, D and U: fit repetition"):
        allocate_limited(chinchilla, 1e21, "25B")


def test_limits_that_make_no_sense_are_refused(fit):
    with pytest.raises(DataError, match="unique_tokens = 0"):
        allocate_limited(fit, 1e21, 0)
