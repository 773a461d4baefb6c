"""Broken power laws: limits, sharp breaks, order, recovery, and breaks that can't be seen."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.errors import LawError
from bayescale.inference.batch import make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.law import Input
from bayescale.laws import LAWS
from bayescale.laws.broken_power_law import broken_power_law
from bayescale.laws.power_law import power_law

X = np.geomspace(1e3, 1e13, 101)
ONE = {"E": 0.5, "A": 40.0, "c_0": 0.1, "c_1": 0.6, "d_1": 1e8, "f_1": 0.3}


def slopes(law, values):
    """Minus the local exponent of the reducible loss."""
    up, down = (np.log(law.mean(**values, D=X * s) - values["E"]) for s in (1.001, 1 / 1.001))
    return (down - up) / (2 * np.log(1.001))


def test_a_break_without_change_is_a_power_law():
    values = ONE | {"c_1": 0.0}
    plain = power_law("D").mean(E=0.5, A=40.0, alpha=0.1, D=X)
    np.testing.assert_allclose(LAWS["broken-power-law-D"].mean(**values, D=X), plain, rtol=1e-13)


def test_it_is_the_published_product():
    law = broken_power_law("D", 3)
    values = ONE | {"c_2": -0.4, "d_2": 1e10, "f_2": 0.5, "c_3": 0.2, "d_3": 1e12, "f_3": 1.5}
    product = values["A"] * X ** -values["c_0"]
    for i in (1, 2, 3):
        c, d, f = (values[f"{k}_{i}"] for k in "cdf")
        product = product * (1 + (X / d) ** (1 / f)) ** (-c * f)
    np.testing.assert_allclose(law.mean(**values, D=X), values["E"] + product, rtol=1e-12)


def test_exponents_add_up_from_break_to_break():
    law = broken_power_law("D", 2)
    local = slopes(law, ONE | {"c_2": -0.55, "d_2": 1e11, "f_2": 0.2})
    np.testing.assert_allclose(local[X < 1e6], 0.1, atol=1e-5)
    between = (X > 2e9) & (X < 1e10)
    np.testing.assert_allclose(local[between], 0.7, atol=1e-4)
    np.testing.assert_allclose(local[X > 1e12], 0.15, atol=1e-4)


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-6])
def test_sharp_breaks_stay_finite_and_reach_the_corner(width):
    """(x/d)^(1/f) is 10^(1e6) here, far beyond what a float holds."""
    import jax

    law, values = LAWS["broken-power-law-D"], ONE | {"f_1": width}
    mean = law.mean(**values, D=X)
    corner = np.where(X < 1e8, X**-0.1, 1e8**0.6 * X**-0.7)
    np.testing.assert_allclose(mean, 0.5 + 40 * corner, rtol=width)
    with jax.enable_x64(True):
        slope = jax.grad(lambda v: jax.numpy.sum(law.mean(**v, D=jax.numpy.asarray(X))))(values)
    assert all(np.isfinite(float(s)) for s in slope.values())


def test_breaks_are_ordered_and_exponents_positive_under_the_prior():
    law = broken_power_law("D", 3)
    model = Model(law)
    packing = Packing.of(model, {})
    sites = packing.sample_prior(np.random.default_rng(1), 500)
    coordinates = model.by_row(model.coordinates(sites), {})
    params = model.to_params(coordinates, {"D_ref": 1e9})
    assert np.all(params["d_1"] < params["d_2"])
    assert np.all(params["d_2"] < params["d_3"])
    total = params["c_0"]
    for i in (1, 2, 3):
        total = total + params[f"c_{i}"]
        assert np.all(total > 0)
    # half of the middle breaks within two decades of the data's centre
    assert np.mean(np.abs(np.log10(params["d_2"] / 1e9)) < 2) > 0.5


def test_options_are_checked():
    for wrong in (0, 4, True, 1.5):
        with pytest.raises(LawError, match="expected 1, 2 or 3"):
            broken_power_law("D", wrong)
    with pytest.raises(LawError, match="knows N, D and C"):
        broken_power_law("examples")
    with pytest.raises(LawError, match="name of a parameter"):
        broken_power_law(Input("d_1", "examples", "examples"))
    own = broken_power_law(Input("examples", "training examples", "examples"))
    assert own.name == "broken-power-law-examples"
    assert broken_power_law("D", 2) is broken_power_law("D", 2)


def fit_of(law, design, truth, seed=1):
    runs = simulate(law, truth | {"sigma": 0.004, "nu": 10.0}, {"D": design}, seed=seed)
    return bs.fit(law, runs, seed=seed, progress=False)


def test_two_breaks_come_back():
    law = broken_power_law("D", 2)
    truth = {"E": 0.4, "A": 9.0, "c_0": 0.08, "c_1": 0.7, "d_1": 3e7, "f_1": 0.15}
    truth |= {"c_2": -0.6, "d_2": 1e9, "f_2": 0.2}
    fit = fit_of(law, np.geomspace(1e6, 1e11, 60), truth, seed=2)
    assert fit.converged, fit.gate.headline()
    for name in ("E", "c_0", "c_1", "c_2", "f_1", "f_2"):
        draws = fit.draws(name)
        assert abs(draws.mean() - truth[name]) < 3.5 * draws.std(), name
    for name in ("d_1", "d_2"):
        draws = np.log(fit.draws(name))
        assert abs(draws.mean() - np.log(truth[name])) < 3.5 * draws.std(), name
    assert fit.record["gradients_per_draw"] < 30


def test_a_break_outside_the_data_is_not_identified():
    """A straight power law: nothing is said of the break, and the gate says so."""
    law = LAWS["broken-power-law-D"]
    runs = simulate(
        "power-law-D",
        {"E": 1.5, "A": 60.0, "alpha": 0.25, "sigma": 0.004, "nu": 10.0},
        {"D": np.geomspace(1e9, 1e11, 25)},
        seed=3,
    )
    quick = {"draws": 300, "retry": False, "max_tree_depth": 7}
    fit = bs.fit(law, runs, seed=1, progress=False, **quick)
    assert not fit.converged
    said = {p.message.split(" is its prior")[0].split()[-1] for p in fit.gate.problems}
    assert {"d_1", "f_1"} & said, fit.gate.headline()


def test_layout_reads_examples_as_data(monkeypatch, data_dir):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    from bayescale.data.public import load_dataset

    runs = load_dataset("addition")
    layout = make_layout(Model(LAWS["broken-power-law-D"]), runs)
    assert 160 < layout.refs["D_ref"] < 928
    assert runs.columns["D"] == "n_examples"


def test_a_law_by_its_familys_name_is_saved_and_comes_back(tmp_path):
    law = broken_power_law("C", 1)
    truth = {"E": 1.5, "A": 4e3, "c_0": 0.15, "c_1": 0.2, "d_1": 1e20, "f_1": 0.5}
    design = {"C": np.geomspace(1e17, 1e23, 30)}
    runs = simulate(law, truth | {"sigma": 0.004, "nu": 10.0}, design, seed=1)
    few = {"draws": 50, "warmup": 100, "progress": False, "retry": False}
    fit = bs.fit("broken-power-law:x=C,breaks=2", runs, **few)
    assert fit.law == broken_power_law("C", 2)
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert again.law == fit.law
    assert bs.broken_power_law is broken_power_law
