"""Learning rate, batch size and shape: at their best the loss is Chinchilla's, off it more."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.errors import DataError
from bayescale.laws import LAWS

STEP, SHAPE, PLAIN = (LAWS[name] for name in ("step-law", "width-depth", "chinchilla"))
BASE = {"E": 1.5, "A": 190.0, "B": 205.0, "alpha": 0.3, "beta": 0.27}
OPTIMUM = {  # Li et al. 2025: 1.79 N^-.713 D^.307 and .58 D^.571 tokens, here in 2,048s
    "lr_1": 1.79, "lr_N": -0.713, "lr_D": 0.307, "bs_1": 0.58 / 2048, "bs_N": 0.0, "bs_D": 0.571,
}  # fmt: skip
COST = {"h_lr": 0.035, "h_bs": 0.03, "s": 0.7, "k": 0.4}
TUNED = BASE | OPTIMUM | COST
SHAPED = BASE | {"kappa": 0.02, "R": 0.56, "rho": 0.16}
N, D = np.geomspace(2e8, 1e10, 4), np.geomspace(1e10, 1e12, 4)


def best(N, D):
    """The published optimum: learning rate, and batch in sequences."""
    return 1.79 * N**-0.713 * D**0.307, 0.58 * D**0.571 / 2048


def inside(fit, truth):
    low, high = (fit.summary.loc[list(truth), q] for q in ("q025", "q975"))
    return (low <= list(truth.values())) & (high >= list(truth.values()))


def test_published_optimum_has_the_loss_of_chinchilla():
    lr, batch = best(N, D)
    plain = PLAIN.mean(**BASE, N=N, D=D)
    np.testing.assert_allclose(STEP.mean(**TUNED, N=N, D=D, lr=lr, bs=batch), plain, rtol=1e-12)
    for change in ({"lr": 2 * lr, "bs": batch}, {"lr": lr, "bs": batch / 2}):
        assert np.all(STEP.mean(**TUNED, N=N, D=D, **change) > plain)


def test_curvatures_are_what_they_are_called():
    """Second differences of the loss at the optimum, along ln lr and along lr ~ bs^k."""
    lr, batch = best(N, D)
    step = 1e-3

    def curvature(up, down):
        at = [STEP.mean(**TUNED, N=N, D=D, lr=x, bs=y) for x, y in (up, (lr, batch), down)]
        return (at[0] - 2 * at[1] + at[2]) / step**2

    more, less = np.exp(step), np.exp(-step)
    along_lr = curvature((lr * more, batch), (lr * less, batch))
    np.testing.assert_allclose(along_lr, TUNED["h_lr"], rtol=1e-4)
    k = TUNED["k"]
    ridge = curvature((lr * more**k, batch * more), (lr * less**k, batch * less))
    np.testing.assert_allclose(ridge, TUNED["h_bs"], rtol=1e-4)


def test_too_high_a_learning_rate_costs_more_than_too_low():
    lr, batch = best(N, D)
    high, low = (STEP.mean(**TUNED, N=N, D=D, lr=f * lr, bs=batch) for f in (8, 1 / 8))
    assert np.all(high > low)
    symmetric = TUNED | {"s": 1e-3}
    high, low = (STEP.mean(**symmetric, N=N, D=D, lr=f * lr, bs=batch) for f in (8, 1 / 8))
    np.testing.assert_allclose(high, low, rtol=1e-3)


def test_optimum_of_compute_optimal_runs_moves_with_compute():
    """lr ~ N^p D^q with N ~ C^a and D ~ C^b gives C^(p a + q b)."""
    derived = {d.name: d.function for d in STEP.derived}
    a, b = (derived[n](alpha=0.3, beta=0.27) for n in "ab")
    found = derived["lr_C"](lr_N=-0.713, lr_D=0.307, alpha=0.3, beta=0.27)
    assert found == pytest.approx(-0.713 * a + 0.307 * b, rel=1e-12)


def test_recovers_the_published_optimum_from_a_sweep():
    truth = TUNED | {"sigma": 0.004, "nu": 5.0}
    runs = simulate(STEP, truth, STEP.design(), seed=1)
    fit = bs.fit(STEP, runs, seed=2, draws=500, progress=False)
    found = inside(fit, truth)
    assert found.sum() >= len(truth) - 2, found
    assert found[["lr_N", "lr_D", "bs_D"]].all()
    assert fit.record["gradients_per_draw"] < 30


def test_best_shape_has_the_loss_of_chinchilla():
    depth = 20.0
    width = depth * SHAPED["R"] * N ** SHAPED["rho"]
    plain = PLAIN.mean(**BASE, N=N, D=D)
    own = SHAPE.mean(**SHAPED, N=N, D=D, width=width, depth=depth)
    np.testing.assert_allclose(own, plain, rtol=1e-12)
    wide, deep = (SHAPE.mean(**SHAPED, N=N, D=D, width=f * width, depth=depth) for f in (4, 1 / 4))
    assert np.all(wide > plain)
    np.testing.assert_allclose(wide, deep, rtol=1e-12)  # as bad as each other
    size_term = BASE["A"] * N ** -BASE["alpha"]
    excess = SHAPED["kappa"] * np.log(4) ** 2
    np.testing.assert_allclose(wide - plain, size_term * np.expm1(excess), rtol=1e-9)


def test_recovers_the_best_shape_and_names_it_where_shapes_are_alike():
    truth = SHAPED | {"sigma": 0.004, "nu": 5.0}
    fit = bs.fit(SHAPE, simulate(SHAPE, truth, SHAPE.design(), seed=1), seed=2, progress=False)
    found = inside(fit, truth)
    assert found.sum() >= len(truth) - 1, found
    assert found[["kappa", "rho"]].all()
    alike = SHAPE.design()
    alike["width"] = 50 * alike["depth"]
    runs = simulate(SHAPE, truth, alike, seed=1)
    fit = bs.fit(SHAPE, runs, draws=200, max_tree_depth=7, retry=False, progress=False)
    said = " ".join(p.message for p in fit.gate.problems if p.check == "prior")
    assert not fit.converged
    assert all(f"of {name} is its prior" in said for name in ("kappa", "rho")), said


@pytest.mark.parametrize(
    ("law", "column", "value"), [(STEP, "lr", 0.0), (STEP, "bs", -1.0), (SHAPE, "depth", 0.0)]
)
def test_impossible_settings_are_named(law, column, value):
    runs = simulate(law, (TUNED | SHAPED) | {"sigma": 0.004, "nu": 5.0}, law.design(), seed=1)
    runs.loc[4, column] = value
    with pytest.raises(DataError, match=f"column '{column}' is {value} in row 5; a positive numb"):
        bs.fit(law, runs, progress=False)


def test_usual_names_of_settings_are_read():
    names = {"lr": "learning_rate", "bs": "batch_size"}
    runs = simulate(STEP, TUNED | {"sigma": 0.004, "nu": 5.0}, STEP.design(), seed=1)
    table = bs.read_runs(runs.rename(columns=names))
    for own, other in names.items():
        np.testing.assert_array_equal(table.column(own), runs[own], err_msg=other)
