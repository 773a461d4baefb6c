"""Simulation-based calibration through `check.sbc`: a right law passes, wrong ones don't.

Seeds were set before the first run, and levels are stated: a right law fails 1 time in 100.
"""

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.check.calibration import run as sbc_run
from bayescale.check.calibration.design import make_design
from bayescale.check.calibration.result import Calibration
from bayescale.check.calibration.simulator import DataSets, Simulator
from bayescale.data.simulate import simulated_sweep
from bayescale.errors import DataError, FitError, LawError
from bayescale.families import FAMILIES
from bayescale.inference.model import make_model
from bayescale.many.result import Failure
from bayescale.pooling import Pooling
from bayescale.priors import Gamma, LogNormal
from tests.answers.conftest import made_up

QUIET: dict[str, Any] = {"progress": False}
FEW_RUNS = pd.DataFrame({"N": np.geomspace(1e8, 1e10, 6), "loss": 3.0})


def simulator(law="chinchilla", noise=None, pooling=None, priors=None, seed=0, design=None):
    model = make_model(bs.get_law(law), noise or bs.Noise(), Pooling.of(pooling), priors)
    return Simulator(model, model, make_design(model, design)[0], seed)


@pytest.fixture(scope="module")
def right() -> Calibration:
    return bs.check.sbc("chinchilla", fits=100, seed=2024, **QUIET)


def test_a_right_law_passes_with_everything_ranked(right):
    """Every site, parameter and derived quantity, and the log likelihood."""
    sites = {"E", "size_term", "data_term", "alpha", "beta", "sigma", "nu"}
    assert set(right.ranks) == sites | {"A", "B", "a", "b", "gamma", "log_likelihood"}
    assert all(len(ranks) == 100 for ranks in right.ranks.values())
    assert right.passes, str(right)
    assert right.failing == ()
    assert not right.errors


def test_coverage_is_within_four_standard_errors(right):
    for record in right.records:
        for share, inside in record["coverage"].items():
            assert abs(inside - share) < 4 * right.standard_error(share)


def test_a_wrong_prior_in_the_simulator_is_caught():
    """Forty runs leave the prior of nu its say; the simulator's tails are far heavier."""
    simulate = {"nu": LogNormal(1.0, 0.1)}
    found = bs.check.sbc("chinchilla", fits=30, simulate=simulate, seed=1, **QUIET)
    assert not found.passes
    assert "nu" in found.failing
    assert "nu ~ LogNormal(1, 0.1)" in found.truth
    assert next(r["mean"] for r in found.records if r["quantity"] == "nu") < 0.5


def test_a_mis_specified_noise_is_caught():
    """Scatter of the loss itself, fitted as scatter of its logarithm."""
    noise = bs.Noise(on="response")
    found = bs.check.sbc("chinchilla", fits=25, simulate=noise, seed=2, **QUIET)
    assert not found.passes
    assert "sigma" in found.failing


def test_ranks_around_a_posterior_are_uniform():
    """Posterior SBC: the simulated runs are fitted together with those of the fit."""
    rng = np.random.default_rng(7)
    N, D = 10 ** rng.uniform(7.5, 10, 20), 10 ** rng.uniform(9, 11.5, 20)
    loss = (1.9 + 480 * N**-0.35 + 2000 * D**-0.37) * np.exp(0.01 * rng.standard_normal(20))
    fit = bs.fit_many("chinchilla", [pd.DataFrame({"N": N, "D": D, "loss": loss})], **QUIET)[0]
    found = bs.check.sbc("chinchilla", around=fit, fits=30, seed=3, **QUIET)
    assert found.passes, str(found)
    assert "data added to its 20 runs" in found.truth


def test_around_a_fit_the_model_is_its_own():
    fit = made_up("chinchilla", simulated_sweep()[0])
    with pytest.raises(FitError, match="around a fit, priors is the fit's own"):
        bs.check.sbc("chinchilla", around=fit, priors={"E": LogNormal(1, 1)})
    with pytest.raises(FitError, match="is of law 'chinchilla', not 'kaplan'"):
        bs.check.sbc("kaplan", around=fit)


def test_data_around_a_fit_are_its_own_with_simulated_ones_behind():
    sweep = simulated_sweep()[0]
    fit = made_up("chinchilla", sweep)
    own = Simulator(fit.model, fit.model, make_design(fit.model, fit.runs)[0], 0, fit)
    data, truth = own.data(5), own.simulate(5).sites
    size = len(sweep)
    np.testing.assert_array_equal(data.column("loss")[:size], sweep.column("loss"))
    np.testing.assert_array_equal(data.column("N")[size:], sweep.column("N"))
    assert (data.column("loss")[size:] != sweep.column("loss")).all()
    assert truth["E"][0] in fit.sites["E"]


