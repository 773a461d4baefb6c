"""Drift in answers about several losses: frontiers, mixtures, optima, worth of tokens."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bayescale as bs
from bayescale.answers.mix.problem import read_problem
from bayescale.answers.objectives import objectives_of
from bayescale.answers.pareto import sizes
from bayescale.answers.pareto.plane import two_shares
from bayescale.answers.prediction import predict
from bayescale.drift import Drift, Path, follow
from bayescale.laws.decoupled import decoupled
from bayescale.laws.mixture import mixture
from bayescale.priors import LogNormal

from .conftest import made_up
from .mixtures import by_scipy
from .selection_fits import SIZES, loss_fit
from .test_objectives import runs_of

DRIFT = Drift(scale=LogNormal(0.004, 0.5))
PAIR = mixture(("a", "b"), ("a", "b"), transfer="additive", repetition=("b",))
REACH = np.log(100.0)


def made(law, drift, draws=30, spread=0.05):
    runs = runs_of(law)
    return made_up(law.with_drift(drift), runs, law.default_noise, draws=draws, spread=spread)


def budget(fit, factor=1.0):
    return factor * fit.extent.compute(fit.extent.cost).high


@pytest.fixture(scope="module")
def two():
    return made(decoupled(), DRIFT)


@pytest.fixture(scope="module")
def exact():
    return made(decoupled(), False)


@pytest.fixture(scope="module")
def pair():
    return made(PAIR, DRIFT, draws=6)


@pytest.fixture(scope="module")
def frontiers(two, exact):
    return tuple(
        bs.pareto(f, C=[budget(f) / 30, budget(f, 100)], r="0.05:0.5") for f in (two, exact)
    )


def log_sd(values):
    return np.log(values).std(axis=0)


def test_paths_are_followed_alike_by_numpy_and_jax(two):
    import jax
    import jax.numpy as jnp

    of = objectives_of(two)
    knots, values = of.paths[0].knots, np.stack([p.values[3] for p in of.paths])
    slopes = np.stack([p.slopes[3] for p in of.paths])
    for x in (knots[0] - 3.0, knots[40] + 0.01, knots[-1] + 2.0):
        one = np.array([p.at(3, x) for p in of.paths])
        np.testing.assert_allclose(follow(knots, values, slopes, np.float64(x)), one)
    with jax.enable_x64(True):
        x = jnp.asarray(knots[40] + 0.01)
        path = [jnp.asarray(v) for v in (knots, values, slopes)]
        found = follow(path[0], path[1], path[2], x)
        slope = jax.jacfwd(lambda x: follow(path[0], path[1], path[2], x))(x)
    np.testing.assert_allclose(found, [p.at(3, knots[40] + 0.01) for p in of.paths])
    np.testing.assert_allclose(slope, [p.slopes[3, 41] for p in of.paths])
    level = Path.level(np.array([0.1, -0.2]))
    np.testing.assert_array_equal(level.at(np.array([0, 1]), np.array([-5.0, 7.0])), [0.1, -0.2])


@pytest.mark.parametrize("law", [decoupled(), decoupled(size=False), PAIR], ids=lambda x: x.name)
def test_losses_are_predictions_label_by_label(law):
    fit = made(law, DRIFT, draws=5)
    of = objectives_of(fit)
    D = np.array([[1e9, 3e9], [4e13, 1e13]])
    N = 1e11 if of.reads_size else None
    found = of.losses(np.arange(of.size)[:, None], N, D)
    asked: Any = {f"D_{s}": D[:, k] for k, s in enumerate(of.sources)} | ({"N": N} if N else {})
    asked |= {f"U_{s}": D[:, of.sources.index(s)] for s in of.repeated}
    for k, name in enumerate(of.names):
        loss = predict(fit, **(asked | {of.label: name})).loss
        np.testing.assert_allclose(found[..., k], loss, rtol=1e-12)
    paths = {tuple(p.values[0]) for p in of.paths}
    assert len(paths) == len(of.names)  # each its own


def test_draws_are_taken_with_their_drift_and_errors(two):
    of, some = objectives_of(two), np.array([4, 1])
    D = np.array([4e13, 1e13])
    np.testing.assert_array_equal(
        of.take(some).losses(np.arange(2), 1e11, D), of.losses(some, 1e11, D)
    )
    np.testing.assert_array_equal(of.take(some).wander.size, of.wander.size[some])


def test_a_frontier_is_moved_by_the_drift_at_its_compute_and_wider_beyond(two, frontiers):
    drifting, exact = frontiers
    of = objectives_of(two)
    np.testing.assert_allclose(drifting.n_params[:, 0], exact.n_params[:, 0], rtol=1e-9)
    for k, C in enumerate(drifting.budgets):
        by = of.drift_at(np.arange(of.size), np.log(C / 6))
        np.testing.assert_allclose(
            drifting.loss[:, k], exact.loss[:, k] * np.exp(by)[:, None], rtol=1e-9
        )
    inside, beyond = (np.log(drifting.loss / exact.loss)[:, k].std(0).mean() for k in (0, 1))
    assert beyond > 5 * inside > 0


def test_sizes_on_a_frontier_wander_beyond_the_runs(two, frontiers):
    drifting, exact = frontiers
    ratio = np.log(drifting.n_params / exact.n_params)[:, 1]
    expected = objectives_of(two).wander.size * REACH
    np.testing.assert_allclose(ratio, np.repeat(expected[:, None], ratio.shape[1], 1), atol=1e-6)
    assert expected.std() == pytest.approx(0.08 * REACH, rel=0.3)  # of 60 draws
    grown = drifting.exponent[:, 1] - exact.exponent[:, 1]
    np.testing.assert_allclose(grown[:, 0], expected / REACH, atol=1e-6)
    np.testing.assert_allclose(drifting.exponent[:, 0], exact.exponent[:, 0], atol=1e-6)


def test_closed_forms_are_the_numerical_frontier(two, frontiers, monkeypatch):
    plane = frontiers[0].plane
    log_r = np.log([0.05, 0.2, 0.5])
    closed = sizes.two_by_two(plane, log_r)
    monkeypatch.setattr(sizes, "closed_form", lambda plane: False)
    for one, other in zip(closed, sizes.two_by_two(plane, log_r), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_weights_are_those_under_which_a_point_is_the_best(frontiers):
    """By brute force: no size or ratio is better under the weights that a point implies."""
    answer = frontiers[0]
    log_n, log_r = np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-2, 2, 81), indexing="ij")
    for draw in (2, 41):
        weight = answer.weight[draw, 1, 20]
        size = np.log(answer.n_params[draw, 1, 20]) - answer.plane.wander.size[draw, 1]
        at = np.log(answer.shares[20, 1] / answer.shares[20, 0])
        found = answer.plane.losses(
            np.array(draw), size + log_n, two_shares(at + log_r), answer.budgets[1]
        )
        assert (found @ weight).min() >= answer.loss[draw, 1, 20] @ weight - 1e-8


def test_the_single_choice_is_judged_where_optima_wander_to(two):
    """Regrets and the best choice, by brute force over sizes and ratios."""
    C, weights = budget(two, 100), np.array([0.9, 0.1])
    answer = bs.pareto(two, C=C, r="0.01:1.0", weights={"text": 9, "multimodal": 1})
    choice, of, every = answer.choices[0], objectives_of(two), np.arange(60)
    size, share = of.wander.size * REACH, of.wander.shares * REACH
    assert log_sd(choice.n_params) > 0.8 * size.std()
    turned = np.log(choice.composition[:, 1] / choice.composition[:, 0])
    assert turned.std() > 0.3

    def score(log_n, log_r):
        """Weighted losses, shape (draw, ...)."""
        x = np.expand_dims(log_n, 0) - size.reshape(-1, *(1,) * np.ndim(log_n))
        shift = (share[:, 1] - share[:, 0]).reshape(-1, *(1,) * np.ndim(log_n))
        r = np.expand_dims(log_r, 0) - shift
        D = two_shares(r) * (C / 6 / np.exp(x))[..., None]
        return of.losses(every.reshape(-1, *(1,) * np.ndim(log_n)), np.exp(x), D) @ weights

    at = np.log(choice.shares[1] / choice.shares[0])
    best = (answer.loss[:, 0] @ weights).min(axis=1)
    here = score(np.log(choice.N), at)
    np.testing.assert_allclose(choice.regret, np.maximum(here - best, 0), atol=1e-9)
    grid = np.meshgrid(np.log(choice.N) + np.linspace(-1, 1, 21), np.log(answer.values[::4]))
    assert score(*grid).mean(0).min() > here.mean() - 1e-4
    plain = answer.plane.losses(every, np.log(choice.N), choice.shares, C)
    np.testing.assert_allclose(choice.loss, plain)  # what `predict` says of that run
    assert "log ratio of two best shares is taken to err by 0.1 per e-fold" in " ".join(
        str(answer).split()
    )


def test_answers_beyond_the_runs_say_what_their_intervals_allow_for(two, exact, pair):
    wide, narrow = "Intervals widen with the reach", "Intervals take the law as exact"
    for fit, text, other in ((two, wide, narrow), (exact, narrow, wide)):
        C = budget(fit, 100)
        answers = (bs.pareto(fit, C=C, r=[0.1, 0.2]), bs.optima(fit, C))
        for answer in answers:
            said = " ".join(answer.warnings)
            assert text in said
            assert other not in said


@pytest.fixture(scope="module")
def mixed(pair):
    """The best mixtures of a free size, inside the runs and far beyond."""
    return tuple(bs.mix(pair, C=budget(pair, factor), draws=None) for factor in (0.5, 100.0))


def test_the_best_mixture_is_no_worse_than_scipys_on_the_drifting_losses(pair, mixed):
    C, of = budget(pair, 100), objectives_of(pair)
    problem = read_problem(of, pair.extent.cost, C=C, D=None, N=None, unique=None, limits=None,
                           objective=None, weights=None, targets=None)  # fmt: skip
    floor = problem.floor
    assert floor is not None
    for draw in (0, 5):
        by = of.wander.take(np.array([draw])).at(REACH)

        def value(shares, log_total, draw=draw, by=by):
            """Mean of L - E with drift, of each draw's moved surface."""
            total = 1e12 * np.exp(log_total)
            turned = shares * np.exp(-by.shares)
            D = turned / turned.sum(-1, keepdims=True) * (total * np.exp(by.size))[:, None]
            size = C / 6 / D.sum(-1)
            return (of.losses(draw, size, D) - floor[draw]).mean(-1)

        lowest = by_scipy(value, np.zeros(2), np.ones(2), free=(-9.0, 9.0))
        assert mixed[1].draws["value"][draw] < lowest + 1e-7


