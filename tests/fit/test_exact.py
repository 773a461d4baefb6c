"""A fit whose posterior is known in closed form, and what the gate says of designs."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import priors

ROWS = 25


@pytest.fixture(scope="module")
def line() -> tuple[bs.Fit, np.ndarray, np.ndarray]:
    """A straight line with known normal errors: the posterior is Gaussian with these moments."""
    rng = np.random.default_rng(31)
    x, sd = rng.uniform(-1, 1, ROWS), rng.uniform(0.05, 0.4, ROWS)
    y = 3.0 + 0.6 * x + sd * rng.standard_normal(ROWS)
    law = bs.Law(
        "line",
        (bs.Input("x", positive=False),),
        (bs.Param("c", priors.Normal(2.5, 0.3)), bs.Param("s", priors.Normal(0.0, 0.2))),
        mean=lambda c, s, x: c + s * x,
    )
    fit = bs.fit(
        law,
        pd.DataFrame({"x": x, "loss": y, "sd": sd}),
        noise=bs.normal(sigma=None, known_sd="sd"),
        draws=4000,
        seed=6,
    )
    design = np.stack([np.ones(ROWS), x], axis=1)
    precision = design.T @ (design / sd[:, None] ** 2) + np.diag([0.3**-2, 0.2**-2])
    covariance = np.linalg.inv(precision)
    pull = design.T @ (y / sd**2) + np.array([2.5 / 0.3**2, 0.0])
    return fit, covariance @ pull, covariance


def test_means_are_exact(line):
    fit, mean, _ = line
    for name, expected in zip(("c", "s"), mean, strict=True):
        assert abs(fit.draws(name).mean() - expected) < 5 * fit.summary.loc[name, "mcse"]


def test_covariance_is_exact(line):
    fit, _, covariance = line
    draws = np.stack([fit.draws("c"), fit.draws("s")])
    ess = fit.summary[["ess_bulk", "ess_tail"]].to_numpy().min()
    assert ess > 3000
    error = 5 / np.sqrt(ess)  # an SD has a relative error of 1/sqrt(2 ESS), a correlation less
    found = np.cov(draws)
    for k in range(2):
        assert np.sqrt(found[k, k] / covariance[k, k]) == pytest.approx(1, abs=error)
    scale = np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert (found[0, 1] - covariance[0, 1]) / scale == pytest.approx(0, abs=error)


def test_quantiles_are_exact(line):
    from scipy import stats

    fit, mean, covariance = line
    for k, name in enumerate(("c", "s")):
        u = stats.norm(mean[k], np.sqrt(covariance[k, k])).cdf(fit.draws(name))
        for level in (0.025, 0.25, 0.75, 0.975):
            error = 5 * np.sqrt(level * (1 - level) / fit.summary.loc[name, "ess_tail"])
            assert np.mean(u < level) == pytest.approx(level, abs=error)


def test_evidence_parts_are_exact(line):
    """Stored log likelihood and log prior at the draws, against SciPy."""
    from scipy import stats

    fit, _, _ = line
    runs = fit.runs
    c, s = fit.variables["c"].values[2, 99], fit.variables["s"].values[2, 99]
    expected = stats.norm(c + s * runs.column("x"), runs.column("sd")).logpdf(runs.column("loss"))
    np.testing.assert_allclose(
        fit.tree["log_likelihood"]["loss"].to_numpy()[2, 99], expected, rtol=1e-10
    )
    assert float(fit.tree["log_prior"]["s"][2, 99]) == pytest.approx(stats.norm(0, 0.2).logpdf(s))


# designs that leave something open; all share chinchilla's compiled program


def losses(N, D, truth, seed=1, sigma=0.01):
    mean = truth["E"] + truth["A"] * N ** -truth["alpha"] + truth["B"] * D ** -truth["beta"]
    noise = np.exp(sigma * np.random.default_rng(seed).standard_normal(len(N)))
    return pd.DataFrame({"N": N, "D": D, "loss": mean * noise})


def checks(fit):
    return {p.check for p in fit.gate.problems}


N = np.geomspace(1e8, 1e10, 150)
DESIGNS = {
    "all D = 20 N": (N, 20 * N),
    "one size": (np.full(150, 1e9), np.geomspace(1e9, 1e12, 150)),
    "one data size": (N, np.full(150, 1e11)),
    "one budget": (N, 1e21 / 6 / N),
}


@pytest.mark.parametrize(("n_params", "n_tokens"), DESIGNS.values(), ids=DESIGNS.keys())
def test_designs_that_cannot_tell_are_named(chinchilla, truth, n_params, n_tokens):
    fit = chinchilla(losses(n_params, n_tokens, truth), draws=200, retry=False)
    assert not fit.converged
    assert "design" in checks(fit)
    first = str(fit).splitlines()[0]
    assert "NOT " in first
    assert "design" in first
    assert fit.to_dict()["converged"] is False
    assert any(r["check"] == "design" for r in fit.to_dict()["reasons"])
    assert any("design" in w for w in fit.warnings)
    assert all(p.remedy for p in fit.gate.problems)


def test_runs_that_say_nothing_of_a_parameter(chinchilla, truth):
    """Noise of 60% on 150 runs: the exponents stay what the prior says."""
    rng = np.random.default_rng(0)
    n_params, n_tokens = 10 ** rng.uniform(8, 10, 150), 10 ** rng.uniform(9.5, 11.5, 150)
    fit = chinchilla(losses(n_params, n_tokens, truth, sigma=0.6))
    assert not fit.converged
    assert checks(fit) & {"prior", "design"}
    assert fit.gate.headline().startswith("NOT IDENTIFIED")


def test_a_sound_design_passes(fit):
    assert fit.converged
    assert "converged" in str(fit).splitlines()[0]
    assert fit.warnings == ()
    assert fit.to_dict()["converged"] is True


def test_a_few_wrecked_runs_do_not_move_the_fit(chinchilla, table, fit):
    """Three of 150 runs with a loss 60% too high: Student-t leaves them alone, normal can't."""
    wrecked = table.copy()
    wrecked.loc[[10, 60, 110], "loss"] *= 1.6
    robust = chinchilla(wrecked)
    for name in ("E", "alpha", "beta"):
        gap = robust.draws(name).mean() - fit.draws(name).mean()
        assert abs(gap) < 1.0 * fit.draws(name).std(), name
    assert np.median(robust.draws("nu")) < 4 < np.median(fit.draws("nu"))
