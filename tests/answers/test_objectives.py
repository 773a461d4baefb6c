"""Several losses of one model: equal to predictions one by one, on NumPy and JAX; refusals."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from bayescale.answers.objectives import objectives_of
from bayescale.answers.prediction import predict
from bayescale.data import read_runs
from bayescale.data.runs import Runs
from bayescale.errors import FitError
from bayescale.laws.bimodal import bimodal
from bayescale.laws.decoupled import decoupled
from bayescale.laws.mixture import mixture

from .conftest import made_up

LAWS = {
    "additive": mixture(
        ("a", "b", "c"), ("a", "b", "z"), transfer="additive", repetition=("b",)
    ),
    "exponential": mixture(("a", "b", "c"), repetition=("b", "c")),
    "pairwise": mixture(
        ("a", "b"), capacity="directional", shares="pairwise", size=False, repetition=False
    ),
    "decoupled": decoupled(),
    "decoupled without N": decoupled(size=False),
}  # fmt: skip


def runs_of(law) -> Runs:
    """The law's plain design as a table, with a loss that nothing reads."""
    table = pd.DataFrame(law.design()).assign(loss=2.0)
    some = read_runs(pd.DataFrame({"N": [1e9], "D": [1e10], "loss": [2.0]}))
    return dataclasses.replace(some, table=table, row_numbers=np.arange(len(table)))


@pytest.fixture(scope="module", params=LAWS)
def fit(request):
    law = LAWS[request.param]
    return made_up(law, runs_of(law), draws=10)


def points(objectives):
    rng = np.random.default_rng(0)
    D = rng.uniform(1e9, 1e11, (7, len(objectives.sources)))
    return D, D[:, objectives.places] / 3 if objectives.repeated else None


def test_losses_are_predictions_label_by_label(fit):
    all_of = objectives_of(fit)
    D, U = points(all_of)
    found = all_of.losses(np.arange(all_of.size)[:, None], 1e9, D, U)
    assert found.shape == (20, 7, len(all_of.names))
    asked = {f"D_{s}": D[:, k] for k, s in enumerate(all_of.sources)}
    if U is not None:
        asked |= {f"U_{s}": U[:, k] for k, s in enumerate(all_of.repeated)}
    if all_of.reads_size:
        asked["N"] = 1e9
    for k, name in enumerate(all_of.names):
        one = predict(fit, **asked, **{all_of.label: name})
        np.testing.assert_allclose(found[..., k], one.loss, rtol=1e-12)


def test_draws_and_points_broadcast(fit):
    all_of = objectives_of(fit)
    D, U = points(all_of)
    found = all_of.losses(np.arange(all_of.size)[:, None], 1e9, D, U)
    one = all_of.losses(3, 1e9, D[0], None if U is None else U[0])
    np.testing.assert_allclose(one, found[3, 0], rtol=1e-13)
    draw = np.array([1, 4, 5, 0, 2, 3, 9])
    np.testing.assert_allclose(
        all_of.losses(draw, 1e9, D, U), found[draw, np.arange(7)], rtol=1e-13
    )


def test_jax_gives_the_same_with_gradients(fit):
    import jax
    import jax.numpy as jnp

    all_of = objectives_of(fit)
    D, U = points(all_of)
    with jax.enable_x64(True):
        unique = None if U is None else jnp.asarray(U[0])

        def losses(tokens):
            return all_of.losses(2, jnp.asarray(1e9), tokens, unique, jnp)

        np.testing.assert_allclose(
            losses(jnp.asarray(D[0])),
            all_of.losses(2, 1e9, D[0], None if U is None else U[0]),
            rtol=1e-12,
        )
        slopes = np.asarray(jax.jacobian(losses)(jnp.asarray(D[0])))
    step = 1e-4 * D[0, 0]
    up, down = D[0].copy(), D[0].copy()
    up[0], down[0] = up[0] + step, down[0] - step
    unique = None if U is None else U[0]
    by_hand = all_of.losses(2, 1e9, up, unique) - all_of.losses(2, 1e9, down, unique)
    np.testing.assert_allclose(slopes[:, 0], by_hand / (2 * step), rtol=1e-4, atol=1e-18)


def test_irreducible_loss_is_that_of_endless_size_and_data(fit):
    all_of = objectives_of(fit)
    E = all_of.irreducible(np.arange(all_of.size))
    assert E.shape == (20, len(all_of.names))
    for k, name in enumerate(all_of.names):
        np.testing.assert_allclose(E[:, k], fit.draws("E")[:, k], rtol=1e-12)
        assert name in fit.law.axes[all_of.label]
    endless = all_of.losses(np.arange(all_of.size), 1e90, np.full(len(all_of.sources), 1e90))
    np.testing.assert_allclose(endless, E, rtol=1e-6)


def test_a_law_of_one_response_is_refused_with_the_reason(chinchilla):
    with pytest.raises(FitError, match=r"law 'chinchilla' has one response \(loss\).*mixture"):
        objectives_of(chinchilla)
    law = bimodal()
    with pytest.raises(FitError, match="'bimodal' has one loss a run, of a modality or of a pair"):
        objectives_of(made_up(law, runs_of(law), draws=4))


def test_the_label_itself_is_no_group(fit):
    all_of = objectives_of(fit)
    with pytest.raises(FitError, match="about all of .* at once; leave"):
        objectives_of(fit, {all_of.label: all_of.names[0]})