def test_simulated_data_follow_the_model():
    """Residuals of log loss over sigma are the noise's own: normal, independent, mean zero."""
    made = simulator(noise=bs.log_normal(), seed=4)
    scores = []
    for k in range(40):
        sites, response = made.simulate(k).sites, made.simulate(k).response
        layout = made.layout
        at = {name: float(v[0]) for name, v in sites.items()}
        N, D = made.runs.column("N"), made.runs.column("D")
        mean = at["E"] + at["size_term"] * (N / layout.refs["N_ref"]) ** -at["alpha"]
        mean += at["data_term"] * (D / layout.refs["D_ref"]) ** -at["beta"]
        scores.append(np.log(response / mean) / at["sigma"])
    scores = np.concatenate(scores)
    assert abs(scores.mean()) < 4 / np.sqrt(len(scores))
    assert abs((scores**2).mean() - 1) < 4 * np.sqrt(2 / len(scores))


def test_a_data_set_is_the_same_whenever_it_is_asked_for():
    one, other = simulator(seed=5), simulator(seed=5)
    later = other.data(7)
    assert one.data(3).sha256 != later.sha256
    np.testing.assert_array_equal(one.data(7).column("loss"), later.column("loss"))
    assert (simulator(seed=6).data(7).column("loss") != later.column("loss")).all()
    assert len(DataSets(one, 12)) == len(list(DataSets(one, 12))) == 12


def test_data_beyond_all_numbers_are_drawn_again_with_their_truth():
    """Tails of 0.4 degrees of freedom often pass e^85; the truth goes with the data."""
    made = simulator(priors={"nu": LogNormal(0.4, 0.1)}, seed=7)
    drawn = [made.simulate(k) for k in range(30)]
    assert sum(one.redrawn for one in drawn) > 5
    assert all(np.abs(np.log(one.response)).max() < 85 for one in drawn)
    with pytest.raises(DataError, match="no finite loss in 200 draws"):
        simulator(priors={"nu": LogNormal(1e-3, 0.1)}).simulate(0)


@pytest.mark.parametrize("law", bs.LAWS)
def test_every_law_has_a_design(law):
    made = simulator(law)
    own = bs.get_law(law).design
    assert len(made.runs) == (len(next(iter(own().values()))) if own else 40)
    assert np.isfinite(made.data(0).column(bs.get_law(law).response)).all()


def test_a_law_fitted_as_log_odds_can_be_calibrated():
    law = FAMILIES["capability"].example
    assert law.default_noise.on == "logit"
    model = make_model(law, None, Pooling.of(None))
    made = np.asarray(Simulator(model, model, make_design(model)[0], 0).data(0).column("accuracy"))
    assert np.all((made > 0) & (made < 1))


def test_the_design_of_a_pooled_model_has_groups_and_runs():
    made = simulator(
        noise=bs.student_t(runs="run"),
        pooling={"E": bs.partial("corpus"), "A": bs.independent("corpus")},
    )
    table = made.data(0).table
    assert len(table) == 120
    assert set(table["corpus"]) == {"g1", "g2", "g3"}
    assert (table.groupby("run")["corpus"].nunique() == 1).all()
    assert table["run"].nunique() == 24
    assert {"E[g1]", "E_pop", "run_offset[r1]", "log_likelihood"} <= set(
        made.truths(0, made.data(0))
    )


def test_inputs_and_groups_of_a_given_design_are_kept():
    design = pd.DataFrame({"N": [1e8, 2e8, 4e8, 8e8], "loss": 3.0, "family": list("aabb")})
    made = simulator("power-law-N", pooling={"E": bs.independent("family")}, design=design)
    table = made.data(1).table
    assert list(table["family"]) == list("aabb")
    np.testing.assert_array_equal(table["N"], design["N"])
    assert (table["loss"] != 3.0).all()


def stand_in(failing=(), order=1):
    """In place of fits: draws made up around prior medians, and some failures."""

    def stream(law, datasets, **options):
        for k, runs in list(enumerate(datasets))[::order]:
            if k in failing:
                yield str(k), Failure(str(k), "no start")
            else:
                yield str(k), made_up(law, runs, seed=k, draws=100)

    return stream


def test_ranks_do_not_depend_on_the_order_in_which_fits_finish(monkeypatch):
    results = []
    for order in (1, -1):
        monkeypatch.setattr(sbc_run, "stream_fits", stand_in(order=order))
        results.append(bs.check.sbc("power-law-N", fits=30))
    for name, ranks in results[0].ranks.items():
        np.testing.assert_array_equal(ranks, results[1].ranks[name])
    assert results[0].to_dict()["quantities"] == results[1].to_dict()["quantities"]


def test_data_sets_that_could_not_be_fitted_are_counted_and_said(monkeypatch):
    monkeypatch.setattr(sbc_run, "stream_fits", stand_in(failing=(3, 9, 11)))
    found = bs.check.sbc("power-law-N", fits=30, quantities=["E"])
    assert found.ranked == 27
    assert found.errors == {3: "no start", 9: "no start", 11: "no start"}
    assert not found.passes  # a tenth of the data sets is missing, whatever the ranks
    assert "3 of 30 data sets could not be fitted" in str(found)
    assert found.to_dict()["errors"][0] == {"set": 3, "error": "no start"}
    monkeypatch.setattr(sbc_run, "stream_fits", stand_in(failing=range(30)))
    with pytest.raises(FitError, match="none of the 30 data sets could be fitted: no start"):
        bs.check.sbc("power-law-N", fits=30)


