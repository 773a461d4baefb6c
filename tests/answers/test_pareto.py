"""Pareto frontiers: against constrained optimisers, monotone at every draw, odds, weights, knee."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.optimize import minimize

import bayescale as bs
from bayescale.answers.pareto import frontier, sizes
from bayescale.answers.pareto.plane import two_shares
from bayescale.choosing import choose
from bayescale.data import read_runs
from bayescale.data.designs.text_multimodal import design
from bayescale.laws.mixture import mixture

from .conftest import made_up

BUDGET = 1e22


def paper_runs(law="decoupled"):
    return choose(law, design().assign(loss=2.0), {})


def mixed(sources: tuple[str, ...] = ("text", "vision"), **options):
    law = mixture(sources, **options)
    table = pd.DataFrame(law.design and law.design()).assign(loss=2.0)
    return law, read_runs(table, columns={"loss": "loss", "D": ""})


@pytest.fixture(scope="module")
def fit():
    return made_up(*paper_runs())


@pytest.fixture(scope="module")
def both():
    """Both objectives vary, by their shares."""
    return made_up(*paper_runs("decoupled:varying=text+multimodal,composition=share"))


@pytest.fixture(scope="module")
def answer(fit):
    return bs.pareto(fit, BUDGET)


def bettered(answer, draw, point):
    """The least second loss that SLSQP finds where the first is no higher than at a point."""
    plane, first = answer.plane, answer.loss[draw, 0, point, 0]

    def at(z):
        return plane.losses(np.array(draw), z[0], two_shares(z[1]), answer.budgets[0])

    start = np.array([np.log(answer.n_params[draw, 0, point]) + 0.2, 0.0])
    start[1] = np.log(answer.shares[point, 1] / answer.shares[point, 0]) - 0.1
    found = minimize(
        lambda z: at(z)[1],
        start,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda z: first - at(z)[0]}],
        options={"ftol": 1e-14, "maxiter": 300},
    )
    return at(found.x)


@pytest.mark.parametrize("kind", ["fit", "both", "mixture", "additive"])
def test_no_constrained_optimiser_does_better_at_25_draws(request, kind):
    made = {
        "mixture": lambda: made_up(*mixed(repetition=("vision",))),
        "additive": lambda: made_up(*mixed(transfer="additive", repetition=False)),
    }
    fitted = made[kind]() if kind in made else request.getfixturevalue(kind)
    found = bs.pareto(fitted, BUDGET)
    draws = np.random.default_rng(1).choice(len(found.loss), 25, replace=False)
    for draw in draws:
        for point in (10, 40):
            if not found.efficient[draw, 0, point]:
                continue
            other, mine = bettered(found, draw, point), found.loss[draw, 0, point]
            assert other[0] <= mine[0] * (1 + 1e-6)
            assert other[1] == pytest.approx(mine[1], rel=1e-6)
    assert found.efficient[draws][:, 0, [10, 40]].mean() > 0.5


def test_a_dense_grid_of_sizes_and_ratios_holds_nothing_better(fit, answer):
    log_n = np.log(np.median(answer.n_params)) + np.linspace(-1.5, 1.5, 301)
    log_r = np.log(answer.values[:, None])
    for draw in range(0, 100, 5):
        grid = answer.plane.losses(np.array(draw), log_n, two_shares(log_r), BUDGET).reshape(-1, 2)
        mine = answer.loss[draw, 0]
        gain = mine[:, None] - grid  # of the grid's points over the frontier's, in both losses
        assert gain.min(-1).max() < 1e-6


@limits(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.05, 0.3, 0.8]),
    budget=st.floats(18, 27),
    law=st.sampled_from(["decoupled", "decoupled:varying=text+multimodal", "mixture"]),
)
def test_frontiers_are_monotone_and_undominated_at_every_draw(seed, spread, budget, law):
    law, runs = mixed(repetition=False) if law == "mixture" else paper_runs(law)
    found = bs.pareto(made_up(law, runs, seed=seed, spread=spread, draws=10), 10**budget)
    for losses, kept, weight in zip(found.loss, found.efficient, found.weight, strict=True):
        curve, w = losses[0][kept[0]], weight[0][kept[0]]
        order = np.argsort(curve[:, 0])
        assert (np.diff(curve[order, 0]) > 0).all()
        assert (np.diff(curve[order, 1]) < 0).all()
        assert ((w > 0) & (w < 1)).all()
        np.testing.assert_allclose(w.sum(1), 1, rtol=1e-12)


def test_closed_forms_are_those_of_the_law_itself(fit, both, monkeypatch):
    fits = [fit, both, made_up(*mixed(repetition=("vision",)))]
    closed = [bs.pareto(f, [1e20, 1e24], r=[0.12, 0.25]) for f in fits]
    monkeypatch.setattr(sizes, "closed_form", lambda plane: False)
    for f, mine in zip(fits, closed, strict=True):
        slow = bs.pareto(f, [1e20, 1e24], r=[0.12, 0.25])
        np.testing.assert_allclose(mine.loss, slow.loss, rtol=1e-9)
        np.testing.assert_allclose(mine.n_params, slow.n_params, rtol=1e-6)
        np.testing.assert_allclose(mine.weight, slow.weight, rtol=1e-5)


def test_the_published_condition_holds(fit):
    """(v_m h_t - g)(u_t - v_t) + v_t h_m (u_m - v_m) = 0, w/(1-w) = (v_m h_t - g)/(v_t h_m)."""
    r = 0.2
    found = bs.pareto(fit, BUDGET, r=r)
    law, ratio = fit.law, np.array([r])
    draw, h = np.arange(len(found.loss)), {"text": 1 / (1 + r), "multimodal": r / (1 + r)}
    view, N = found.plane.objectives, found.n_params[:, 0, 0]
    assert law.axes["objective"] == ("text", "multimodal")

    def at(step_n=0.0, step_t=0.0, step_m=0.0):
        D = BUDGET / (6 * N)
        tokens = np.stack(
            [D * h["text"] * np.exp(step_t), D * h["multimodal"] * np.exp(step_m)], -1
        )
        return view.losses(draw, N * np.exp(step_n), tokens)

    def slope(**step):
        up, down = ({k: s * v for k, v in step.items()} for s in (1, -1))
        return (at(**up) - at(**down)) / 2e-4

    u = -slope(step_n=1e-4)
    v_t = -slope(step_t=1e-4, step_m=1e-4)[:, 0]  # r stays: text has its own tokens alone
    v_m = -slope(step_t=1e-4, step_m=1e-4)[:, 1]
    g = -slope(step_t=1e-4)[:, 1]  # r falls as text grows at fixed multimodal tokens
    one = v_m * h["text"] - g
    terms = np.stack([one * (u[:, 0] - v_t), v_t * h["multimodal"] * (u[:, 1] - v_m)])
    np.testing.assert_allclose(terms.sum(0), 0, atol=1e-6 * np.abs(terms).max())
    odds = found.weight[:, 0, 0, 0] / found.weight[:, 0, 0, 1]
    np.testing.assert_allclose(odds, one / (v_t * h["multimodal"]), rtol=1e-5)
    assert ratio.shape == found.values.shape


def test_weights_choose_what_implies_them(answer):
    point = 20
    implied = np.median(answer.weight[:, 0, point], axis=0)
    (choice,) = answer.choose(dict(zip(answer.objectives, implied, strict=True)))
    assert choice.shares[1] == pytest.approx(answer.shares[point, 1], rel=0.1)
    back = answer.weights_of(float(answer.values[point]))
    np.testing.assert_allclose(back, answer.weight[:, :, point])
    assert np.nanmin(answer.weights_of(0.2)) > 0


def test_the_single_choice_is_the_best_in_expectation(answer):
    weights = {"text": 0.9, "multimodal": 0.1}
    (choice,) = answer.choose(weights)
    w, every = np.array([0.9, 0.1]), np.arange(len(answer.loss))

    def expected(log_n, log_r):
        return (answer.plane.losses(every, log_n, two_shares(log_r), BUDGET) @ w).mean()

    rough = np.log(answer.values)
    best = min(expected(x, y) for x in np.log(choice.N) + np.linspace(-0.5, 0.5, 41) for y in rough)
    assert (choice.loss @ w).mean() == pytest.approx(best, abs=1e-5)
    least = (answer.loss[:, 0] @ w).min(1)
    np.testing.assert_allclose(choice.regret, np.maximum(choice.loss @ w - least, 0))
    assert pytest.approx(BUDGET) == 6 * choice.N * choice.D
    record = choice.to_dict(answer.sources)
    assert record["D"]["text"] + record["D"]["multimodal"] == pytest.approx(choice.D)
    (worst,) = answer.choose(weights, by="worst")
    gaps = worst.loss - np.min(answer.loss[:, 0], axis=1)
    assert (w * gaps).max(-1).mean() <= (w * (choice.loss - answer.loss[:, 0].min(1))).max(
        -1
    ).mean()


def test_a_choice_at_the_end_of_the_mixtures_is_told(answer):
    (last,) = answer.choose({"text": 1, "multimodal": 9})
    (inside,) = answer.choose({"text": 0.9, "multimodal": 0.1})
    assert (last.at_end, inside.at_end) == (True, False)
    assert last.shares[1] == pytest.approx(answer.shares[-1, 1])
    assert "others may be better" in last.describe(answer.sources, answer.unit)


def test_odds_of_targets_count_draws(answer):
    target = np.median(answer.loss[:, 0, 25], axis=0)
    named = dict(zip(answer.objectives, target, strict=True))
    every, log_n = np.arange(100), np.log(np.median(answer.n_params)) + np.linspace(-1, 1, 81)
    log_r = np.log(np.geomspace(answer.values[0], answer.values[-1], 120))[:, None]
    reached = [
        (answer.plane.losses(np.array(k), log_n, two_shares(log_r), BUDGET) <= target).all(-1).any()
        for k in every
    ]
    assert answer.attainable(**named)[0] == pytest.approx(np.mean(reached), abs=0.011)
    assert 0 < np.mean(reached) < 1
    assert answer.attainable(text=9, multimodal=9)[0] == 1


def test_a_target_below_some_draws_irreducible_loss_is_a_probability(fit):
    found = bs.pareto(fit, 1e26)
    E = fit.draws("E")
    low = float(np.quantile(E[:, 0], 0.6))
    p = found.attainable(text=low, multimodal=9.0)[0]
    assert 0 < p <= 0.6
    assert found.attainable(text=float(E[:, 0].min()), multimodal=9.0)[0] == 0


def test_contours_of_attainment_are_quantiles_of_the_frontier(answer):
    low, middle, high = answer.attainment([0.05, 0.5, 0.95])
    for contour, level in ((low, 0.05), (middle, 0.5), (high, 0.95)):
        assert (np.diff(contour[:, 1]) <= 0).all()
        corner = contour[len(contour) // 2]
        share = answer.attainable(**dict(zip(answer.objectives, corner, strict=True)))[0]
        assert share == pytest.approx(level, abs=0.02)


def test_hypervolume_and_knee_of_a_known_curve():
    x = np.linspace(0, 1, 101)
    curve = np.stack([x, (1 - np.sqrt(x)) ** 2], -1)[None, None]  # the knee is where x = 1/4
    kept = np.ones((1, 1, 101), bool)
    assert frontier.efficient(curve).all()
    assert frontier.knee(curve, kept, x)[0, 0] == pytest.approx(0.25, abs=1e-3)
    uneven = np.delete(x, [20, 24, 25, 31])
    found = frontier.knee(np.delete(curve, [20, 24, 25, 31], 2), kept[..., 4:], uneven)
    assert found[0, 0] == pytest.approx(0.25, abs=2e-3)
    area = frontier.hypervolume(curve, kept, np.array([1.0, 1.0]))[0, 0]
    assert area == pytest.approx(1 - 1 / 6, abs=0.01)
    assert not frontier.efficient(np.array([[[[1.0, 1.0], [2.0, 2.0]]]]))[0, 0, 1]
    assert frontier.attains(curve, kept, np.array([0.25, 0.25]))[0, 0]
    assert not frontier.attains(curve, kept, np.array([0.25, 0.24]))[0, 0]
    assert frontier.attains(curve, kept, np.array([0.255, 0.2451]))[0, 0]  # between two points


def test_exponents_are_the_slope_of_the_efficient_size(fit):
    ends = bs.pareto(fit, [BUDGET / np.e**0.25, BUDGET * np.e**0.25], r=[0.1, 0.3])
    found = bs.pareto(fit, BUDGET, r=[0.1, 0.3])
    grows = np.log(ends.n_params[:, 1] / ends.n_params[:, 0]) / 0.5
    np.testing.assert_allclose(found.exponent[:, 0], grows, rtol=1e-6)


def test_more_losses_and_sources_on_a_lattice():
    law, runs = mixed(("text", "vision", "audio"), repetition=False)
    found = bs.pareto(
        made_up(law, runs, draws=10), "1e22", weights=dict.fromkeys(law.axes["target"], 1)
    )
    assert found.kind == "mixture"
    np.testing.assert_allclose(found.shares.sum(1), 1)
    np.testing.assert_allclose(6 * found.n_params * found.n_tokens.sum(-1), 1e22)
    for losses, kept in zip(found.loss[:, 0], found.efficient[:, 0], strict=True):
        left = losses[kept]
        worse = (left[:, None] >= left).all(-1) & (left[:, None] > left).any(-1)
        assert not worse.any()
    (choice,) = found.choices
    assert choice.shares.sum() == pytest.approx(1)
    assert len(found.table().rows) == 5
    target = dict(zip(found.objectives, np.median(choice.loss, 0) + 0.05, strict=True))
    assert 0 < found.attainable(**target)[0] <= 1


def test_unique_tokens_that_run_out_cost_loss():
    law, runs = mixed(repetition=("vision",))
    fitted = made_up(law, runs, draws=10)
    enough = bs.pareto(fitted, 1e22, r=[0.1, 0.3])
    scarce = bs.pareto(fitted, 1e22, r=[0.1, 0.3], U={"vision": "5B"})
    plenty = bs.pareto(fitted, 1e22, r=[0.1, 0.3], U={"vision": "100T"})
    np.testing.assert_allclose(plenty.loss, enough.loss, rtol=1e-9)
    assert (scarce.loss[..., 1] > enough.loss[..., 1]).all()


def test_fixed_sizes_and_laws_without_one(fit):
    fixed = bs.pareto(fit, BUDGET, N="2B", r=[0.1, 0.2, 0.3])
    tokens = bs.pareto(fit, D=BUDGET / 12e9, N=2e9, r=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(fixed.loss, tokens.loss, rtol=1e-12)
    assert fixed.n_params == pytest.approx(2e9)
    assert np.isnan(fixed.exponent).all()
    law, runs = choose("decoupled:size=no", design().assign(loss=2.0, N=1e9), {})
    small = made_up(law, runs)
    by_tokens = bs.pareto(small, D="100B")
    by_compute = bs.pareto(small, C=6e20)
    np.testing.assert_allclose(by_tokens.loss, by_compute.loss, rtol=1e-12)
    np.testing.assert_allclose(by_tokens.n_tokens.sum(-1), 1e11)
    assert "N" not in by_tokens.table().columns


def test_records_frames_and_draws(answer):
    told = replace(answer, choices=tuple(answer.choose({"text": 3, "multimodal": 1})))
    record = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert record["frontiers"][0]["C"] == BUDGET
    marked = [p for p in record["frontiers"][0]["points"] if p["marked"]]
    assert [round(p["r"], 6) for p in marked] == [0.1, 0.2, 0.3]
    assert set(marked[0]["D"]) == {"text", "multimodal"}
    assert record["frontiers"][0]["choices"][0]["weights"]["text"] == pytest.approx(0.75)
    assert {"N", "D_text", "loss_text", "weight_text"} <= set(told.to_frame()["quantity"])
    assert told.dataset.sizes["draw"] == 100
    shown = str(told)
    for words in ("knee at r", "hypervolume", "N ~ C^", "best single choice", "C = 6 N D"):
        assert words in shown.replace("\n", " ")
    tokens = answer.n_tokens[:, 0, 0]
    np.testing.assert_allclose(tokens[:, 1] / tokens[:, 0], answer.values[0], rtol=1e-12)


def test_noise_that_differs_by_objective_takes_no_part():
    law, runs = paper_runs()
    own = made_up(law, runs, noise=law.default_noise)
    assert own.model.noise.by == "objective"
    assert np.isfinite(bs.pareto(own, BUDGET, r=0.2).loss).all()


def test_runs_with_both_losses_are_kept_for_the_picture(fit, answer):
    both_seen = (design()["r"] > 0).sum() // 2
    assert answer.runs.shape == (both_seen, 2)
