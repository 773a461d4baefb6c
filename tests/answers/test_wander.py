"""Wander of the best size beyond the runs, in every answer about N and D, by brute force."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bayescale as bs
from bayescale.answers.allocation import allocate
from bayescale.answers.chain import Chain
from bayescale.answers.limited import Limited
from bayescale.answers.serving.price import Served
from bayescale.answers.surface import best_size, compute_for_loss, surface
from bayescale.answers.wander import MovedSurface, compute_range, moved
from bayescale.data.cost import SIX_ND
from bayescale.drift import Drift
from bayescale.laws.loss_to_accuracy import loss_to_accuracy
from bayescale.plot import bands
from bayescale.priors import LogNormal
from tests.answers.brute import designed, least
from tests.answers.conftest import made_up

LAW: Any = bs.get_law("auto")
REACH = np.log(100.0)


@pytest.fixture(scope="module")
def fit(sweep):
    return made_up(LAW, sweep, noise=LAW.noise, draws=30, spread=0.05)


@pytest.fixture(scope="module")
def far(fit):
    return fit.extent.span("C").high * 100


@pytest.fixture(scope="module")
def repeated():
    law = bs.get_law("repetition").with_drift(True)
    return made_up(law, designed(law), noise=law.default_noise, draws=15, spread=0.05)


def _known(fit):
    found = compute_range(fit.extent)
    assert found is not None
    return found


def there(laws, fit, far):
    """Laws about a budget, as answers take them."""
    size = fit.allocate(C=far).draws["N_opt"][:, 0]
    return moved(laws, SIX_ND, far, size, compute_range(fit.extent))


def at(laws, log_n, C):
    """Loss along a budget, each draw's curve moved by its wander: L(N / w) at the same C."""
    N = np.exp(log_n - REACH * np.reshape(laws.wander, (-1, 1)))
    return laws.mean(np.arange(laws.size)[:, None], N=N, D=C / (6 * N))


def test_optimum_regret_and_best_choice_by_brute_force(fit, far):
    laws = surface(fit)
    found = fit.allocate(C=far, N=["3B", "300B"])
    log_n, loss = least(lambda x: at(laws, x, far), np.log(1e7), np.log(1e15), laws.size)
    np.testing.assert_allclose(found.draws["N_opt"][:, 0], np.exp(log_n), rtol=1e-5)
    np.testing.assert_allclose(found.draws["loss"][:, 0], loss, rtol=1e-9)
    for choice in (*found.recommended, *found.choices):
        here = at(laws, np.full((laws.size, 1), np.log(choice.N)), far)[:, 0]
        np.testing.assert_allclose(choice.regret, here - loss, atol=1e-9)
    grid = np.linspace(np.log(1e9), np.log(1e13), 4001)
    expected = (at(laws, grid, far) - loss[:, None]).mean(axis=0)
    best = found.recommended[0]
    assert best.expected_regret < expected.min() + 1e-5
    close = grid[np.argmin(expected)] + np.linspace(-0.003, 0.003, 4001)  # a grid step each way
    nearest = (at(laws, close, far) - loss[:, None]).mean(axis=0).min()
    assert best.expected_regret > nearest - 1e-11


def test_waste_is_what_the_least_compute_for_that_loss_says(fit, far):
    laws = surface(fit)
    choice = fit.allocate(C=far, N="3B").choices[0]
    here = at(laws, np.full((laws.size, 1), np.log(3e9)), far)[:, 0]
    plain = replace(laws, drift=None)  # the drift is held at the budget
    _, loss = best_size(plain, SIX_ND, far / choice.waste, np.arange(laws.size))
    _, top = best_size(plain, SIX_ND, np.full(laws.size, far), np.arange(laws.size))
    shift = fit.allocate(C=far).draws["loss"][:, 0] / top
    np.testing.assert_allclose(loss * shift, here, rtol=1e-8)


def test_inside_the_runs_or_without_drift_no_optimum_moves(fit, sweep):
    laws, known = surface(fit), _known(fit)
    size = np.full(laws.size, 1e9)
    inside = moved(laws, SIX_ND, known[1], size, known)
    assert not isinstance(inside, MovedSurface)
    D, every = known[1] / 6e9, np.arange(laws.size)
    np.testing.assert_allclose(inside.mean(every, N=1e9, D=D), laws.mean(every, N=1e9, D=D))
    exact = surface(made_up(LAW.with_drift(False), sweep, noise=LAW.noise, draws=5))
    assert moved(exact, SIX_ND, 1e3 * known[1], size[:10], known) is exact


