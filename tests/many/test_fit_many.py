"""Many fits: the same posteriors as single ones, whoever does them and in whatever order."""

import re

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import priors
from bayescale.errors import FitError, LawError
from bayescale.many.job import stream_fits
from tests.many.sweeps import draws, sweep


def test_all_are_fitted_and_pass_their_gate(fits, tables):
    assert list(fits) == [str(k) for k in range(len(tables))]
    assert all(fit.converged for fit in fits.values())
    assert fits.failures == ()
    assert fits[3].runs.table["loss"].tolist() == tables[3]["loss"].tolist()


def test_a_fit_of_many_is_the_posterior_of_a_single_fit(fits, tables):
    """Quantiles agree within five Monte-Carlo errors of a quantile, about 2.5 MCSE of a mean."""
    for k in (0, 5):
        one, many = bs.fit("chinchilla", tables[k], seed=9).summary, fits[k].summary
        error = np.hypot(one["mcse"], many["mcse"])
        for column in ("mean", "median"):
            assert (abs(one[column] - many[column]) < 5 * error).all()
        for column in ("q05", "q95"):
            assert (abs(one[column] - many[column]) < 12 * error).all()


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_closed_form_posterior(lanes):
    """A straight line with known normal errors, of several sizes in one batch."""
    law = bs.Law(
        "line",
        (bs.Input("x", positive=False),),
        (bs.Param("c", priors.Normal(2.5, 0.3)), bs.Param("s", priors.Normal(0.0, 0.2))),
        mean=lambda c, s, x: c + s * x,
    )
    rng, tables, exact = np.random.default_rng(31), [], []
    for rows in (25, 40, 90):
        x, sd = rng.uniform(-1, 1, rows), rng.uniform(0.05, 0.4, rows)
        y = 3.0 + 0.6 * x + sd * rng.standard_normal(rows)
        tables.append(pd.DataFrame({"x": x, "loss": y, "sd": sd}))
        design = np.stack([np.ones(rows), x]).T / sd[:, None]
        precision = design.T @ design + np.diag([1 / 0.3**2, 1 / 0.2**2])
        mean = np.linalg.solve(precision, design.T @ (y / sd) + [2.5 / 0.3**2, 0.0])
        exact.append((mean, np.sqrt(np.diag(np.linalg.inv(precision)))))
    noise = bs.normal(sigma=None, known_sd="sd")
    fits = bs.fit_many(law, tables, noise=noise, draws=1000, lanes=lanes, progress=False)
    for fit, (mean, sd) in zip(fits.values(), exact, strict=True):
        row = fit.summary.loc[["c", "s"]]
        assert (abs(row["mean"] - mean) < 5 * row["mcse"]).all()
        assert (abs(row["sd"] / sd - 1) < 5 / np.sqrt(2 * row["ess_bulk"])).all()


def test_draws_do_not_depend_on_workers_order_or_neighbours(fits, tables):
    turned = dict(reversed(list(enumerate(tables))))
    for again in (
        bs.fit_many("chinchilla", tables, workers=2, seed=3, progress=False),
        bs.fit_many("chinchilla", turned, workers=2, seed=3, progress=False),
        bs.fit_many("chinchilla", {5: tables[5]}, seed=3, progress=False),
    ):
        for key, fit in again.items():
            np.testing.assert_array_equal(draws(fit), draws(fits[key]))
            pd.testing.assert_frame_equal(fit.summary, fits[key].summary)


def test_another_seed_gives_other_draws(fits, tables):
    other = bs.fit_many("chinchilla", tables[:1], seed=4, progress=False)
    assert not np.array_equal(draws(other[0])[:100], draws(fits[0])[:100])


def test_lanes_side_by_side_do_not_see_each_other(tables):
    """Three lanes: another composition of batches changes no draw."""
    whole = bs.fit_many("chinchilla", tables[:6], lanes=3, workers=1, progress=False)
    some = {k: tables[k] for k in (5, 0, 3, 2)}
    for key, fit in bs.fit_many("chinchilla", some, lanes=3, progress=False).items():
        np.testing.assert_array_equal(draws(fit), draws(whole[key]))


def test_sizes_may_differ(tables):
    mixed = [tables[0], sweep(1, 7), sweep(2, 200)]
    fits = bs.fit_many("chinchilla", mixed, workers=2, progress=False)
    assert [len(fit.runs) for fit in fits.values()] == [60, 7, 200]


def test_a_fit_with_too_few_effective_draws_draws_again(tables):
    few = bs.fit_many("chinchilla", tables[:2], draws=60, min_ess=400, progress=False)
    for fit in few.values():
        assert min(fit.gate.min_ess_bulk, fit.gate.min_ess_tail) >= 400
        assert 60 < fit.stats["lp"].shape[1] <= 8 * 60
        assert fit.record["settings"]["draws"] == fit.stats["lp"].shape[1]
    none = bs.fit_many("chinchilla", tables[:1], draws=60, min_ess=10**9, progress=False)
    assert none[0].stats["lp"].shape == (4, 60)  # out of reach: no draw is wasted on it


