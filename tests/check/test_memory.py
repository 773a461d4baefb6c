"""Checks of fits to checkpoints: runs are left out whole, replicates remember, remarks are made."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.check.comparison.pointwise import log_likelihood
from bayescale.check.comparison.units import find_units
from bayescale.check.predictive.replicates import from_posterior, thin
from bayescale.data.simulate import simulate
from bayescale.errors import FitError
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.posterior import Variable
from bayescale.inference.rows import at_rows

TRUTH = {"E": 1.8, "A": 480.0, "B": 2000.0, "alpha": 0.35, "beta": 0.36}
SCATTER = {"sigma": 0.01, "memory": 1.0}
MEMORY = bs.log_normal(runs="run", along="D", offset=False)
SAMPLER = {"chains": 2, "draws": 200, "warmup": 150, "progress": False}


@pytest.fixture(scope="module")
def curves() -> pd.DataFrame:
    """Twelve runs of twelve checkpoints, in no order."""
    parts = []
    for k in range(12):
        size = 1e8 * 1.5**k
        tokens = size * (20 if k % 2 else 100) * np.geomspace(0.05, 1, 12)
        parts.append(pd.DataFrame({"run": f"m{k}", "N": size, "D": tokens}))
    design = pd.concat(parts).sample(frac=1, random_state=1, ignore_index=True)
    return simulate("chinchilla", TRUTH | SCATTER, dict(design.items()), noise=MEMORY, seed=5)


@pytest.fixture(scope="module")
def fit(curves) -> bs.Fit:
    return bs.fit("chinchilla", curves, noise=MEMORY, seed=1, **SAMPLER)


@pytest.fixture(scope="module")
def careless(curves) -> bs.Fit:
    return bs.fit("chinchilla", curves, noise=bs.log_normal(), seed=1, **SAMPLER)


def test_truth_is_recovered_and_the_careless_are_too_sure(fit, careless):
    for name, true in (TRUTH | SCATTER).items():
        low, high = np.quantile(fit.draws(name), [0.005, 0.995])
        assert low < true < high, name
    assert np.std(fit.draws("a")) > 1.5 * np.std(careless.draws("a"))
    assert fit.record["gradients_per_draw"] < 30


def test_runs_are_left_out_whole(fit, curves):
    units = find_units({"fit": fit}, None)
    assert units.by == "run"
    assert "share their scatter" in units.note
    with pytest.raises(FitError, match="Leave out whole runs: by='run'"):
        bs.check.loo(fit, by="row")
    thirds = bs.read_runs(curves.assign(third=curves.index % 3))
    with pytest.raises(FitError, match="leaving out by 'third' parts run 'm"):
        bs.check.loo(replace(fit, data=thirds), by="third")
    found = bs.check.loo(fit, refit="never")
    assert len(found.elpd_i) == 12
    assert np.isfinite(found.elpd_i).all()


def test_density_of_a_run_is_one_multivariate_normal(fit):
    units = find_units({"fit": fit}, "run")
    table = log_likelihood(fit, units, "fit").reshape(-1, len(units))
    batch = make_batch(fit.model, fit.runs, fit.layout)
    mean, _ = at_rows(fit.model, batch, fit.sites)
    for draw in (0, 100):
        for unit in (0, 7):
            rows = units.rows(unit)
            place, y = np.log(fit.runs.column("D")[rows]), fit.runs.column("loss")[rows]
            gaps = np.abs(place[:, None] - place)
            covariance = fit.draws("sigma")[draw] ** 2 * np.exp(-gaps / fit.draws("memory")[draw])
            expected = stats.multivariate_normal(np.log(mean[draw, rows]), covariance)
            expected = expected.logpdf(np.log(y)) - np.log(y).sum()
            assert table[draw, unit] == pytest.approx(expected, rel=1e-8)


def test_stored_likelihood_is_that_of_whole_runs(fit):
    units = find_units({"fit": fit}, "run")
    by_run = log_likelihood(fit, units, "fit").sum(axis=2)
    stored = fit.tree["log_likelihood"]["loss"].to_numpy().sum(axis=2)
    np.testing.assert_allclose(stored, by_run, rtol=1e-9)


def test_replicates_remember_and_what_is_new_in_them_does_not(fit):
    sites = thin(fit.sites, 100, len(fit.runs))
    rng = np.random.default_rng(2)
    seen = from_posterior(fit.model, fit.runs, fit.layout, sites, rng, 100.0)
    previous = make_batch(fit.model, fit.runs, fit.layout)["noise"]["previous"]
    later = np.flatnonzero(previous != np.arange(len(previous)))

    def likeness(values):
        return np.corrcoef(values[:, later].ravel(), values[:, previous[later]].ravel())[0, 1]

    phi = np.exp(-np.log(20) / 11 / np.median(fit.draws("memory")))
    assert likeness(seen.replicated / seen.scale) == pytest.approx(phi, abs=0.06)
    assert abs(likeness(seen.z_replicated)) < 5 / np.sqrt(100 * len(later))
    assert abs(likeness(seen.z)) < 0.2  # 132 pairs, seen under many draws


def test_a_new_run_has_the_stationary_scale(fit):
    predicted = fit.predict(N=3e9, D=6e10)
    within = np.log(predicted.new_run[:, 0]) - np.log(predicted.loss[:, 0])
    assert np.std(within) == pytest.approx(np.sqrt(np.mean(fit.draws("sigma") ** 2)), rel=0.2)
    table = pd.DataFrame({"run": "new", "N": 3e9, "D": [3e10, 6e10], "loss": [2.6, 2.5]})
    seen = at_runs(fit, bs.read_runs(table))
    off = np.log(seen.replicate) - np.log(seen.mean)
    phi = np.exp(-np.log(2) / np.median(fit.draws("memory")))
    assert np.corrcoef(off.T)[0, 1] == pytest.approx(phi, abs=0.15)


def test_remarks_say_what_to_try(fit, careless, curves):
    assert fit.remarks == ()
    (said,) = careless.remarks
    assert "144 rows are checkpoints of 12 runs by 'run'" in said
    assert "--runs-column run --along D" in said
    assert said in careless.warnings
    assert "too narrow" in str(careless).replace("\n", " ")
    assert careless.to_dict()["remarks"] == [said]
    unnamed = replace(careless, data=bs.read_runs(curves.drop(columns="run")))
    assert "look like checkpoints of" in unnamed.remarks[0]
    last = bs.read_runs(curves, curves=bs.Curves(run="run", last=True))
    assert replace(careless, data=last).remarks == ()


def test_offsets_without_memory_are_remarked_where_neighbours_err_together(fit, curves):
    """The fit's own draws, with offsets that are nearly nothing."""
    model = replace(fit.model, noise=bs.log_normal(runs="run"))
    shape = fit.variables["sigma"].values.shape
    own = {
        "run_sd": Variable(np.full(shape, 1e-6), (), "noise"),
        "run_offset": Variable(np.zeros((*shape, 12)), ("run",), "noise"),
    }
    runs = bs.read_runs(curves)
    found = replace(
        fit, model=model, layout=make_layout(model, runs), variables={**fit.variables, **own}
    )
    assert "beyond its offset" in found.remarks[0]
    assert "along='D'" in found.remarks[0]


def test_runs_that_leave_the_law_by_their_size_are_remarked(fit, curves):
    bent = bs.read_runs(curves.assign(loss=curves["loss"] * (curves["N"] / 1e9) ** 0.05))
    (said,) = replace(fit, data=bent).remarks
    assert "goes with its size N (correlation 1.0" in said
    assert "coupled" in said