def test_the_expected_regret_of_one_choice_grows_with_the_wander(fit, far):
    still = replace(fit, model=replace(fit.model, law=LAW.with_drift(replace(LAW.drift, size=0.0))))
    one, other = (f.allocate(C=far).recommended[0].expected_regret for f in (fit, still))
    assert one > 3 * other


def test_a_drift_along_tokens_moves_the_optimum(sweep, far):
    law = LAW.with_drift(Drift(along="D", scale=LogNormal(0.05, 0.2), size=0.0))
    fit = made_up(law, sweep, noise=LAW.noise, draws=10, spread=0.05)
    laws = surface(fit)

    def loss(log_n):
        N = np.exp(log_n)
        return laws.mean(np.arange(laws.size)[:, None], N=N, D=far / (6 * N))

    size, found = best_size(laws, SIX_ND, far, np.arange(laws.size))
    middle = np.log(size)
    _, lowest = least(loss, middle - 0.5, middle + 0.5, laws.size)
    np.testing.assert_allclose(found, lowest, rtol=1e-7)  # some lie at a knot, where it has a kink
    alone = best_size(replace(laws, drift=None), SIX_ND, far, np.arange(laws.size))[0]
    assert np.abs(np.log(size / alone)).max() > 0.05


def test_compute_for_a_loss_is_the_nearest_though_a_drift_turns_up_far_beyond(sweep):
    law = LAW.with_drift(Drift(scale=LogNormal(0.05, 0.1)))
    laws = surface(made_up(law, sweep, noise=LAW.noise, draws=20, spread=0.05))
    near, every = sweep.column("C").max(), np.arange(laws.size)
    asked = best_size(laws, SIX_ND, np.full(laws.size, near * 0.8), every)[1]
    found = compute_for_loss(laws, SIX_ND, asked, near)
    np.testing.assert_allclose(found, near * 0.8, rtol=1e-6)
    top = best_size(laws, SIX_ND, np.full(laws.size, near * 1e9), every)[1]
    assert (top > asked).any()  # looked for between the ends there would be none


def test_limited_data_keep_their_epochs_and_without_limit_it_is_the_allocation(repeated):
    C, known = repeated.extent.span("C").high * 100, compute_range(repeated.extent)
    laws = surface(repeated)
    unique = 1e11
    found = bs.allocate_limited(repeated, C, [unique, "1000T"])
    free = best_size(Limited(laws, np.inf), SIX_ND, np.full(laws.size, C), np.arange(laws.size))
    limited = Limited(moved(laws, SIX_ND, C, free[0], known), unique)
    w = np.exp(REACH * laws.wander)[:, None]

    def loss(log_n):
        N, D = np.exp(log_n), C / (6 * np.exp(log_n))
        U = np.minimum(D, unique)
        return laws.mean(np.arange(laws.size)[:, None], N=N / w, D=D * w, U=U * w)

    np.testing.assert_allclose(
        limited.mean(np.arange(laws.size), N=1e11, D=C / 6e11), loss(np.log(1e11) + 0 * w)[:, 0]
    )
    middle = np.log(found.draws["N_opt"][:, 0, 0])
    _, lowest = least(loss, middle - 4, middle + 4, laws.size)
    np.testing.assert_allclose(found.draws["loss"][:, 0, 0], lowest, rtol=1e-9)
    np.testing.assert_allclose(found.draws["N_opt"][:, 0, 1], free[0] * w[:, 0], rtol=1e-6)
    assert "Intervals widen with the reach" in " ".join(found.warnings)


