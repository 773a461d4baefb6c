"""Leave-one-out against densities known in closed form, by brute force, or by exact refits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale import priors
from bayescale.check import loo
from bayescale.check.at_runs import at_runs
from bayescale.check.comparison.offsets import integrated
from bayescale.check.comparison.psis import log_mean_exp
from bayescale.check.comparison.refits import exact
from bayescale.check.comparison.units import find_units
from bayescale.data import read_runs
from bayescale.inference.posterior import Variable
from tests.answers.conftest import made_up

LEVEL = bs.Law(
    "level",
    (bs.Input("N", "parameters"),),
    (bs.Param("E", priors.Normal(2.0, 0.5)),),
    mean=lambda E, N: E + 0.0 * N,
)


def exact_level_fit(table, covariance, noise, **constant):
    """The level's exact posterior under a normal likelihood of known covariance, as draws."""
    fit = made_up(LEVEL, read_runs(table), noise)
    inverse = np.linalg.inv(covariance)
    precision = 1 / 0.5**2 + inverse.sum()
    mean = (2.0 / 0.5**2 + inverse.sum(axis=1) @ table["loss"].to_numpy()) / precision
    draws = np.random.default_rng(0).normal(mean, precision**-0.5, (4, 4000))
    found = {k: Variable(np.full((4, 4000), v), (), "noise") for k, v in constant.items()}
    if "run_sd" in constant:  # offsets of known runs; leave-one-run-out must not read them
        runs = fit.layout.labels["run"]
        found["run_offset"] = Variable(np.zeros((4, 4000, len(runs))), ("run",), "noise")
    found["E"] = Variable(draws, (), "param")
    return replace(fit, variables=found, stats={"lp": np.zeros((4, 4000))})


def left_out(table, covariance, rows):
    """Closed-form log density of some rows given the others, under the level's prior."""
    y, n = table["loss"].to_numpy(), len(table)
    whole = stats.multivariate_normal(np.full(n, 2.0), covariance + 0.25)
    rest = np.setdiff1d(np.arange(n), rows)
    part = stats.multivariate_normal(np.full(len(rest), 2.0), (covariance + 0.25)[rest][:, rest])
    return whole.logpdf(y) - part.logpdf(y[rest])


def test_single_rows_equal_the_closed_form():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"N": rng.uniform(1e8, 1e9, 20), "sd": rng.uniform(0.05, 0.1, 20)})
    table["loss"] = 2.3 + table["sd"] * rng.standard_normal(20)
    covariance = np.diag(table["sd"].to_numpy() ** 2)
    fit = exact_level_fit(table, covariance, bs.normal(sigma=None, known_sd="sd"))
    found = loo(fit)
    expected = [left_out(table, covariance, [k]) for k in range(20)]
    assert found.units.by == "row"
    assert found.refitted == ()
    assert found.bad == 0
    np.testing.assert_allclose(found.elpd_i, expected, atol=0.01)
    assert found.elpd == pytest.approx(sum(expected), abs=0.05)
    assert found.se == pytest.approx(np.sqrt(20) * np.std(expected, ddof=1), rel=0.02)
    draws = fit.draws("E")
    inside = stats.norm(draws.mean(), np.sqrt(draws.var() + table["sd"] ** 2))
    lppd = inside.logpdf(table["loss"]).sum()
    assert found.p_loo == pytest.approx(lppd - sum(expected), abs=0.03)


def test_whole_runs_equal_the_closed_form_with_offsets_integrated_out():
    rng = np.random.default_rng(2)
    run = np.repeat(np.arange(8), 5)
    offset, sigma, spread = rng.standard_normal(8), 0.02, 0.1
    loss = 2.3 + spread * offset[run] + sigma * rng.standard_normal(40)
    table = pd.DataFrame({"N": 1e8 * (1.0 + run), "run": [f"r{k}" for k in run], "loss": loss})
    covariance = sigma**2 * np.eye(40) + spread**2 * (run[:, None] == run)
    noise = bs.normal(runs="run")
    fit = exact_level_fit(table, covariance, noise, sigma=sigma, run_sd=spread)
    found = loo(fit)
    assert found.units.by == "run"
    assert len(found.elpd_i) == 8
    expected = [left_out(table, covariance, np.flatnonzero(run == k)) for k in range(8)]
    # 1,000 draws are used where each needs an integral: their Monte Carlo error is about .03
    np.testing.assert_allclose(found.elpd_i, expected, atol=0.1)
    # weights by the offsets of the runs as fitted would be far off
    inside = stats.multivariate_normal(np.zeros(5), sigma**2 * np.eye(5))
    assert abs(found.elpd - 8 * inside.logpdf(np.zeros(5))) > 1


