"""Predictive checks: quiet on the right law, and the right one fires on a wrong one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale.check import ppc, prior_ppc
from bayescale.check.predictive.calibration import loo_pit
from bayescale.check.predictive.quantity import LEVEL
from bayescale.data.simulate import simulate
from bayescale.errors import DataError, FitError
from tests.answers.conftest import made_up
from tests.check.ppc_sweeps import LIGHT, SWEEPS, C, N, U, checked_sweeps, sweep


@pytest.fixture(scope="module")
def checked(compile_cache):
    return checked_sweeps()


@pytest.fixture(scope="module")
def fit(checked):
    return checked["right-0"][0]


def test_no_check_is_flagged_more_often_than_its_level(checked):
    flags = pd.DataFrame(
        {
            key: {(c.name, q.name): q.flagged for c, q in result.quantities}
            for key, (_, result) in checked.items()
            if key.startswith("right")
        }
    )
    assert flags.shape == (len(flags), SWEEPS)
    assert len(flags) >= 16
    # all quantities of a right law together: each bound holds with 1 - 0.001/quantities
    most = stats.binom.ppf(1 - 0.001 / len(flags), SWEEPS, LEVEL)
    assert (flags.sum(axis=1) <= most).all()
    # conservative p-values: the share over all is below the level
    assert flags.to_numpy().mean() <= LEVEL


def test_p_values_of_a_right_law_are_spread_over_both_halves(checked):
    """Not stuck at one side: each quantity's mean lies where 20 uniform or tighter ones may."""
    means: dict[tuple[str, str], list[float]] = {}
    for key, (_, result) in checked.items():
        if key.startswith("right"):
            for c, q in result.quantities:
                if q.sided == "both":
                    means.setdefault((c.name, q.name), []).append(q.p_value)
    bound = 4 / np.sqrt(12 * SWEEPS)
    for name, values in means.items():
        assert abs(np.mean(values) - 0.5) < bound, name


@pytest.mark.parametrize(
    ("kind", "check", "quantity", "verdict"),
    [
        ("drift", "trend_C", "curvature", "TOO HIGH"),
        ("tilt", "isoflop_minimum", "mean shift", "TOO HIGH"),
        ("outlier", "tail", "largest", "TOO HIGH"),
        ("groups", "group:corpus", "spread of group means", "TOO HIGH"),
        ("spread", "spread", "high over low C", "TOO LOW"),
        ("wave", "trend_C", "neighbours", "TOO HIGH"),
    ],
)
def test_the_right_check_fires(checked, kind, check, quantity, verdict):
    _, result = checked[kind]
    flagged = {(c.name, q.name): q for c, q in result.flagged}
    assert flagged[check, quantity].verdict == verdict
    assert flagged[check, quantity].advice


def test_what_is_wrong_is_named(checked):
    (_, outlier), (_, groups), (_, drift) = (checked[k] for k in ("outlier", "groups", "drift"))
    largest = outlier["tail"].quantities[0]
    assert largest.detail.startswith("row 18 (+")
    assert "'books' +" in groups["group:corpus"].quantities[0].detail
    # the drift put in: twice 0.006 per squared e-fold, in percent per squared decade
    bend = drift["trend_C"].quantities[1]
    assert bend.observed == pytest.approx(100 * 2 * 0.006 * np.log(10) ** 2, rel=0.5)
    assert "extrapolations in C" in bend.advice


def test_a_wrong_allocation_exponent_shows_in_the_minima(fit):
    """Runs at the fit's own inputs whose minima move down as compute grows."""
    beside = np.log10(N / np.sqrt(C / 120))
    table = sweep(50)
    runs = bs.read_runs(table.assign(loss=table["loss"] * np.exp(0.012 * U * beside)))
    result = ppc(replace(fit, data=runs), checks="isoflop_minimum")
    shift = result["isoflop_minimum"].quantities[1]
    assert shift.name == "shift of exponent"
    assert shift.verdict == "TOO LOW"
    assert "more slowly with C" in shift.advice


def test_leave_one_out_pit_is_that_of_exact_refits():
    """Normal data with known spread: the posterior without one run is known in closed form."""
    rng = np.random.default_rng(1)
    y, draws = rng.normal(size=8), 20_000
    mu = y.mean() + rng.normal(size=(draws, 1)) / np.sqrt(8)
    pit, k = loo_pit(stats.norm.cdf(y - mu), stats.norm.logpdf(y - mu))
    others = (y.sum() - y) / 7
    exact = stats.norm.cdf((y - others) / np.sqrt(1 + 1 / 7))
    np.testing.assert_allclose(pit, exact, atol=0.01)
    assert (k < 0.7).all()


