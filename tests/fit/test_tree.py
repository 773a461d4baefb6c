"""The DataTree is ArviZ's own: its functions take it as it is, from memory and from disk."""

import arviz_stats as az
import numpy as np
import pytest
from scipy import stats

import bayescale as bs


@pytest.fixture(scope="module")
def loaded_tree(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "fit.nc"
    fit.save(path)
    return bs.load(path).tree


@pytest.fixture(params=["memory", "disk"])
def tree(request, fit, loaded_tree):
    return fit.tree if request.param == "memory" else loaded_tree


def test_groups_and_axes(tree, fit):
    assert set(tree.children) == {
        "posterior",
        "sample_stats",
        "log_prior",
        "log_likelihood",
        "posterior_predictive",
        "prior",
        "prior_predictive",
        "observed_data",
        "constant_data",
    }
    sizes = {"chain": 4, "draw": 1000, "row": 150}
    for group in ("log_likelihood", "posterior_predictive"):
        assert dict(tree[group]["loss"].sizes) == sizes
    assert dict(tree["posterior"]["alpha"].sizes) == {"chain": 4, "draw": 1000}
    assert dict(tree["prior_predictive"]["loss"].sizes) == {"chain": 1, "draw": 1000, "row": 150}
    np.testing.assert_array_equal(tree["observed_data"]["loss"], fit.runs.column("loss"))
    np.testing.assert_array_equal(tree["constant_data"]["N"], fit.runs.column("N"))
    assert tree["posterior"]["alpha"].attrs["meaning"] == "size exponent"
    assert tree.attrs["law"] == "chinchilla"


def test_loo(tree):
    found = az.loo(tree)
    assert found.n_data_points == 150
    assert 3 < found.p < 15  # seven parameters
    assert np.all(np.asarray(found.pareto_k) < 0.7)


def test_loo_counts_the_loss_itself(fit, truth):
    """elpd is of the loss, not of its logarithm: near what the true noise gives."""
    y = fit.runs.column("loss")
    N, D = fit.runs.column("N"), fit.runs.column("D")
    mean = truth["E"] + truth["A"] * N ** -truth["alpha"] + truth["B"] * D ** -truth["beta"]
    best = stats.norm(np.log(mean), 0.01).logpdf(np.log(y)) - np.log(y)
    assert az.loo(fit.tree).elpd == pytest.approx(best.sum(), abs=20)


def test_summary(tree, fit):
    table = az.summary(tree, round_to="none")
    assert {"E", "A", "B", "alpha", "beta", "a", "sigma", "nu"} <= set(table.index)
    assert table.loc["alpha", "mean"] == pytest.approx(fit.summary.loc["alpha", "mean"])
    assert table.loc["alpha", "r_hat"] == pytest.approx(fit.summary.loc["alpha", "rhat"])
    assert table.loc["alpha", "ess_bulk"] == pytest.approx(fit.summary.loc["alpha", "ess_bulk"])


def test_power_scaling(tree):
    table = az.psense_summary(tree, var_names=["E", "alpha", "beta", "sigma"])
    assert list(table.index) == ["E", "alpha", "beta", "sigma"]
    assert np.all(table["likelihood"].astype(float) > table["prior"].astype(float))


def test_log_prior_is_the_priors_density(fit):
    value = fit.tree["posterior"]["alpha"]
    expected = stats.lognorm(0.4, scale=0.35).logpdf(value)
    np.testing.assert_allclose(fit.tree["log_prior"]["alpha"], expected)
    assert set(fit.tree["log_prior"].data_vars) == {s.name for s in fit.packing.sites}


def test_log_likelihood_and_prior_add_up_to_the_samplers_density(fit):
    """lp is the density of the vector: likelihood, priors and the logs' Jacobians."""
    tree = fit.tree
    total = tree["log_likelihood"]["loss"].sum("row")
    for site in fit.packing.sites:
        total = total + tree["log_prior"][site.name] + np.log(tree["posterior"][site.name])
    np.testing.assert_allclose(total, tree["sample_stats"]["lp"], rtol=1e-9, atol=1e-7)


def test_posterior_predictive_is_calibrated(tree):
    drawn = tree["posterior_predictive"]["loss"].stack(sample=("chain", "draw"))
    observed = tree["observed_data"]["loss"]
    rank = (drawn < observed).mean("sample")
    assert stats.kstest(rank, "uniform").pvalue > 0.001
    inside = np.mean((rank > 0.05) & (rank < 0.95))
    assert 0.83 < inside < 0.97  # 90% of 150 rows


def test_prior_predictive_is_wider_than_posterior_predictive(tree):
    spread = {
        group: np.log(tree[group]["loss"]).std(("chain", "draw")).mean()
        for group in ("prior_predictive", "posterior_predictive")
    }
    assert spread["prior_predictive"] > 10 * spread["posterior_predictive"]
    typical = float(np.exp(np.log(tree["prior_predictive"]["loss"]).median()))
    assert 1 < typical < 8  # nats a token


def test_prior_draws_follow_the_priors(fit):
    prior = fit.tree["prior"]
    assert stats.kstest(np.ravel(prior["E"]), stats.lognorm(1.0, scale=1.5).cdf).pvalue > 0.001
    N_ref = fit.layout.refs["N_ref"]
    np.testing.assert_allclose(prior["A"], prior["size_term"] * N_ref ** prior["alpha"])


def test_arviz_plots_take_it(tree):
    import arviz_plots as azp
    import matplotlib.pyplot as plt

    for draw in (
        lambda: azp.plot_dist(tree, var_names=["alpha", "a"], backend="matplotlib"),
        lambda: azp.plot_trace(tree, var_names=["alpha"], backend="matplotlib"),
        lambda: azp.plot_rank(tree, var_names=["alpha"], backend="matplotlib"),
        lambda: azp.plot_ppc_dist(tree, num_samples=20, backend="matplotlib"),
        lambda: azp.plot_energy(tree, backend="matplotlib"),
    ):
        assert draw() is not None
        plt.close("all")


def test_pooled_tree_has_named_groups(pooled_fit):
    posterior = pooled_fit.tree["posterior"]
    assert posterior["E"].dims == ("chain", "draw", "version")
    assert posterior["size_term"].dims == ("chain", "draw", "family")
    assert posterior["A"].dims == ("chain", "draw", "group")
    assert posterior["version"].to_numpy().tolist() == ["1", "2"]
    assert posterior["family"].to_numpy().tolist() == ["x", "y", "z"]
    assert "1/x" in posterior["group"].to_numpy().tolist()
    assert np.isfinite(az.loo(pooled_fit.tree).elpd)
    assert "E[1]" in str(pooled_fit)


def test_large_tables_keep_a_part_of_the_draws(fit, monkeypatch):
    from dataclasses import replace

    import bayescale.tree

    monkeypatch.setattr(bayescale.tree, "MAX_ELEMENTS", 50_000)
    tree = replace(fit).tree
    thinned = tree["log_likelihood"]["loss"]
    assert tree["log_likelihood"].attrs["thinned_by"] == 12
    np.testing.assert_array_equal(thinned["draw"][:3], [0, 12, 24])
    full = fit.tree["log_likelihood"]["loss"]
    np.testing.assert_array_equal(thinned, full.isel(draw=slice(None, None, 12)))
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert tree[group]["loss"].size <= 1.1 * 50_000, group  # up to one draw a chain more
    assert tree["posterior"]["E"].sizes["draw"] == 1000
