"""Drift: an integrated Brownian motion, the same by hinges and by lines between knots."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.drift import Drift, Grid, Path, drift_from_dict, parse_drift
from bayescale.inference.model import make_model
from bayescale.pooling import Pooling
from bayescale.priors import LogNormal, Normal

GRID = Grid(centre=45.0, step=0.3, half=12)


@pytest.mark.parametrize("away", [1.5, 3.0, 5.0, 9.0, -4.0])
def test_prior_is_an_integrated_brownian_motion(away):
    hinges = GRID.hinges(np.array([GRID.centre + away]), beyond=True)[0]
    assert np.isclose((hinges**2).sum(), abs(away) ** 3 / 3, rtol=0.02)


def test_the_drift_and_its_slope_vanish_at_the_centre():
    near = GRID.hinges(np.array([45.0, 45.001, 44.999]))
    assert not near.any()


def test_knots_beyond_the_runs_say_nothing_inside():
    inside = GRID.hinges(np.linspace(45 - 3.6, 45 + 3.6, 50), beyond=True)
    assert not inside[:, 2 * GRID.half :].any()


def test_paths_are_the_hinges_sum_everywhere():
    rng = np.random.default_rng(0)
    scale = rng.lognormal(-5, 0.5, 20)
    steps = np.concatenate([rng.standard_normal((20, 24)), GRID.beyond(rng, (20,))], axis=1)
    path = Path.of(GRID, scale, steps)
    places = rng.uniform(45 - 40, 45 + 40, 200)
    direct = (GRID.hinges(places, beyond=True) @ steps.T).T * scale[:, None]
    assert np.allclose(path.at(np.arange(20)[:, None], places), direct, rtol=1e-9, atol=1e-12)


def test_is_along_compute_where_the_law_knows_it():
    drift, n, d = Drift(), np.array([1e8, 1e9]), np.array([1e10, 1e11])
    assert np.allclose(drift.place(bs.get_law("chinchilla"), {"N": n, "D": d}), np.log(n * d))
    assert np.allclose(drift.place(bs.get_law("power-law-C"), {"C": n}), np.log(n))
    assert np.allclose(drift.place(bs.get_law("power-law-D"), {"D": d}), np.log(d))
    split = {"N": n, "D": np.stack([d, 2 * d], axis=-1), "target": np.eye(2)}
    both = bs.mixture(("text", "image"), repetition=False)
    assert np.allclose(drift.place(both, split), np.log(n * 3 * d))
    assert np.allclose(Drift(along="D").place(both, split), np.log(3 * d))


def test_refuses_a_law_that_knows_no_amount():
    law = bs.get_law("loss-to-accuracy")
    with pytest.raises(bs.LawError, match="reads none of N, D and C"):
        Drift().place(law, {"loss": np.ones(3)})
    with pytest.raises(bs.LawError, match="the drift is along N, which law 'power-law-D'"):
        Drift(along="N").place(bs.get_law("power-law-D"), {"D": np.ones(3)})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scale": Normal(0.0, 1.0)}, "drift's scale"),
        ({"scale": 0.01}, "drift's scale"),
        ({"knots": 7}, "an even number from 2"),
        ({"size": -0.1}, "a number of at least 0"),
    ],
)
def test_refuses_what_is_no_drift(wrong, said):
    with pytest.raises(bs.LawError, match=said):
        Drift(**wrong)


def test_a_law_takes_and_loses_it():
    law = bs.get_law("chinchilla")
    assert law.drift is None
    assert law.with_drift().drift == Drift()
    assert law.with_drift().with_drift(False) == law
    assert bs.get_law("auto").with_drift(None).drift == Drift()
    with pytest.raises(bs.LawError, match="expected a Drift"):
        law.with_drift("yes")  # pyright: ignore[reportArgumentType]


def test_its_prior_is_replaced_by_name():
    model = make_model(bs.get_law("auto"), None, Pooling(), {"drift_scale": LogNormal(0.01, 0.1)})
    assert model.drift == Drift(scale=LogNormal(0.01, 0.1))
    with pytest.raises(bs.LawError, match="no parameter 'drift_scale'"):
        make_model(bs.get_law("kaplan"), None, Pooling(), {"drift_scale": LogNormal(0.01, 0.1)})


def test_each_response_of_a_law_drifts_by_itself():
    model = make_model(bs.mixture(("text", "image"), repetition=False), None, Pooling(), drift=True)
    assert model.drift is not None
    assert model.drift.by == "target"
    assert next(s for s in model.sites if s.name == "drift_step").dims == ("target", "knot")


def test_survives_a_record():
    drift = Drift(along="D", scale=LogNormal(0.01, 0.3), knots=10, size=0.0)
    assert drift_from_dict(drift.to_dict()) == drift
    assert drift_from_dict(None) is None


def test_what_the_shell_says():
    assert parse_drift(None) is None
    assert parse_drift("none") is False
    assert parse_drift("D") == Drift(along="D")
    with pytest.raises(bs.LawError, match="expected none, compute, N, D or C"):
        parse_drift("loss")