def test_same_seed_same_checks_and_another_seed_differs(fit):
    one, two, other = ppc(fit), ppc(fit), ppc(fit, seed=1)
    assert one.to_dict() == two.to_dict()
    assert one.records() != other.records()
    # replicates differ, the verdict's numbers only by Monte-Carlo error
    for a, b in zip(one.records(), other.records(), strict=True):
        if a["mcse"]:
            assert abs(a["p_value"] - b["p_value"]) < 5 * np.hypot(a["mcse"], b["mcse"])


def test_records_frame_and_table(checked):
    import json

    _, result = checked["outlier"]
    record = json.loads(json.dumps(result.to_dict()))
    assert record["kind"] == "posterior"
    assert record["flagged"] == len(result.flagged) >= 1
    assert {s["check"] for s in record["skipped"]} == {"trend_step"}
    keys = {"check", "observed", "q05", "median", "q95", "p_value", "mcse", "flagged", "advice"}
    assert all(keys <= set(row) for row in record["checks"])
    assert len(result.to_frame()) == len(record["checks"])
    text = str(result)
    for shown in ("row 18", "TOO HIGH", "skipped trend_step", "conservative"):
        assert shown in text


def test_checks_are_chosen_by_name_kind_and_column(fit):
    names = [c.name for c in ppc(fit, checks=["trend", "tail"]).checks]
    assert names == ["trend_N", "trend_D", "trend_C", "tail"]
    assert [c.name for c in ppc(fit, checks="group:corpus").checks] == ["group:corpus"]
    numbered = ppc(fit, checks="group:N")
    assert numbered.skipped[0].reason.startswith("'N' has 60 groups")