def test_failures_are_told_and_stop_nothing(tables):
    sets = {
        "good": tables[0],
        "short": tables[1].iloc[:3],
        "no loss": tables[2].drop(columns="loss"),
        "missing": "nowhere.csv",
        "also good": tables[3],
    }
    fits = bs.fit_many("chinchilla", sets, progress=False)
    assert list(fits) == ["good", "also good"]
    told = {f.key: f.error for f in fits.failures}
    assert set(told) == {"short", "no loss", "missing"}
    assert "3 runs" in told["short"]
    assert "loss" in told["no loss"]
    assert "nowhere.csv" in told["missing"]
    with pytest.raises(FitError, match="'short' could not be fitted: .*3 runs"):
        fits["short"]
    with pytest.raises(FitError, match="no data set 'goof'.*Did you mean 'good'"):
        fits["goof"]
    assert fits.table["fitted"].tolist() == [True, False, False, False, True]
    assert "nowhere.csv" in fits.table.loc["missing", "error"]


def test_an_unusable_density_is_a_failure_of_its_own_data_set():
    """A law that is NaN on some data: neighbours in the same batch are fitted."""
    law = bs.Law(
        "sometimes",
        (bs.Input("x", positive=False),),
        (bs.Param("c", priors.Normal(0.0, 1.0)),),
        mean=lambda c, x: c + (x - 1) / (x - 1),
    )
    rng = np.random.default_rng(0)
    fine = pd.DataFrame({"x": rng.uniform(2, 3, 20), "loss": 1 + rng.normal(0, 0.1, 20)})
    broken = fine.assign(x=1.0)
    for lanes in (1, 2):
        fits = bs.fit_many(
            law, [broken, fine], noise=bs.normal(), lanes=lanes, workers=1, progress=False
        )
        assert list(fits) == ["1"]
        assert "not finite at any start" in fits.failures[0].error


def test_a_generator_is_read_as_it_is_needed():
    read = []

    def tables():
        for seed in range(1000):
            read.append(seed)
            yield sweep(seed)

    stream = stream_fits("chinchilla", tables(), workers=1, progress=False)
    first = next(stream)
    assert first[0] == "0"
    assert len(read) < 50
    stream.close()
    count = len(read)
    assert count < 60


def test_a_generator_s_own_error_reaches_the_caller(tables):
    def broken():
        yield tables[0]
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        bs.fit_many("chinchilla", broken(), progress=False)


def test_partially_pooled_fits():
    tables = []
    for seed in range(2):
        table = sweep(seed, 160).assign(corpus=list("abcdefgh") * 20)
        shift = dict(zip("abcdefgh", np.random.default_rng(seed).normal(0, 0.05, 8), strict=True))
        tables.append(table.assign(loss=table["loss"] * np.exp(table["corpus"].map(shift))))
    pooling = {"E": bs.partial("corpus")}
    many = bs.fit_many("chinchilla", tables, pooling=pooling, progress=False)
    one = bs.fit("chinchilla", tables[0], pooling=pooling, seed=1).summary
    error = np.hypot(one["mcse"], many[0].summary["mcse"])
    assert (abs(one["mean"] - many[0].summary["mean"]) < 5 * error).all()


def test_bad_arguments(tables):
    for wrong, match in (
        ({"workers": 0}, "workers is 0"),
        ({"lanes": 0}, "lanes is 0"),
        ({"min_ess": -1}, "min_ess is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"draws": 2}, "draws is 2"),
        ({"device": "tpu"}, "no JAX device 'tpu'"),
    ):
        with pytest.raises(FitError, match=match):
            bs.fit_many("chinchilla", tables[:1], progress=False, **wrong)
    with pytest.raises(LawError, match="chinchila"):
        bs.fit_many("chinchila", tables[:1], progress=False)
    with pytest.raises(FitError, match="single data set"):
        bs.fit_many("chinchilla", tables[0], progress=False)
    with pytest.raises(FitError, match="two data sets have the key '1'"):
        bs.fit_many("chinchilla", {1: tables[0], "1": tables[1]}, progress=False)


def test_no_data_sets_give_no_fits():
    assert len(bs.fit_many("chinchilla", [], progress=False)) == 0
    assert bs.fit_many("chinchilla", [], progress=False).table.empty


def test_progress_tells_how_many_and_what_failed(tables, capfd):
    bs.fit_many("chinchilla", [tables[0].iloc[:2], *tables * 3], progress=True, draws=100)
    shown = capfd.readouterr().err
    counts = {int(n) for n in re.findall(r"(\d+)/25", shown)}
    assert len(counts) > 2
    assert "failed=1" in shown
