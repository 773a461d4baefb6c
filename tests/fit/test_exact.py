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


# groups: given the spread between them the posterior is Gaussian, and the spread is one number


def grouped_runs():
    """Eight groups, half of them measured well and half badly, so centring has to differ."""
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(8), 4)
    sd = np.where(group % 2, 0.02, 0.5) * rng.uniform(0.8, 1.2, len(group))
    y = 3.0 + 0.25 * rng.standard_normal(8)[group] + sd * rng.standard_normal(len(group))
    return pd.DataFrame(
        {"x": 0.0, "loss": y, "sd": sd, "group": [f"g{k}" for k in group], "place": group}
    )


def by_quadrature(frame, log_prior, spreads):
    """Exact posterior means and SDs of the common value, the spread and the groups' values."""
    place, sd, y = (frame[c].to_numpy() for c in ("place", "sd", "loss"))
    log_weight, means, squares = [], [], []
    for s in spreads:
        # unknowns: common value c ~ N(2.5, 1), group values u_g ~ N(c, s)
        precision = np.zeros((9, 9))
        precision[0, 0] = 1.0 + 8 / s**2
        precision[0, 1:] = precision[1:, 0] = -1 / s**2
        precision[1:, 1:] = np.diag(1 / s**2 + np.bincount(place, 1 / sd**2))
        pull = np.concatenate([[2.5], np.bincount(place, y / sd**2)])
        covariance = np.linalg.inv(precision)
        mean = covariance @ pull
        evidence = 0.5 * pull @ mean + 0.5 * np.linalg.slogdet(covariance)[1] - 8 * np.log(s)
        log_weight.append(evidence + log_prior(s) + np.log(s))  # a grid in ln s
        means.append(mean)
        squares.append(np.diag(covariance) + mean**2)
    weight = np.exp(np.array(log_weight) - max(log_weight))
    weight /= weight.sum()
    mean = weight @ np.array(means)
    sd_of = np.sqrt(weight @ np.array(squares) - mean**2)
    return mean, sd_of, weight @ spreads, weight @ np.log(spreads)


SPREADS = np.geomspace(1e-3, 10, 3000)


def assert_exact(draws, mean, sd=None):
    """Mean (and SD) of draws, shape (chain, draw), within five Monte Carlo errors."""
    from bayescale.inference.convergence import ess_bulk, ess_tail

    size = min(ess_bulk(draws[None])[0], ess_tail(draws[None])[0])
    assert abs(draws.mean() - mean) < 5 * draws.std() / np.sqrt(size)
    if sd is not None:
        assert draws.std() / sd == pytest.approx(1, abs=8 / np.sqrt(size))


def test_partial_pooling_is_exact():
    from scipy import stats

    frame = grouped_runs()
    law = bs.Law(
        "level",
        (bs.Input("x", positive=False),),
        (bs.Param("c", priors.Normal(2.5, 1.0)),),
        mean=lambda c, x: c + 0.0 * x,
    )
    fit = bs.fit(
        law,
        frame,
        noise=bs.normal(sigma=None, known_sd="sd"),
        pooling={"c": bs.partial("group", priors.HalfNormal(0.3))},
        draws=2000,
    )
    assert fit.gate.converged, fit.gate.headline()
    prior = stats.halfnorm(scale=0.3).logpdf
    mean, sd, spread, log_spread = by_quadrature(frame, prior, SPREADS)
    values = {k: v.values for k, v in fit.variables.items()}
    assert_exact(values["c_pop"], mean[0], sd[0])
    for k in range(8):
        assert_exact(values["c"][..., k], mean[1 + k], sd[1 + k])
    assert_exact(values["c_sd"], spread)
    assert_exact(np.log(values["c_sd"]), log_spread)


def test_offsets_of_runs_are_exact():
    """The same model told as noise: rows of one run share an offset."""
    from scipy import stats

    frame = grouped_runs()
    law = bs.Law(
        "level",
        (bs.Input("x", positive=False),),
        (bs.Param("c", priors.Normal(2.5, 1.0)),),
        mean=lambda c, x: c + 0.0 * x,
    )
    noise = bs.normal(sigma=None, known_sd="sd", runs="group", run_sd=priors.LogNormal(0.2, 0.8))
    fit = bs.fit(law, frame, noise=noise, draws=2000)
    assert fit.gate.converged, fit.gate.headline()
    prior = stats.lognorm(0.8, scale=0.2).logpdf
    mean, sd, spread, log_spread = by_quadrature(frame, prior, SPREADS)
    values = {k: v.values for k, v in fit.variables.items()}
    assert_exact(values["c"], mean[0], sd[0])
    assert_exact(np.log(values["run_sd"]), log_spread)
    assert_exact(values["run_sd"], spread)
    for k in range(8):
        group = values["c"] + values["run_sd"] * values["run_offset"][..., k]
        assert_exact(group, mean[1 + k], sd[1 + k])


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
