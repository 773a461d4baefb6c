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
    sigma = np.asarray(values["sigma"])[..., None]  # a number, or one a label
    told = (values["drift_scale"] / sigma) ** 2 * frame["drift_step_known"]
    jacobian = -0.5 * np.log1p(told).sum()
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


def test_weights_are_whitened_whatever_the_drift_scale_is(runs):
    """Their spread in the frame is that of a standard normal where the scale is small and large."""
    fit = bs.fit("auto", runs, seed=3, draws=500, progress=False)
    weights = np.asarray(fit.drift_steps)[:, : 2 * fit.layout.drift.half]
    batch = make_batch(fit.model, fit.runs, fit.layout)
    there = Setting(fit.model, fit.packing, batch)
    sites = {s.name: np.asarray(fit.sites[s.name]) for s in fit.packing.sites}
    middle = {k: np.median(v, axis=0) for k, v in sites.items()}
    none = fit.packing.no_centring()
    frame = none | choose_frame(there, none, fit.packing.join(middle, none))
    inside = fit.packing.cut(fit.packing.join(sites, frame))["drift_step"]
    assert weights.shape == inside.shape
    order = np.argsort(sites["drift_scale"])
    for part in (order[:400], order[-400:]):
        spread = inside[part].std(axis=0)
        assert np.all((spread > 0.7) & (spread < 1.4))