def test_budgets_can_be_named(fit):
    every = ppc(fit, checks="isoflop_curvature")["isoflop_curvature"]
    np.testing.assert_allclose(every.picture.data["x"], np.unique(C), rtol=0.01)
    some = ppc(fit, checks="isoflop_curvature", budgets=np.unique(C)[[1, 3, 4]])
    assert some["isoflop_curvature"].note == "3 slices"
    with pytest.raises(DataError):
        ppc(fit, budgets="-3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checks": "trend_c"}, "unknown check 'trend_c'.* Did you mean 'trend_C'"),
        ({"checks": []}, "checks names nothing"),
        ({"draws": 7}, "draws is 7; expected a whole number from 100"),
        ({"draws": 250.0}, "draws is 250.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_refusals(fit, options, message):
    with pytest.raises(FitError, match=message):
        ppc(fit, **options)


def test_draws_that_are_not_finite_are_refused(fit):
    alpha = fit.variables["alpha"]
    broken = alpha.values.copy()
    broken[1, 7] = np.nan
    variables = dict(fit.variables) | {"alpha": replace(alpha, values=broken)}
    number = broken.shape[1] + 7
    with pytest.raises(FitError, match=f"draw {number} of 'alpha' is not a finite number"):
        ppc(replace(fit, variables=variables))


def test_too_few_runs_and_a_skipped_check(fit):
    few = fit.runs.select(np.arange(60) < 7, "a few")
    with pytest.raises(FitError, match="7 runs; predictive checks need at least 8"):
        ppc(replace(fit, data=few))
    with pytest.raises(FitError, match="the check 'trend_step' was skipped: no column names"):
        ppc(fit)["trend_step"]
    one_size = fit.runs.select(np.arange(60) % 6 == 0, "few sizes a budget")
    reasons = {s.name: s.reason for s in ppc(replace(fit, data=one_size)).skipped}
    assert "at least 2 are needed" in reasons["isoflop_curvature"]
    assert reasons["spread"] == "fewer than 12 runs"


def known(law: str, inputs: dict, noise: bs.Noise, seed: int) -> tuple[bs.Fit, pd.DataFrame]:
    """Runs of a law, and a fit whose draws all lie at their truth: no sampling."""
    from bayescale.inference.model import Model

    first = bs.read_runs(pd.DataFrame({**inputs, "loss": 3.0}))
    params = made_up(law, first, noise, spread=1e-9, draws=250)
    truth = {p.name: params.draws(p.name).mean() for p in Model(bs.get_law(law), noise).params}
    table = simulate(law, truth, inputs, noise=noise, seed=seed)
    # references come with the inputs, so the made-up parameters are the same
    return made_up(law, bs.read_runs(table), noise, spread=1e-9, draws=250), table


SIZES = np.repeat(np.geomspace(1e8, 3e9, 12), 5)
DESIGNS = {
    "slices": (
        {"N": N, "D": C / (6 * N), "corpus": np.tile(["web", "code", "books", "web"], 15)},
        bs.student_t(),
        ["trend", "tail", "isoflop", "group", "spread"],
    ),
    "checkpoints": (
        {
            "N": SIZES,
            "D": SIZES * np.tile(np.geomspace(2, 200, 5), 12),
            "run": np.repeat([f"run-{k}" for k in range(12)], 5),
        },
        bs.log_normal(runs="run"),
        ["trend", "trend_step"],
    ),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_p_values_are_uniform_where_the_parameters_are_known(design):
    """Draws at the truth make a p-value an exact one: uniform for any test quantity.

    With checkpoints this holds only since replicates have offsets of new runs.
    """
    inputs, noise, checks = DESIGNS[design]
    seeds, found = 40, {}
    for seed in range(seeds):
        fit, _ = known("chinchilla", inputs, noise, seed)
        for check, q in ppc(fit, checks=checks, draws=200).quantities:
            found.setdefault((check.name, q.name), []).append((q.p_value, q.flagged))
    assert len(found) >= 12
    for name, values in found.items():
        p, flagged = np.array(values).T
        assert flagged.sum() <= stats.binom.ppf(1 - 0.001 / len(found), seeds, LEVEL), name
        if name != ("tail", "share beyond 2"):  # a count: its p-values are steps
            assert stats.kstest(p, "uniform").pvalue > 0.001 / len(found), name


def test_rows_of_one_run_are_found_out():
    """Checkpoints that share an offset, under noise that is independent from row to row."""
    inputs, noise, _ = DESIGNS["checkpoints"]
    fit, table = known("chinchilla", inputs, noise, seed=5)
    plain = made_up("chinchilla", bs.read_runs(table), bs.log_normal(), spread=1e-9, draws=250)
    flagged = {(c.name, q.name) for c, q in ppc(plain).flagged}
    assert ("trend_N", "neighbours") in flagged
    assert ("group:run", "spread of group means") in flagged
    # where the noise has an offset for each run, its groups are not looked at
    assert not any(c.name == "group:run" for c in ppc(fit).checks)
    assert ppc(fit)["trend_step"].note == "within runs by 'run', along D"


@pytest.mark.parametrize(
    "noise",
    [bs.student_t(), bs.normal(), bs.log_normal(varies_with="C")],
    ids=["student_t", "normal", "varies"],
)
def test_laws_of_one_input_are_checked_too(noise):
    inputs = {"C": np.geomspace(1e18, 1e22, 40)}
    result = ppc(known("compute-frontier", inputs, noise, seed=3)[0])
    assert [c.name for c in result.checks] == ["trend_C", "tail", "calibration", "spread"]
    reasons = {s.name: s.reason for s in result.skipped}
    assert reasons["isoflop_curvature"] == "the runs have no N"
    unit = result["trend_C"].quantities[0].unit
    assert unit == ("nats/token per decade" if noise.on == "response" else "% per decade")


def test_prior_predictive(fit):
    result = prior_ppc(fit)
    assert result.kind == "prior"
    assert not result.flagged  # the default prior allows an ordinary sweep
    quantities = {(c.name, q.name): q for c, q in result.quantities}
    level = quantities["level", "geometric mean loss"]
    assert level.observed == pytest.approx(np.exp(np.log(fit.runs.column("loss")).mean()))
    assert level.q05 < level.observed < level.q95
    exponent = quantities["isoflop_minimum", "exponent"]
    assert exponent.observed == pytest.approx(0.366 / 0.714, abs=0.1)
    assert prior_ppc("chinchilla", fit.runs, noise=bs.log_normal()).to_dict() == result.to_dict()


def test_a_prior_that_does_not_allow_the_runs_is_flagged(fit):
    tight = {"E": bs.priors.LogNormal(0.2, 0.1), "sigma": bs.priors.LogNormal(0.3, 0.1)}
    result = prior_ppc("chinchilla", fit.runs, noise=bs.log_normal(), priors=tight)
    flagged = {(c.name, q.name): q.verdict for c, q in result.flagged}
    assert flagged["scatter", "median |residual|"] == "TOO LOW"


def test_prior_refusals(fit):
    with pytest.raises(DataError, match="prior_ppc of a law needs runs"):
        prior_ppc("chinchilla")
    with pytest.raises(FitError, match="takes the fit's own runs and model"):
        prior_ppc(fit, noise=bs.student_t())
    with pytest.raises(FitError, match="unknown check 'tail'"):
        prior_ppc(fit, checks="tail")
    with pytest.raises(DataError, match="needs loss"):
        prior_ppc("chinchilla", pd.DataFrame({"N": N, "D": C / N}))


def test_porian_has_a_wave_in_compute(data_dir, monkeypatch):
    """Residuals of neighbouring budgets agree there, which neither slope nor bend shows."""
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    fit = bs.fit_many("chinchilla", ["porian"], noise=bs.log_normal(), **LIGHT)[0]
    flagged = {(c.name, q.name): q.verdict for c, q in ppc(fit).flagged}
    assert flagged["trend_C", "neighbours"] == "TOO HIGH"
    assert ("trend_C", "curvature") not in flagged