@pytest.mark.parametrize("rows", [[0.0], [0.3, -0.4], [0.02] * 30, [5.0, 5.02], [0.0] * 5 + [0.9]])
@pytest.mark.parametrize("nu", [1.5, 30.0])
def test_integral_over_offsets_equals_a_dense_sum(rows, nu):
    noise = bs.student_t(runs="run")
    mean = np.array([[2.0], [2.1]]) * np.ones(len(rows))
    y = 2.0 * np.exp(0.1 * np.array(rows))
    values = {"sigma": np.array([[0.004], [0.02]]), "nu": np.full((2, 1), nu)}
    values["run_sd"] = np.array([[0.1], [0.03]])
    found = integrated(noise, y, mean, values, {})
    z = np.linspace(-14, 14, 280_001)
    for k in range(2):
        own = {name: v[k] for name, v in values.items()}
        dense = [
            noise.log_density(y[i], mean[k, i], {**own, "run_offset": z}, {})
            for i in range(len(rows))
        ]
        log = np.sum(dense, axis=0) + stats.norm.logpdf(z)
        assert found[k] == pytest.approx(np.logaddexp.reduce(log) + np.log(z[1] - z[0]), abs=0.05)


def test_densities_are_of_the_response_whatever_the_scale_of_the_noise():
    y, mean = np.linspace(0.5, 6, 200_001), np.full(200_001, 2.0)
    own = {"sigma": np.array(0.2), "nu": np.array(4.0)}
    logs = {
        "log": bs.log_normal().log_density(y, mean, own, {}),
        "t": bs.student_t().log_density(y, mean, own, {}),
        "plain": bs.normal().log_density(y, mean, own, {}),
    }
    np.testing.assert_allclose(logs["log"], stats.lognorm(0.2, scale=2.0).logpdf(y), atol=1e-9)
    np.testing.assert_allclose(logs["plain"], stats.norm(2.0, 0.2).logpdf(y), atol=1e-9)
    # each is a density over the loss: it has integral 1 (less what lies outside .5 to 6)
    for name, log in logs.items():
        total = np.trapezoid(np.exp(log), y)
        assert total == pytest.approx(1.0, abs=0.01 if name == "t" else 1e-4)


def sweep(rows, seed=0):
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7.5, 10, rows), 10 ** rng.uniform(9, 11.5, rows)
    mean = 1.8 + 480 * N**-0.35 + 2000 * D**-0.37
    return pd.DataFrame({"N": N, "D": D, "loss": mean * np.exp(0.01 * rng.standard_normal(rows))})


@pytest.fixture(scope="module")
def clean():
    """A fit to 30 runs with normal noise of the law."""
    return bs.fit("chinchilla", sweep(30), noise=bs.log_normal(), progress=False)


@pytest.fixture(scope="module")
def odd():
    """The same with a run whose loss is 8% too high."""
    table = sweep(30)
    table.loc[17, "loss"] *= 1.08
    return bs.fit("chinchilla", table, noise=bs.log_normal(), progress=False)


def test_weighted_densities_equal_exact_refits(clean):
    found = loo(clean, refit="never")
    good = np.flatnonzero(found.pareto_k < 0.5)
    some = [int(u) for u in good[:: max(1, len(good) // 8)]]
    refits = exact(clean, find_units({"x": clean}, None), some, "x", progress=False)
    errors = np.array([found.elpd_i[r.unit] - r.elpd for r in refits])
    assert len(errors) >= 8
    assert np.abs(errors).max() < 0.15
    assert abs(errors.mean()) < 0.05


def test_outlier_is_refitted_and_its_density_is_the_refits(odd):
    weighted = loo(odd, refit="never")
    assert weighted.pareto_k[17] > weighted.threshold
    assert 17 in weighted.unreliable
    assert weighted.refitted == ()
    assert any("row 18" in w and "max_refits" in w for w in weighted.warnings)
    found = loo(odd, progress=False)
    assert 17 in found.refitted
    assert found.unreliable == ()
    mask = np.arange(30) != 17
    runs = odd.runs
    rest = runs.select(mask, "not 17")
    alone = bs.fit("chinchilla", rest, noise=bs.log_normal(), draws=10_000, progress=False)
    density = at_runs(alone, runs.select(~mask, "17")).log_density[:, 0]
    # a density far in the tail: its Monte Carlo error is that of a mean over heavy tails
    assert found.elpd_i[17] == pytest.approx(log_mean_exp(density), abs=1.5)
    # weights flatter it: by more than three standard errors (0.17) of the mean of 40,000
    assert weighted.elpd_i[17] > log_mean_exp(density) + 0.5
    others = np.setdiff1d(np.arange(30), found.refitted)
    np.testing.assert_array_equal(found.elpd_i[others], weighted.elpd_i[others])


def test_refits_are_limited_the_worst_first(odd):
    found = loo(odd, max_refits=0)
    assert found.refitted == ()
    assert 17 in found.unreliable
    record = found.to_dict()
    assert record["pareto_k"]["bad"] == len(found.unreliable)
    assert "18" in record["unreliable"]
    assert "UNRELIABLE" in str(found)