def test_mixtures_inside_the_runs_are_those_of_losses_moved_by_the_drift(pair, mixed):
    of = objectives_of(pair)
    inside = mixed[0].draws
    losses = of.losses(np.arange(of.size), inside["N"], inside["tokens"], _unique(of, inside))
    np.testing.assert_allclose(inside["loss"], losses, rtol=1e-12)
    by = of.drift_at(np.arange(of.size), np.log(budget(pair, 0.5) / 6))
    np.testing.assert_allclose(
        inside["value"], (losses - of.irreducible(np.arange(of.size)) * np.exp(by)).mean(1)
    )
    assert np.abs(by).max() > 1e-4


def _unique(of, draws):
    return draws["tokens"][:, of.places]


def test_best_shares_and_sizes_wander_beyond_and_cost_regret(pair, mixed):
    inside, beyond = mixed
    of = objectives_of(pair)
    ratio = [np.log(x.draws["share"][:, 1] / x.draws["share"][:, 0]) for x in mixed]
    shift = (of.wander.shares[:, 1] - of.wander.shares[:, 0]) * REACH
    assert np.corrcoef(ratio[1], shift)[0, 1] > 0.9
    assert ratio[1].std() > 2 * ratio[0].std()
    assert log_sd(beyond.draws["N"]) > 2 * log_sd(inside.draws["N"])
    assert beyond.recommended.expected_regret > 10 * inside.recommended.expected_regret
    assert "taken to err by 0.1 per e-fold" in " ".join(beyond.notes)
    assert not any("taken to err" in n for n in inside.notes)


