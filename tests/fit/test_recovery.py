"""Known truths come back, in units of the posterior's own uncertainty."""

import numpy as np
import pytest

import bayescale as bs

NAMES = ("E", "A", "B", "alpha", "beta", "a", "gamma", "sigma")


def z_score(fit, name, truth):
    """Distance of the posterior mean from the truth in posterior SDs (of the log, if positive)."""
    draws, target = np.log(fit.draws(name)), np.log(truth[name])
    return (draws.mean() - target) / draws.std()


def test_simulated_fits_pass_the_gate(fits):
    for fit in fits:
        assert fit.converged, fit.gate.headline()
        assert fit.gate.min_ess_bulk > 1000


@pytest.mark.parametrize("name", NAMES)
def test_truth_lies_within_four_posterior_sds(name, fits, truth):
    z = np.array([z_score(fit, name, truth) for fit in fits])
    assert np.all(np.abs(z) < 4), z


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_not_one_sided(name, fits, truth):
    """Means of five independent z-scores have SD 1/sqrt(5) where there is no bias."""
    z = np.array([z_score(fit, name, truth) for fit in fits])
    assert abs(z.mean()) < 3.5 / np.sqrt(5), z
    assert z.std() > 0.15  # intervals are not absurdly wide


def test_half_of_the_intervals_cover_the_truth(fits, truth):
    """Over 5 sweeps x 8 quantities: neither all nor none of the 50% intervals."""
    inside = [
        np.quantile(fit.draws(n), 0.25) < truth[n] < np.quantile(fit.draws(n), 0.75)
        for fit in fits
        for n in NAMES
    ]
    assert 0.15 < np.mean(inside) < 0.85


def test_posterior_sd_is_that_of_the_sampling_distribution(fits):
    """Spread of the posterior means over sweeps against the posterior SDs: one scale."""
    for name in ("alpha", "beta", "a"):
        means = np.array([fit.draws(name).mean() for fit in fits])
        sds = np.array([fit.draws(name).std() for fit in fits])
        assert 0.25 < means.std(ddof=1) / sds.mean() < 2.5, name


def test_derived_quantities_follow_from_parameters(fit):
    alpha, beta = fit.draws("alpha"), fit.draws("beta")
    np.testing.assert_allclose(fit.draws("a"), beta / (alpha + beta))
    np.testing.assert_allclose(fit.draws("b"), alpha / (alpha + beta))
    np.testing.assert_allclose(fit.draws("gamma"), alpha * beta / (alpha + beta))
    N_ref = fit.layout.refs["N_ref"]
    np.testing.assert_allclose(fit.draws("A"), fit.draws("size_term") * N_ref**alpha)


def test_summary_says_what_the_draws_say(fit):
    for name in NAMES:
        draws, row = fit.draws(name), fit.summary.loc[name]
        assert row["mean"] == pytest.approx(draws.mean())
        assert row["sd"] == pytest.approx(draws.std(ddof=1))
        assert row["median"] == pytest.approx(np.median(draws))
        assert row["q05"] == pytest.approx(np.quantile(draws, 0.05))
        assert row["q975"] == pytest.approx(np.quantile(draws, 0.975))
        assert row["mcse"] == pytest.approx(row["sd"] / np.sqrt(row["ess_bulk"]))


@pytest.mark.parametrize("digits", [2, 4])
def test_rounded_losses_give_back_the_law(chinchilla, table, truth, digits):
    """Simulated runs without noise but rounding: the law comes back as sharp as they allow."""
    exact = (
        truth["E"]
        + truth["A"] * table["N"] ** -truth["alpha"]
        + truth["B"] * table["D"] ** -truth["beta"]
    )
    fit = chinchilla(table.assign(loss=exact.round(digits)))
    assert fit.converged
    for name in ("E", "alpha", "beta"):
        draws = fit.draws(name)
        assert abs(draws.mean() - truth[name]) < 4 * draws.std()
        assert draws.std() < 2.0 * 10**-digits


def test_own_law_recovers_its_truth(own_fit):
    for name, value in {"E": 2.1, "A": 0.4, "alpha": 0.25}.items():
        draws = own_fit.draws(name)
        assert abs(draws.mean() - value) < 4 * draws.std()
    assert own_fit.law.name == "mine"
    assert "loss = " in str(own_fit)


def test_groups_are_told_apart(table):
    """A floor of its own for each family comes back for that family and no other."""
    shift = table["family"].map({"x": 0.0, "y": 0.15, "z": 0.4})
    fit = bs.fit(
        "chinchilla",
        table.assign(loss=table["loss"] + shift),
        pooling={"E": bs.partial("family", bs.priors.HalfNormal(0.5))},
        chains=2,
        draws=500,
    )
    E = fit.draws("E")
    labels = list(fit.layout.labels["family"])
    assert labels == ["x", "y", "z"]
    assert fit.variables["E"].dims == ("family",)
    for family, expected in {"y": 0.15, "z": 0.4}.items():
        gap = E[:, labels.index(family)] - E[:, labels.index("x")]
        assert abs(gap.mean() - expected) < 4 * gap.std()
        assert gap.std() < 0.02


def test_pooled_draws_agree_with_the_stored_likelihood(pooled_fit, table):
    """Each row is judged by its own family's A and its own version's E."""
    labels = pooled_fit.layout.labels
    version = [labels["version"].index(str(v)) for v in table["version"]]
    family = [labels["family"].index(f) for f in table["family"]]
    N, D, y = (table[c].to_numpy() for c in ("N", "D", "loss"))
    draw = 37
    E = pooled_fit.variables["E"].values[1, draw][version]
    size = pooled_fit.variables["size_term"].values[1, draw][family]
    refs = pooled_fit.layout.refs
    pick = {n: pooled_fit.variables[n].values[1, draw] for n in ("data_term", "alpha", "beta")}
    mean = (
        E
        + size * (N / refs["N_ref"]) ** -pick["alpha"]
        + pick["data_term"] * (D / refs["D_ref"]) ** -pick["beta"]
    )
    sigma = pooled_fit.variables["sigma"].values[1, draw]
    z = (np.log(y) - np.log(mean)) / sigma
    expected = -0.5 * z**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi) - np.log(y)
    stored = pooled_fit.tree["log_likelihood"]["loss"].to_numpy()[1, draw]
    np.testing.assert_allclose(stored, expected, rtol=1e-8)
