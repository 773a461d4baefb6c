"""The data-constrained law: limits, published values, recovery, and runs outside it."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.data.overrepetition import harmed
from bayescale.data.public import load_dataset
from bayescale.data.simulate import simulate
from bayescale.errors import DataError
from bayescale.laws import LAWS, effective
from bayescale.laws.repetition import repetition

LAW = repetition()
# Muennighoff et al. 2023, C4; LAWS of the literature in nats and tokens
PUBLISHED = {
    "E": np.exp(0.6254804), "A": np.exp(6.255414), "B": np.exp(7.3049974),
    "alpha": 0.3526596, "beta": 0.3526596, "R_D_star": 15.387756, "R_N_star": 5.309743,
}  # fmt: skip
CHINCHILLA = {k: PUBLISHED[k] for k in ("E", "A", "B", "alpha", "beta")}
SIZES, TOKENS = np.geomspace(1e7, 1e11, 9), np.geomspace(1e9, 1e13, 9)


def derived(name, **values):
    function = next(d.function for d in LAW.derived if d.name == name)
    return function(**values)


def test_published_coefficients_feed_a_twentieth_of_a_parameter_by_a_token():
    values = {k: PUBLISHED[k] for k in ("A", "B", "alpha", "beta")}
    for unique in (1e8, 1e11):  # alpha = beta: the ratio is the same at every scale
        ratio = derived("N_opt_ratio", **values, U_ref=unique)
        assert ratio == pytest.approx(0.05099, abs=5e-6)


def test_fed_size_is_the_optimum_of_one_epoch():
    values = CHINCHILLA | {"alpha": 0.4, "beta": 0.3}
    unique = 3e10
    inputs = {k: values[k] for k in ("A", "B", "alpha", "beta")}
    size = np.exp(effective.log_fed_size(**inputs, U=unique))
    along = size * np.geomspace(0.98, 1.02, 41)  # at the same compute
    loss = LAWS["chinchilla"].mean(**values, N=along, D=size * unique / along)
    assert np.argmin(loss) == 20


def test_one_epoch_is_chinchilla_when_all_parameters_count():
    N, D = np.meshgrid(SIZES, TOKENS)
    law = repetition(excess_params=False)
    mean = law.mean(**CHINCHILLA, R_D_star=3.0, N=N, D=D, U=D)
    np.testing.assert_array_equal(mean, LAWS["chinchilla"].mean(**CHINCHILLA, N=N, D=D))


def test_one_epoch_is_chinchilla_up_to_the_fed_size_and_worse_beyond():
    N, D = np.meshgrid(SIZES, TOKENS)
    mean = LAW.mean(**PUBLISHED, N=N, D=D, U=D)
    plain = LAWS["chinchilla"].mean(**CHINCHILLA, N=N, D=D)
    fed = N <= 0.05099 * D
    np.testing.assert_allclose(mean[fed], plain[fed], rtol=1e-13)
    assert np.all(mean[N > 0.0511 * D] > plain[N > 0.0511 * D])


def test_effective_tokens_have_their_limits():
    U, R = 1e9, 15.0
    epochs = np.array([1.0, 1.001, 2.0, 4.0, 1e6])
    tokens = effective.effective_tokens(epochs * U, U, R) / U
    assert tokens[0] == 1.0
    assert tokens[1] == pytest.approx(1.001, rel=1e-6)  # the first repetition is as good as new
    assert tokens[2] == pytest.approx(1 + R * (1 - np.exp(-1 / R)), rel=1e-14)
    assert tokens[4] == pytest.approx(1 + R, rel=1e-14)
    # the paper: up to 4 epochs are nearly as good as fresh data
    assert 0.9 < tokens[3] / 4 < 1


def test_size_term_is_smooth_where_parameters_begin_to_be_too_many():
    U = 1e10
    fed = 0.0509867 * U
    N = fed * np.array([1 - 2e-4, 1 - 1e-4, 1 + 1e-4, 1 + 2e-4])
    loss = LAW.mean(**PUBLISHED, N=N, D=U, U=U)
    before, after = loss[1] - loss[0], loss[3] - loss[2]
    assert after == pytest.approx(before, rel=1e-3)


def test_far_too_many_parameters_are_worth_a_fixed_multiple():
    U = 1e9
    N = np.array([1e13, 1e15])
    loss = LAW.mean(**PUBLISHED, N=N, D=U, U=U)
    most = 0.0509867 * U * (1 + PUBLISHED["R_N_star"])
    expected = PUBLISHED["E"] + PUBLISHED["A"] * most ** -PUBLISHED["alpha"]
    expected += PUBLISHED["B"] * U ** -PUBLISHED["beta"]
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.fixture(scope="module")
def fitted():
    truth = PUBLISHED | {"sigma": 0.004, "nu": 10.0}
    runs = simulate(LAW, truth, effective.plain_design(), seed=4)
    return bs.fit(LAW, runs.rename(columns={"U": "unique_tokens"}), seed=2, progress=False), truth


def test_published_values_come_back_from_a_simulated_grid(fitted):
    fit, truth = fitted
    assert fit.converged, fit.gate.headline()
    for name in (*PUBLISHED, "sigma"):
        draws = fit.draws(name)
        assert abs(draws.mean() - truth[name]) < 3.5 * draws.std(), name
    worth = fit.summary.loc["R_D_star"]
    assert worth["sd"] / worth["mean"] < 0.1  # such a grid pins it to a tenth
    assert fit.record["gradients_per_draw"] < 15


def test_a_fit_predicts_repeated_tokens(fitted):
    fit, truth = fitted
    at = {"N": 1e9, "D": [2e10, 8e10], "U": 2e10}
    loss = np.median(fit.predict(**at).loss, axis=0)
    mean = LAW.mean(**PUBLISHED, N=1e9, D=np.array(at["D"]), U=2e10)
    np.testing.assert_allclose(loss, mean, rtol=0.005)
    once = fit.predict(N=1e9, D=2e10)  # unique tokens are all tokens unless one says otherwise
    np.testing.assert_array_equal(once.loss, fit.predict(N=1e9, D=2e10, U=2e10).loss)


def test_a_saved_fit_comes_back(fitted, tmp_path):
    fit, _ = fitted
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert again.law == LAW
    assert again.runs.columns["U"] == "unique_tokens"
    np.testing.assert_array_equal(again.draws("R_D_star"), fit.draws("R_D_star"))
    json.dumps(again.to_dict())


def table(**changes):
    design = {k: v[:40] for k, v in effective.plain_design().items()}
    runs = simulate(LAW, PUBLISHED | {"sigma": 0.004, "nu": 10.0}, design, seed=5)
    frame = runs.rename(columns={"N": "n_params", "D": "n_tokens", "U": "unique_tokens"})
    return frame.assign(**changes)


def test_unique_tokens_above_sampled_ones_are_an_error_with_a_way_out():
    frame = table()
    frame.loc[6, "unique_tokens"] = 4 * frame.loc[6, "n_tokens"]
    with pytest.raises(DataError) as error:
        bs.fit(LAW, frame, progress=False)
    message = str(error.value)
    assert "row 7" in message
    assert "0.25 epochs" in message
    assert "smaller of both" in message
    assert "\n" not in message


def test_a_table_without_unique_tokens_says_how_to_name_them():
    frame = table().rename(columns={"unique_tokens": "pool"})
    with pytest.raises(DataError, match=r"needs U \(unique tokens\).*columns=\{'U': 'its name'\}"):
        bs.fit(LAW, frame, progress=False)
    assert len(bs.read_runs(frame, columns={"U": "pool"}).column("U")) == len(frame)


def test_an_empty_cell_of_unique_tokens_names_its_row():
    frame = table()
    frame.loc[3, "unique_tokens"] = np.nan
    with pytest.raises(DataError, match="'U' is nan in row 4"):
        bs.fit(LAW, frame, progress=False)


def test_runs_without_repetition_leave_its_parameter_to_the_prior():
    design = effective.plain_design()
    once = {k: v[::5] for k, v in design.items()}
    assert np.array_equal(once["D"], once["U"])
    runs = simulate(LAW, PUBLISHED | {"sigma": 0.004, "nu": 10.0}, once, seed=6)
    fit = bs.fit(repetition(excess_params=False), runs, seed=1, progress=False)
    said = [p for p in fit.gate.problems if "R_D_star" in p.message]
    assert [p.check for p in said] == ["prior"]


def test_runs_harmed_by_repetition_are_outside_the_law(monkeypatch, data_dir):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    runs = load_dataset("datablations-repetition")
    fit = bs.fit(LAW, runs, seed=1, progress=False)
    problem = next(p for p in fit.gate.problems if p.check == "outside")
    assert "OUTSIDE THE LAW" in str(fit)
    assert 'where="D < ' in problem.remedy
    left = bs.read_runs(runs, where=problem.remedy.split('"')[1])
    assert len(left) > 100
    assert not harmed(left, margin=5 * fit.summary.loc["sigma", "median"]).any()


def test_published_number_of_epochs_is_inside_the_interval_on_real_runs(monkeypatch, data_dir):
    """Epochs up to 10: R_D* of the paper, and exponents of the compiler's own quick fit."""
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    fit = bs.fit(LAW, "datablations-repetition", where="D <= 10 * U", seed=1, progress=False)
    assert fit.converged, fit.gate.headline()
    assert len(fit.runs) == 85
    summary = fit.summary
    assert summary.loc["R_D_star", "q05"] < 15.39 < summary.loc["R_D_star", "q95"]
    for name, value in {"E": 2.00, "alpha": 0.400, "beta": 0.385, "R_N_star": 6.1}.items():
        assert summary.loc[name, "q05"] < value < summary.loc[name, "q95"], name


def test_unrepeated_columns_of_other_laws_stay_out_of_the_way():
    frame = table(unique_tokens=pd.Series([np.nan] * 40))
    runs = bs.read_runs(frame)  # a chinchilla fit asks nothing of them
    assert np.isnan(runs.column("U")).all()
    assert not [f for f in runs.flags if f.kind == "over-repeated"]