def test_where_the_size_is_given_only_shares_wander(pair):
    of, cost = objectives_of(pair), pair.extent.cost
    asked = {"unique": None, "limits": None, "objective": "worst", "weights": None, "targets": None}
    fixed = read_problem(of, cost, C=None, D="400T", N="1T", **asked)
    assert not fixed.wander.size.any()
    assert fixed.wander.shares.any()
    free = read_problem(of, cost, C=budget(pair, 100), D=None, N=None, **asked)
    np.testing.assert_allclose(free.wander.size, of.wander.size * REACH)
    assert free.floor is not None
    assert not read_problem(of, cost, C=budget(pair), D=None, N=None, **asked).wander


def test_optima_by_composition_have_drift_and_wander(two, exact):
    C = [budget(two) / 100, budget(two, 100)]
    one, other = (bs.optima(f, C, composition=[0.1, 0.5]) for f in (two, exact))
    of, name = objectives_of(two), 1
    share = np.array([0.1, 0.5]) / np.array([1.1, 1.5])
    place = np.log(np.array(C) / 6 / share[:, None])
    by = of.paths[name].at(np.arange(of.size)[:, None, None], place)
    np.testing.assert_allclose(
        one.draws["loss"][:, name], other.draws["loss"][:, name] * np.exp(by)
    )
    moved = np.log(one.draws["N_opt"] / other.draws["N_opt"])[:, name]
    np.testing.assert_allclose(moved[:, :, 0], 0, atol=1e-12)
    reach = of.efolds_beyond(np.exp(place))
    np.testing.assert_allclose(moved, of.wander.size[:, None, None] * reach, atol=1e-9)
    grown = (one.draws["a"] - other.draws["a"])[:, name, 0, 1]
    np.testing.assert_allclose(grown, of.wander.size, atol=1e-9)
    np.testing.assert_allclose(one.draws["a"] + one.draws["b"], 1.0)
    product = 6 * one.draws["N_opt"] * one.draws["D_opt"]
    np.testing.assert_allclose(product, np.broadcast_to(C, product.shape))


