"""Best batch size: the interval-censored likelihood, recovery, tables, answers, refusals."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import bayescale as bs
from bayescale.families.batch_size import arrange
from bayescale.laws.batch_size import GRID, batch_size_law
from bayescale.noise.rounding import log_mass, probabilities
from bayescale.noise.rounding import rounded as nearest_of
from bayescale.scatter import SCALES

TRUTH = {"c0": 6.2, "c1": 16.0, "sigma": 0.4}
NOISE = bs.Noise(tail="normal", grid=GRID)


def simulated(count: int = 60, seed: int = 3) -> pd.DataFrame:
    Z = np.random.default_rng(seed).uniform(0.05, 0.3, count)
    return bs.simulate(batch_size_law(GRID, 0.07), TRUTH, {"Z": Z}, seed=seed)


@pytest.fixture(scope="module")
def fit() -> bs.Fit:
    return bs.fit("batch-size", simulated(), chains=2, draws=500, seed=1, progress=False)


def test_a_row_has_the_probability_that_the_optimum_lies_in_its_interval():
    """Against the integral of the normal density between the middles of the logarithms."""
    mean, values = np.array(500.0), {"sigma": 0.45}
    edges = np.sqrt(np.array(GRID)[1:] * np.array(GRID)[:-1])  # the middle of two logarithms
    edges = [1e-3, *edges, 1e9]
    for k, size in enumerate(GRID):
        density: Any = partial(stats.norm.pdf, loc=np.log(500.0), scale=0.45)
        ends = np.log([edges[k], edges[k + 1]])
        expected = integrate.quad(density, *ends, points=[np.log(500.0)], epsabs=1e-13)[0]
        got = np.exp(NOISE.log_density(np.array(size), mean, values, {}))
        assert got == pytest.approx(expected, rel=1e-8, abs=1e-14), size
    grid = probabilities(np.log([500.0]), np.array([0.45]), GRID, "log")
    assert grid.sum() == pytest.approx(1, abs=1e-14)


def test_far_from_the_law_the_probability_is_exact_in_both_tails():
    for low, high in ((30.0, 31.0), (-31.0, -30.0), (8.0, 8.0 + 1e-9), (-1.0, 2.0)):
        reference = stats.norm.logsf(abs(low) if low > 0 else abs(high))
        got = log_mass(np.array(low), np.array(high))
        assert np.isfinite(got)
        if abs(low) > 20:
            inner, outer = sorted((abs(low), abs(high)))
            exact = reference + np.log1p(-np.exp(stats.norm.logsf(outer) - stats.norm.logsf(inner)))
            assert got == pytest.approx(exact, rel=1e-12)
    middle = np.log(1e-9) + stats.norm.logpdf(8.0)
    assert log_mass(np.array(8.0), np.array(8.0 + 1e-9)) == pytest.approx(middle, abs=1e-6)


def test_gradients_are_finite_far_from_the_law():
    import jax

    with jax.enable_x64(True):

        def total(log_mean, log_sigma):
            sizes = jax.numpy.asarray(GRID)
            values = {"sigma": jax.numpy.exp(log_sigma)}
            return NOISE.log_density(sizes, jax.numpy.exp(log_mean) + 0 * sizes, values, {}).sum()

        for log_mean in (-20.0, 6.0, 40.0):
            for log_sigma in (-6.0, 0.0, 4.0):
                value = total(log_mean, log_sigma)
                slopes = jax.grad(total, (0, 1))(log_mean, log_sigma)
                assert np.isfinite([value, *slopes]).all(), (log_mean, log_sigma)


def test_draws_lie_on_the_grid_as_often_as_their_probability_says():
    rng = np.random.default_rng(8)
    drawn = NOISE.draw(rng, np.full(20000, 700.0), {"sigma": 0.5}, {})
    expected = probabilities(np.log([700.0]), np.array([0.5]), GRID, "log")[0]
    counts = np.array([(drawn == size).sum() for size in GRID])
    assert counts.sum() == 20000
    assert stats.chisquare(counts, 20000 * expected).pvalue > 1e-3
    assert set(nearest_of(np.log([1.0, 1e6]), GRID, SCALES["log"])) == {128.0, 2048.0}


def test_the_numpyro_model_has_the_same_likelihood(fit):
    import jax
    from numpyro import handlers

    model, batch = bs.numpyro_model(fit.law, fit.model.noise, runs=fit.runs)
    values = {"c_mid": 9.2, "c1": 14.0, "sigma": 0.4}
    with jax.enable_x64(True):
        sites = {k: jax.numpy.asarray(v) for k, v in values.items()}
        seeded = handlers.seed(handlers.substitute(model, data=sites), 0)
        trace = handlers.trace(seeded).get_trace(batch)
        site = trace["batch_size"]
        got = np.asarray(site["fn"].log_prob(site["value"]))
        again = handlers.seed(handlers.substitute(model, data=sites), 1)
        drawn = handlers.trace(again).get_trace(batch, observed=False)["batch_size"]["value"]
    Z = fit.runs.column("Z").astype(float)
    mean = 2 ** (9.2 + 14.0 * (Z - Z.mean()))
    expected = NOISE.log_density(fit.runs.column("batch_size"), mean, {"sigma": 0.4}, {})
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    assert set(np.unique(np.asarray(drawn))) <= set(GRID)


def test_a_fit_recovers_what_made_the_choices(fit):
    assert fit.converged, fit.gate.headline()
    for name, value in TRUTH.items():
        row = fit.summary.loc[name]
        assert abs(row["mean"] - value) < 3.3 * row["sd"] + 3 * row["mcse"], name
    assert fit.summary.loc["c1", "sd"] < 3
    assert "known to the nearest of 5 values 128 to 2048" in str(fit)


def test_choices_at_an_end_of_the_grid_bound_the_optimum_on_one_side_only():
    """All best sizes are the largest: the optimum is there or anywhere above, and no slope."""
    top = pd.DataFrame({"Z": np.linspace(0.1, 0.3, 12), "batch_size": 2048.0})
    fit = bs.fit(
        "batch-size:grid=128+256+512+1024+2048", top, chains=2, draws=300, seed=2, progress=False
    )
    at = bs.batch_size(fit, Z=0.2)
    low, high = np.quantile(np.log2(at.optimum[:, 0]), [0.05, 0.95])
    assert low > 9.5  # above most of the grid
    assert high > 12  # and no upper end but the prior's
    assert at.records()[0]["beyond_grid"]["above"] > 0.5


def test_predicted_probabilities_are_those_of_new_studies(fit):
    found = bs.batch_size(fit, Z=[0.08, 0.2])
    np.testing.assert_allclose(found.chance.sum(axis=1), 1, atol=1e-12)
    new = fit.predict(Z=[0.08, 0.2], seed=5).new_run
    for k in range(2):
        share = np.array([(new[:, k] == size).mean() for size in GRID])
        error = np.sqrt(found.chance[k] * (1 - found.chance[k]) / len(new)) + 1 / len(new)
        assert np.all(np.abs(share - found.chance[k]) < 5 * error)
    assert found.chosen[0] < found.chosen[1]
    assert found.optimum[:, 0] == pytest.approx(2 ** (fit.draws("c0") + fit.draws("c1") * 0.08))
    assert found.records()[0]["outside"]["inside_data"] is True
    assert "Z lies beyond the data: 0.9" in str(bs.batch_size(fit, Z=0.9))
    sums: Any = found.to_frame().groupby("Z")["probability"].sum()
    assert sums.tolist() == pytest.approx([1, 1])
    assert found.dataset["probability"].sizes == {"point": 2, "size": 5}


def test_a_saved_fit_answers_alike(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert again.law.mean is fit.law.mean
    assert again.model.noise == fit.model.noise
    one, two = (bs.batch_size(f, Z=0.1) for f in (fit, again))
    np.testing.assert_array_equal(one.chance, two.chance)


def test_probability_integral_transforms_of_choices_are_uniform(fit):
    """On a grid they are drawn within a step; a plain one would pile up at a few values."""
    many = simulated(400, seed=9)
    from bayescale.noise.rounding import pit

    mean = 2 ** (TRUTH["c0"] + TRUTH["c1"] * many["Z"].to_numpy())
    u = np.log(many["batch_size"].to_numpy())
    values = pit(NOISE, np.random.default_rng(1), u, mean, {"sigma": TRUTH["sigma"]}, {})
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert bs.check.ppc(fit, seed=1)


def capability_fit() -> bs.Fit:
    from bayescale.families.capability import arrange as arrange_capability
    from tests.answers.conftest import made_up

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"model": np.repeat(list("abcd"), 3), "D": np.tile([1e10, 2e10, 4e10], 4)})
    frame["S_1"] = np.repeat([-0.2, -0.1, 0.1, 0.3], 3)
    frame["accuracy"] = 0.5 + 0.02 * rng.normal(size=12)
    runs = bs.read_runs(frame, columns={"loss": "", "N": "", "C": ""})
    law, runs = arrange_capability(runs)
    return made_up(law, runs, law.default_noise, draws=200)


def test_the_score_of_a_backbone_comes_with_its_uncertainty(fit):
    capability = capability_fit()
    found = bs.batch_size(fit, capability=capability, D="20B", backbones=["a", "d"])
    assert found.labels == ("a", "d")
    accuracy = bs.predict_backbones(capability, D="20B").accuracy[:, [0, 3]]
    known = accuracy - capability.draws("P0")[:, None]
    assert set(np.round(found.Z[:, 1], 12)) <= set(np.round(known[:, 1], 12))
    assert found.Z.std(axis=0).min() > 0
    alone = bs.batch_size(fit, Z=float(np.median(found.Z[:, 1])))
    spread = [np.log(x).std() for x in (found.optimum[:, 1], alone.optimum[:, 0])]
    assert spread[0] > spread[1]


def test_of_a_table_of_trials_the_best_of_each_choice_is_kept():
    rows = [
        {"model": m, "D": 1e10, "Z": z, "batch_size": b, "loss": 2 + abs(np.log2(b) - best)}
        for m, z, best in (("a", 0.1, 7), ("b", 0.2, 9), ("c", 0.3, 10))
        for b in GRID
    ]
    runs = bs.read_runs(pd.DataFrame(rows), columns={"N": "", "C": ""})
    law, kept = arrange(runs, by=("model", "D"))
    assert kept.column("batch_size").tolist() == [128, 512, 1024]
    assert kept.row_numbers.tolist() == [1, 8, 14]
    assert law.default_noise.grid == GRID
    assert "15 trials are 3 choices" in kept.describe()


BAD = {
    "one size": ({"Z": [0.1, 0.2], "batch_size": [128, 128]}, {}, "has one batch size, 128"),
    "negative": ({"Z": [0.1, 0.2], "batch_size": [128, -256]}, {}, "positive number in row 2"),
    "no score": ({"Z": [0.1, None], "batch_size": [128, 256]}, {}, "needs a number in row 2"),
    "text": ({"Z": [0.1, "x"], "batch_size": [128, 256]}, {}, "row 2: Z: .*'x'"),
    "flat": ({"Z": [0.1, 0.1], "batch_size": [128, 256]}, {}, "'Z' is the same in all 2 rows"),
    "missing": ({"S": [0.1, 0.2], "batch_size": [128, 256]}, {}, "'Z'"),
    "off": (
        {"Z": [0.1, 0.2], "batch_size": [128, 300]},
        {"grid": (128, 256)},
        "batch size 300 in row 2 of DataFrame isn't among those stated as tried",
    ),
    "grid": ({"Z": [0.1, 0.2], "batch_size": [128, 256]}, {"grid": ("a", "b")}, "grid is"),
    "by": ({"Z": [0.1, 0.2], "batch_size": [128, 256]}, {"by": "run"}, "run"),
    "hole": (
        {"Z": [0.1, 0.1, 0.2], "batch_size": [128, 256, 128], "loss": [2.0, np.nan, 2.0]},
        {},
        "loss.* row 2",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=BAD)
def test_bad_tables_are_named_in_one_line(case):
    columns, options, message = BAD[case]
    with pytest.raises(bs.DataError, match=message) as caught:
        arrange(bs.read_runs(pd.DataFrame(columns), columns={"N": "", "C": ""}), **options)
    assert "\n" not in str(caught.value)


def test_a_grid_must_rise_and_its_noise_be_normal():
    with pytest.raises(bs.LawError, match="expected two or more rising numbers"):
        bs.Noise(tail="normal", grid=(256, 128))
    with pytest.raises(bs.LawError, match="expected two or more rising numbers"):
        bs.Noise(tail="normal", grid=(128,))
    with pytest.raises(bs.LawError, match="noise on a grid is normal"):
        bs.Noise(grid=GRID)
    with pytest.raises(bs.LawError, match="noise on log can't have the grid"):
        bs.Noise(tail="normal", grid=(0.0, 128.0))
    with pytest.raises(bs.LawError, match="spread is 0"):
        batch_size_law(GRID, 0)


def test_questions_that_make_no_sense_are_refused(fit):
    with pytest.raises(bs.FitError, match="one of both"):
        bs.batch_size(fit)
    with pytest.raises(bs.FitError, match="one of both"):
        bs.batch_size(fit, Z=0.1, capability=capability_fit())
    with pytest.raises(bs.FitError, match="go with capability="):
        bs.batch_size(fit, Z=0.1, D="20B")
    with pytest.raises(bs.FitError, match="no backbone 'x'"):
        bs.batch_size(fit, capability=capability_fit(), D="20B", backbones=["x"])
    with pytest.raises(bs.FitError, match="law 'capability' doesn't tell a best batch size"):
        bs.batch_size(capability_fit(), Z=0.1)
