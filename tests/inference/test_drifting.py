"""The frame in which drift is sampled changes where numbers lie, never what they mean."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.density import log_density
from bayescale.inference.drifting import Setting, choose_frame, declared
from bayescale.inference.model import make_model
from bayescale.inference.packing import Packing
from bayescale.pooling import Pooling

LABELLED = bs.decoupled()


@pytest.fixture(params=["auto", "labelled"])
def case(request, runs):
    if request.param == "auto":
        law, table = bs.get_law("auto"), runs
    else:
        law = LABELLED
        assert law.design is not None
        import pandas as pd

        frame = pd.DataFrame(law.design())
        rng = np.random.default_rng(1)
        table = bs.read_runs(frame.assign(loss=rng.uniform(2, 3, len(frame))), columns={"D": ""})
    model = make_model(law, None, Pooling(), drift=True)
    layout = make_layout(model, table)
    packing = Packing.of(model, layout.labels)
    return model, packing, make_batch(model, table, layout)


def framed(case):
    model, packing, batch = case
    vector = packing.join(packing.sample_prior(np.random.default_rng(3), 1))[0]
    none = packing.no_centring()
    return none | choose_frame(Setting(model, packing, batch), none, vector)


def test_a_frame_and_back(case):
    _, packing, _ = case
    frame = framed(case)
    vectors = np.random.default_rng(4).standard_normal((5, packing.size))
    values = packing.constrain(vectors, frame)
    assert np.allclose(packing.join(values, frame), vectors, atol=1e-8)


def test_the_density_differs_by_the_jacobian_alone(case):
    import jax

    model, packing, batch = case
    frame = framed(case)
    none = declared(packing, frame)
    vector = packing.join(packing.sample_prior(np.random.default_rng(5), 1), frame)[0]
    values = packing.constrain(vector, frame)
    with jax.enable_x64(True):
        density = log_density(model, packing)
        here = float(density(vector, batch | {"centring": frame}))
        there = float(density(packing.join(values, none), batch | {"centring": none}))
    jacobian = -frame["drift_step"].sum() * np.log(values["drift_scale"])
    assert np.isclose(here, there + jacobian, rtol=1e-9)


def test_the_map_has_that_jacobian(case):
    """By differences: the determinant of vector in frame -> vector as declared."""
    _, packing, _ = case
    frame = framed(case)
    none = declared(packing, frame)
    start = packing.join(packing.sample_prior(np.random.default_rng(6), 1), frame)[0]

    def plain(vector):
        return packing.join(packing.constrain(vector, frame), none)

    step = 1e-5 * np.eye(packing.size)
    slopes = (plain(start + step) - plain(start - step)) / 2e-5
    expected = packing.log_jacobian(packing.split(start, frame), frame)
    assert np.isclose(np.linalg.slogdet(slopes)[1], expected, atol=1e-4)
