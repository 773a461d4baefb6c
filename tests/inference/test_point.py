"""Point estimates: right on noise-free runs, robust, equal to the literature, honest where not."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.engine import find_device, float64
from bayescale.inference.huber import Curve, Objective, huber
from bayescale.inference.model import Model
from bayescale.law import Input, Law, Param
from bayescale.priors import LogNormal, Normal, Uniform
from tests.inference.point_runs import TRUTH, grid, simulated


@pytest.fixture(scope="module")
def noisy() -> bs.PointFit:
    return bs.fit_point("chinchilla", simulated(0.005), starts=8, bootstrap=60, seed=3)


@pytest.fixture(scope="module")
def chinchilla(data_dir) -> bs.Runs:
    return bs.read_runs(data_dir / "chinchilla_epoch" / "chinchilla.csv")


@pytest.mark.parametrize("delta", [1e-3, 1e-2, math.inf])
def test_noise_free_truth_is_recovered(delta):
    fit = bs.fit_point("chinchilla", simulated(), delta=delta, starts=10)
    for name, truth in TRUTH.items():
        assert fit.params[name] == pytest.approx(truth, rel=1e-4), name
    assert fit.params["a"] == pytest.approx(0.37 / 0.71, rel=1e-5)
    assert fit.residual_sd < 1e-6
    assert fit.starts.reached >= 8
    assert not fit.warnings


@pytest.mark.parametrize("name", ["kaplan", "coupled", "power-law-N", "compute-frontier"])
def test_every_kind_of_law_recovers_its_own_truth(name):
    law = bs.get_law(name)
    known = {"E": 1.7, "N_c": 8.8e13, "D_c": 6.4e13, "alpha_N": 0.076, "alpha_D": 0.103}
    known |= {"A": 900.0, "B": 3000.0, "alpha": 0.4, "beta": 0.38, "k": 0.8}
    known |= {"C_c": 1e19, "gamma": 0.15}
    truth = {p.name: known[p.name] for p in law.params}
    n, d = grid()
    columns = {"N": n, "D": d, "C": 6 * n * d}
    loss = law.mean(**truth, **{i.name: columns[i.name] for i in law.inputs})
    fit = bs.fit_point(law, pd.DataFrame({"N": n, "D": d, "loss": loss}), starts=12)
    for parameter, value in truth.items():
        assert fit.params[parameter] == pytest.approx(value, rel=1e-4), parameter


def test_a_law_of_ones_own_without_coordinates_and_with_other_supports():
    def mean(floor, slope, bend, x):
        return floor + bend * x + slope * x**2

    law = Law(
        name="own",
        inputs=(Input("x", positive=False),),
        params=(
            Param("floor", LogNormal(1.0, 1.0)),
            Param("slope", Uniform(0.0, 2.0)),
            Param("bend", Normal(0.0, 1.0)),
        ),
        mean=mean,
        response="score",
    )
    x = np.linspace(-2, 2, 15)
    frame = pd.DataFrame({"x": x, "score": mean(1.5, 0.7, -0.3, x)})
    fit = bs.fit_point(law, frame, starts=10)
    assert [fit.params[k] for k in ("floor", "slope", "bend")] == pytest.approx(
        [1.5, 0.7, -0.3], rel=1e-4
    )


def test_huber_is_squared_inside_and_linear_outside():
    r = np.array([-3.0, -0.5, 0.0, 0.5, 3.0])
    assert huber(r, 1.0) == pytest.approx([2.5, 0.125, 0.0, 0.125, 2.5])
    assert huber(r, math.inf) == pytest.approx(r**2 / 2)


def test_gradient_is_that_of_the_loss_written_in_numpy():
    runs = bs.read_runs(simulated(0.01))
    model = Model(bs.get_law("chinchilla"))
    layout = make_layout(model, runs)
    curve = Curve.of(model, layout)
    weights = np.random.default_rng(0).uniform(0, 2, len(runs))
    device = find_device("cpu")
    with float64(device):
        objective = Objective(curve, make_batch(model, runs, layout), 5e-3, device)
        vector = curve.starts(3, np.random.default_rng(1))[2]
        value, slope = objective.weighted(weights)(vector)

    def loss(v):
        return float(np.sum(weights * huber(objective.residuals(v), 5e-3)))

    steps = 1e-6 * np.eye(len(vector))
    differences = [(loss(vector + s) - loss(vector - s)) / 2e-6 for s in steps]
    assert value == pytest.approx(loss(vector), rel=1e-12)
    assert slope == pytest.approx(differences, rel=1e-5)


def test_one_wrecked_run_moves_least_squares_and_not_huber():
    clean, wrecked = simulated(0.002), simulated(0.002)
    wrecked.loc[7, "loss"] *= 1.5

    def shift(delta):
        a, b = (bs.fit_point("chinchilla", t, delta=delta, starts=8) for t in (clean, wrecked))
        return {k: abs(b.params[k] - a.params[k]) for k in ("E", "alpha", "beta")}, b

    robust, fit = shift(1e-3)
    squared, _ = shift(math.inf)
    assert max(robust.values()) < 0.01
    assert squared["E"] > 0.2
    assert min(squared["alpha"], squared["beta"]) > 0.05
    assert int(np.argmax(np.abs(fit.residuals))) == 7
    assert fit.residual_sd > 5 * fit.residual_sd_robust


def test_weight_zero_is_as_if_the_run_were_not_there():
    frame = simulated(0.005)
    frame["trust"] = 1.0
    frame.loc[[3, 20], "trust"] = 0.0
    weighted = bs.fit_point("chinchilla", frame, weights="trust", starts=5)
    dropped = bs.fit_point("chinchilla", frame.drop(index=[3, 20]), starts=5)
    doubled = bs.fit_point("chinchilla", frame, weights=2 * frame["trust"].to_numpy(), starts=5)
    assert weighted.objective == pytest.approx(dropped.objective, rel=1e-9)
    assert doubled.objective == pytest.approx(2 * dropped.objective, rel=1e-9)
    for name in TRUTH:
        assert weighted.params[name] == pytest.approx(dropped.params[name], rel=1e-4)
    assert weighted.residual_sd == pytest.approx(dropped.residual_sd, rel=1e-6)


def test_published_optimum_of_the_240_chinchilla_points(chinchilla):
    ratio = chinchilla.column("D") / chinchilla.column("N")
    kept = chinchilla.select(ratio > np.sort(ratio)[4], "five runs of lowest D/N dropped")
    assert len(kept) == 240
    fit = bs.fit_point("chinchilla", kept)
    assert round(fit.params["A"], 1) == 477.8
    assert fit.params["B"] == pytest.approx(2143.9, rel=5e-4)
    assert round(fit.params["E"], 4) == 1.8172
    assert round(fit.params["alpha"], 4) == 0.3473
    assert round(fit.params["beta"], 4) == 0.3672
    assert fit.starts.reached > 25
    assert not fit.warnings


def test_all_245_chinchilla_points(chinchilla):
    fit = bs.fit_point("chinchilla", chinchilla, starts=10)
    assert fit.params["E"] == pytest.approx(1.89, abs=0.005)
    assert fit.params["alpha"] == pytest.approx(0.349, abs=0.0005)
    assert fit.params["beta"] == pytest.approx(0.453, abs=0.0005)
    assert np.abs(fit.residuals).max() == pytest.approx(0.26, abs=0.01)


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        ("c4_original", (1.62, 0.253, 0.262)),
        ("rpj", (1.72, 0.243, 0.273)),
        ("rw_original", (1.70, 0.223, 0.290)),
    ],
)
def test_gadre_corpora(data_dir, corpus, expected):
    fit = bs.fit_point(
        "chinchilla",
        data_dir / "gadre_overtraining" / "gadre_overtraining.csv",
        starts=10,
        columns={"N": "n_params", "loss": "loss_c4_val"},
        where=f"train_data == '{corpus}'",
    )
    E, alpha, beta = expected
    assert fit.params["E"] == pytest.approx(E, abs=0.0051)
    assert fit.params["alpha"] == pytest.approx(alpha, abs=0.00051)
    assert fit.params["beta"] == pytest.approx(beta, abs=0.00051)


def test_bootstrap_sd_is_the_textbook_standard_error_of_least_squares():
    """With normal noise, replicates scatter as sigma^2 (J'J)^-1 says."""
    frame = simulated(0.003, seed=5, sizes=8, tokens=8)
    fit = bs.fit_point("chinchilla", frame, delta=math.inf, starts=3, bootstrap=200)
    law = bs.get_law("chinchilla")
    names = list(TRUTH)
    log_scale = np.log([fit.params[k] for k in names])

    def fitted(logs):
        values = dict(zip(names, np.exp(logs), strict=True))
        return np.log(law.mean(**values, N=frame["N"].to_numpy(), D=frame["D"].to_numpy()))

    steps = 1e-5 * np.eye(5)
    jacobian = np.stack([(fitted(log_scale + s) - fitted(log_scale - s)) / 2e-5 for s in steps])
    theory = fit.residual_sd * np.sqrt(np.diag(np.linalg.inv(jacobian @ jacobian.T)))
    found = [np.log(fit.draws[k]).std(ddof=1) for k in names]
    assert found == pytest.approx(theory, rel=0.3)


def test_bootstrap_intervals_hold_the_truth():
    held, asked = 0, 0
    for seed in range(4):
        fit = bs.fit_point("chinchilla", simulated(0.005, seed), starts=2, bootstrap=60, seed=seed)
        rows = fit.to_frame()
        prediction = fit.predict(N=3e10, D=6e11).records()[0]["loss"]
        truth = bs.get_law("chinchilla").mean(**TRUTH, N=3e10, D=6e11)
        for name in ("E", "alpha", "beta"):
            held += rows.loc[name, "q05"] < TRUTH[name] < rows.loc[name, "q95"]
            asked += 1
        held += prediction["q05"] < truth < prediction["q95"]
        asked += 1
    assert asked == 16
    assert held >= 11  # 14.4 expected; the four of one set go together


def test_prediction_of_mean_and_new_run(noisy):
    answer = noisy.predict(N=["10B", 2e10], D="200B")
    truth = bs.get_law("chinchilla").mean(**TRUTH, N=np.array([1e10, 2e10]), D=2e11)
    assert answer.loss == pytest.approx(truth, rel=0.01)
    for record in answer.records():
        mean, new = record["loss"], record["new_run"]
        assert mean["q05"] < record["loss"]["value"] < mean["q95"]
        assert new["q05"] < mean["q05"] < mean["q95"] < new["q95"]
    log_sd = np.log(answer.new_run).std(axis=0)
    both = np.hypot(np.log(answer.replicates).std(axis=0), noisy.residual_sd)
    assert log_sd == pytest.approx(both, rel=0.1)
    assert answer.records()[0]["outside"] == "inside the data"
    assert "above" in answer.records()[1]["outside"]
    assert any("Beyond the data" in w for w in answer.warnings)
    assert len(answer.to_frame()) == 4


def test_two_of_n_d_c_are_enough(noisy):
    by_tokens = noisy.predict(N=1e10, D=2e11)
    by_compute = noisy.predict(N=1e10, C=6 * 1e10 * 2e11)
    assert by_compute.loss == pytest.approx(by_tokens.loss)


def test_without_a_bootstrap_there_are_no_intervals():
    fit = bs.fit_point("chinchilla", simulated(0.005), starts=3)
    assert not fit.has_intervals
    assert "q05" not in fit.to_frame()
    assert "no intervals" in str(fit)
    answer = fit.predict(N=1e10, D=1e11)
    assert "new_run" not in answer.records()[0]
    assert "no intervals" in str(answer)


def test_the_seed_fixes_everything():
    again = [
        bs.fit_point("chinchilla", simulated(0.005), starts=4, bootstrap=20, seed=seed)
        for seed in (1, 1, 2)
    ]
    first, second, other = again
    assert dict(first.params) == dict(second.params)
    for name in first.draws:
        assert np.array_equal(first.draws[name], second.draws[name])
    assert not np.array_equal(first.draws["E"], other.draws["E"])
    assert other.params["E"] == pytest.approx(first.params["E"], rel=1e-5)
    point = {"N": 1e10, "D": 1e11}
    assert np.array_equal(first.predict(**point).new_run, second.predict(**point).new_run)


def test_records_and_print_outs(noisy):
    record = json.loads(json.dumps(noisy.to_dict(), allow_nan=False))
    assert record["law"] == "chinchilla"
    assert record["parameters"]["a"]["value"] == noisy.params["a"]
    assert record["parameters"]["E"]["q05"] < record["parameters"]["E"]["q95"]
    assert record["bootstrap"] == {"replicates": 60, "failed": 0}
    json.dumps(noisy.predict(N=1e10, D=1e11).to_dict(), allow_nan=False)
    text = str(noisy)
    for part in ("least Huber (delta 0.001) loss", "alpha", "objective", "8 of 8", "60 replicates"):
        assert part in text
    squares = bs.fit_point("chinchilla", simulated(0.005), starts=2, delta=math.inf)
    assert "least squared loss" in str(squares)
    json.dumps(squares.to_dict(), allow_nan=False)


def test_one_start_is_the_prior_medians():
    one, many = (bs.fit_point("chinchilla", simulated(0.005), starts=k) for k in (1, 6))
    assert one.starts.tried == one.starts.reached == 1
    assert one.objective == pytest.approx(many.objective, rel=1e-6)


def test_nothing_global_changes():
    import jax

    bs.fit_point("chinchilla", simulated(0.005), starts=2)
    assert not jax.config.jax_enable_x64