def test_a_simulator_without_a_parameter_leaves_it_unranked(monkeypatch):
    monkeypatch.setattr(sbc_run, "stream_fits", stand_in())
    found = bs.check.sbc("power-law-N", fits=20, simulate={"noise": bs.log_normal()})
    assert found.unranked == ("nu", "log_likelihood")
    assert "nu, log_likelihood" in str(found)
    assert "E" in found.ranks


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fits": 19}, FitError, "fits is 19; expected a whole number of at least 20"),
        ({"fits": 50.0}, FitError, "fits is 50.0; expected a whole number"),
        ({"ranks": 2000}, FitError, "more than the 1000 posterior draws"),
        ({"level": 0}, FitError, "level is 0; expected a probability"),
        ({"seed": -1}, FitError, "seed is -1"),
        ({"quantities": ["alhpa"]}, FitError, "'alhpa' can't be ranked; .* Did you mean 'alpha'"),
        ({"design": pd.DataFrame({"D": [1e9, 2e9]})}, DataError, "needs N"),
        ({"simulate": {"gamma": LogNormal(1, 1)}}, LawError, "no parameter 'gamma'"),
        ({"simulate": 3}, LawError, "simulate is 3; expected a mapping"),
        ({"simulate": {"nu": 3}}, LawError, "is 3; expected a prior"),
        ({"simulate": {"noise": Gamma(2, 1)}}, LawError, "expected a Noise"),
        ({"pooling": {"E": bs.partial("x")}, "design": FEW_RUNS}, DataError, "needs 'x'"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        bs.check.sbc("power-law-N", **options)


def test_a_law_of_other_inputs_needs_a_design():
    law = bs.power_law(bs.Input("width", "width"), "by-width")
    with pytest.raises(DataError, match="no default design for law 'by-width' of width"):
        bs.check.sbc(law)
    assert len(simulator(law, design=pd.DataFrame({"width": [1.0, 2.0, 4.0]})).data(0)) == 3


def test_noise_that_changes_with_loss_is_said_to_be_only_nearly_exact(monkeypatch):
    noise = bs.student_t(varies_with="loss")
    monkeypatch.setattr(
        sbc_run,
        "stream_fits",
        lambda law, sets, **o: ((str(k), made_up(law, runs, noise)) for k, runs in enumerate(sets)),
    )
    assert "only nearly uniform" in str(bs.check.sbc("power-law-N", noise=noise, fits=20))


def test_the_result_is_plain_in_json_table_and_frame(right):
    record = json.loads(json.dumps(right.to_dict(), allow_nan=False))
    assert record["passes"] is True
    assert record["quantities"][0]["coverage"].keys() == {"0.5", "0.8", "0.9", "0.95"}
    frame = right.to_frame()
    assert list(frame["quantity"]) == list(right.ranks)
    assert frame["coverage_90"].between(0, 1).all()
    text = str(right)
    assert "chinchilla, 100 simulated data sets: passes" in text
    assert "8 x 5 points" in text


def test_the_picture_shows_every_quantity(right):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8 / 2.54, 9 / 2.54), layout="constrained")
    panels = bs.plot.sbc(right, figure=figure)
    assert [p.get_title(loc="left") for p in panels] == list(right.ranks)
    (legend,) = figure.legends
    assert legend.get_texts()[0].get_text() == "99.5% band, all 13 quantities at once"
    share, low, high = right.band()
    curve = panels[0].lines[1].get_ydata()
    np.testing.assert_allclose(curve[1:-1], right.ecdf("E") - share)
    assert (curve[1:-1] <= high - share).all()
    assert (curve[1:-1] >= low - share).all()
    with pytest.raises(FitError, match="'alfa' was not ranked; .* Did you mean 'alpha'"):
        bs.plot.sbc(right, quantities=["alfa"])


def test_the_command(monkeypatch, capsys, tmp_path):
    from bayescale.cli.app import run

    monkeypatch.setattr(sbc_run, "stream_fits", stand_in())
    picture = tmp_path / "ranks.png"
    command = ["sbc", "power-law-N", "--fits", "20", "--prior", "E=LogNormal(1, 0.5)"]
    monkeypatch.setattr(sys, "argv", ["bayescale", *command, "--plot", str(picture), "--json"])
    assert run() == 0  # whatever the verdict
    record = json.loads(capsys.readouterr().out)
    assert record["fits"] == 20
    assert record["passes"] is False  # made-up draws are no posterior
    assert picture.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(sys, "argv", ["bayescale", *command, "--plot", "ranks.jpg"])
    assert run() == 1
    assert "a picture's name ends in" in capsys.readouterr().err