def test_worth_of_tokens_doesn_t_drift_but_wanders_beyond(pair):
    plain = made(PAIR, False, draws=6)
    inside: Any = [bs.worth(f).exchange for f in (pair, plain)]
    np.testing.assert_allclose(*inside, rtol=1e-6)
    far: Any = [bs.worth(f, N="10T", D={"a": "1000T", "b": "1000T"}) for f in (pair, plain)]
    one, other = (np.log(np.abs(x.exchange[:, 0, 1])) for x in far)
    assert np.abs(one - other).max() > 0.05
    assert "a drift along compute changes all worths of a target alike" in " ".join(far[0].notes)


def test_a_drift_along_tokens_is_followed_where_the_size_is_free():
    """It differs between choices of one budget, so that no closed form holds."""
    fit = made(decoupled(), replace(DRIFT, along="D", size=0.0, shares=0.0), draws=3)
    C = budget(fit, 100)
    answer = bs.pareto(fit, C=C, r=[0.1, 0.2])
    assert not answer.plane.fixed_place
    D = answer.n_tokens[:, 0]
    again = objectives_of(fit).losses(np.arange(6)[:, None], answer.n_params[:, 0], D)
    np.testing.assert_allclose(answer.loss[:, 0], again, rtol=1e-9)


def test_courses_with_drift_are_no_lines_and_cross_where_the_law_says():
    """A backbone's loss at tokens far beyond the data has the drift there in it."""
    plain = loss_fit()
    law = plain.law.with_drift(Drift(scale=LogNormal(0.1, 0.2)))
    fit = made_up(law, plain.runs, law.default_noise, seed=6, draws=10, spread=0.2)
    runners = bs.select(fit, "1e21", params=SIZES, offsets=False).contenders
    assert not runners.straight
    tokens = np.full((1, 6), 1e13)
    laws, places, inputs = runners.parts[0]
    found = runners.reach(tokens)[:, 0, places[0]]
    own = {name: v[0] for name, v in inputs.items()}
    np.testing.assert_allclose(found, laws.mean(np.arange(20), **own, D=1e13))
    moved = found / laws.exact(np.arange(20), **own, D=1e13)
    assert np.abs(np.log(moved)).max() > 0.05