def test_served_models_start_from_the_wandering_optimum(fit, far):
    laws = surface(fit)
    found = bs.inference_optimum(fit, C=far, inference_tokens=[0, "10T"])
    best = fit.allocate(C=far).draws["N_opt"][:, 0]
    np.testing.assert_allclose(found.draws["N_training_optimal"][:, 0, 0], best)
    np.testing.assert_allclose(found.draws["N"][:, 0, 0], best, rtol=1e-3)
    N, D = (found.draws[k][:, 0, 1] for k in ("N", "D"))
    assert np.isfinite(N).all()
    here, asked = there(laws, fit, far), found.draws["loss"][:, 0, 1]
    np.testing.assert_allclose(here.mean(np.arange(laws.size), N=N, D=D), asked, rtol=1e-7)
    price = Served(SIX_ND, 1e13)
    for factor in (0.9, 1.1):  # as low a loss at another size costs more
        tokens = _tokens_for(here, N * factor, asked, D)
        assert (price.flops(N * factor, tokens) > price.flops(N, D) * (1 - 1e-7)).all()
    assert "Intervals widen with the reach" in " ".join(found.warnings)


def _tokens_for(laws, N, loss, near):
    from scipy.optimize import elementwise

    def above(log_d, k, n, target):
        return laws.mean(k.astype(int), N=n, D=np.exp(log_d)) - target

    ends = (np.log(near) - 3, np.log(near) + 3)
    found = elementwise.find_root(above, ends, args=(np.arange(len(N)) + 0.0, N, loss))
    return np.where(found.success, np.exp(found.x), np.inf)


def test_approaches_and_pictures_wander_too(fit, far):
    answer = fit.allocate(C=far).draws["N_opt"]
    approach = bs.approaches(C=far, fit=fit, isoflop=None, envelope=None, runs=fit.runs)
    np.testing.assert_allclose(approach.answers["parametric"].n_opt(far), answer)
    drawn = bands.frontier(fit, bands.groups(fit, {})[0], np.array([far]))
    np.testing.assert_allclose(drawn["N_opt"], answer)


def test_multipliers_say_what_their_intervals_allow_for(fit, far):
    found = bs.compute_multiplier(fit, fit, far)
    assert "Intervals widen with the reach" in " ".join(found.warnings)


def test_exponents_inside_and_beyond_are_told_apart(fit, far):
    found = fit.allocate(C=[far / 1000, far])
    record = json.loads(json.dumps(found.to_dict()))
    inside, beyond = record["allocations"]
    assert record["exponents_hold"] == inside["exponents_hold"] == "inside the data"
    assert beyond["exponents_hold"] == "beyond the data"
    wide, narrow = (x["q95"] - x["q05"] for x in (beyond["a"], record["exponents"]["a"]))
    assert wide > 2 * 0.08
    assert wide > 4 * narrow
    text = " ".join(str(found).split())
    assert "inside the data: a = " in text
    assert f"at C = {far:.3g}, beyond the data: a = ".replace("+", "") in text


def test_a_chain_takes_each_draw_with_its_own_drift(fit, far):
    law = loss_to_accuracy()
    end = made_up(law, designed(law), draws=45)
    laws = surface(fit)
    taken = laws.take(np.array([7, 3]))
    np.testing.assert_array_equal(
        taken.mean(np.arange(2), N=1e10, D=far / 6e10),
        laws.mean(np.array([7, 3]), N=1e10, D=far / 6e10),
    )
    said = Chain(fit, end).predict(N="10B", C=far).warnings
    assert "Intervals widen with the reach" in " ".join(said)


def test_a_stack_moves_each_law_by_its_own_wander(fit, sweep, far):
    from bayescale.check.comparison.laws_mixed import MixedSurface

    other = surface(made_up(LAW.with_drift(False), sweep, noise=LAW.noise, draws=10, spread=0.05))
    both = MixedSurface([surface(fit), other], [np.arange(20), np.arange(20)])
    known, size = compute_range(fit.extent), np.full(60, 1e10)
    one = moved(surface(fit), SIX_ND, far, size, known)
    every, D = np.arange(40), far / 6e10
    found = moved(both, SIX_ND, far, size[:40], known).mean(every, N=1e10, D=D)
    np.testing.assert_allclose(found[:20], one.mean(every[:20], N=1e10, D=D))
    np.testing.assert_allclose(found[20:], other.mean(every[:20], N=1e10, D=D))


def test_a_share_or_size_that_is_no_spread_is_refused():
    wrong: Any = -1
    for name in ("size", "shares"):
        with pytest.raises(bs.LawError, match=f"drift {name} = -1; expected a number of at least"):
            Drift(**{name: wrong})


def test_allocate_is_the_same_function(fit, far):
    one, other = allocate(fit, far), fit.allocate(far)
    np.testing.assert_array_equal(one.draws["N_opt"], other.draws["N_opt"])
