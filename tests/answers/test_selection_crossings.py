"""Where one backbone overtakes another: closed form, roots, serving, other scales."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import bayescale as bs
from bayescale.answers.selection.crossing import by_roots, closed_form
from tests.answers.selection_fits import (
    SIZES,
    accuracy_fit,
    fit_of,
    loss_fit,
)


def pairs(count: int = 25) -> list[tuple[int, int, int]]:
    rng, found = np.random.default_rng(7), []
    for draw in rng.integers(0, 100, count):
        one, other = (int(m) for m in rng.choice(6, 2, replace=False))
        found.append((int(draw), one, other))
    return found


@pytest.mark.parametrize("vision", [0.0, 4e8])
def test_crossovers_in_closed_form_are_roots_of_the_law(vision):
    """Against bisection on the fit's own predictions, pair by pair and draw by draw."""
    fit = accuracy_fit()
    found = bs.select(fit, "1e21", offsets=False, vision_params=vision)
    runners, price = found.contenders, found.price
    known = bs.predict_backbones(fit, D=1e10)
    assert runners.straight
    crossed = 0
    for draw, one, other in pairs():
        C, above = closed_form(runners, price, one, other)
        if not 1e14 < C[draw] < 1e30:
            continue

        def gap(log_c, draw=draw, one=one, other=other):
            tokens = [np.exp(log_c) / (6 * (SIZES[known.models[m]] + vision)) for m in (one, other)]
            law = [
                bs.predict_backbones(fit, D=d).accuracy[draw, m]
                for d, m in zip(tokens, (one, other), strict=True)
            ]
            return law[1] - law[0]

        root: Any = brentq(gap, np.log(C[draw]) - 1, np.log(C[draw]) + 1, xtol=1e-12)
        assert np.exp(root) == pytest.approx(C[draw], rel=1e-6)
        assert above[draw] == (gap(np.log(C[draw]) + 1) > 0)
        crossed += 1
    assert crossed >= 15


def test_crossovers_by_roots_are_those_in_closed_form():
    found = bs.select(accuracy_fit(), "1e21")
    within = (1e16, 1e26)
    seen = 0
    for one, other in ((0, 5), (1, 4), (2, 3), (5, 2)):
        exact, above = closed_form(found.contenders, found.price, one, other)
        inside = (exact > within[0]) & (exact < within[1])
        rooted, over = by_roots(found.contenders, found.price, one, other, within)
        np.testing.assert_array_equal(np.isfinite(rooted), inside)
        np.testing.assert_allclose(rooted[inside], exact[inside], rtol=1e-6)
        np.testing.assert_array_equal(over[inside], above[inside])
        seen += inside.sum()
    assert seen > 40


def test_where_serving_is_paid_a_crossing_just_above_its_price_is_found():
    """There tokens rise from one to billions while the budget hardly changes."""
    fit = accuracy_fit()
    found = bs.select(fit, "1e21", inference_tokens="10B", within=("1e19", "1e24"))
    runners, price = found.contenders, found.price
    rooted, _ = by_roots(runners, price, 0, 5, (1e19, 1e24))
    some = np.flatnonzero(np.isfinite(rooted))
    assert len(some) > 50
    tokens = price.tokens(rooted[some])[:, [0, 5]]
    reached = np.stack(
        [runners.at(np.array([d]), [0, 5], t[None])[0] for d, t in zip(some, tokens, strict=True)]
    )
    assert np.abs(reached[:, 0] - reached[:, 1]).max() < 1e-8
    assert (rooted[some] > price.fixed[5]).all()


@pytest.mark.parametrize("offsets", [True, False])
def test_of_the_loss_form_the_smaller_is_better_and_crossings_are_equal_losses(offsets):
    fit = loss_fit()
    found = bs.select(fit, ["1e20", "1e22"], params=SIZES, within=("1e18", "1e24"), offsets=offsets)
    losses = found.draws["loss"]
    wins = losses[:, 0].argmin(axis=1)
    assert found.p_best[0] == pytest.approx([np.mean(wins == m) for m in range(6)])
    tokens = 1e20 / (6 * SIZES["m2"])
    S = fit.runs.table.loc[fit.runs.table["model"] == "m2", ["S_1", "S_2"]].iloc[0]
    plain = fit.predict(S_1=S["S_1"], S_2=S["S_2"], D=tokens).loss[:, 0]
    place = fit.layout.labels["model"].index("m2")
    own = fit.draws("run_sd") * fit.draws("run_offset")[:, place] * offsets
    np.testing.assert_allclose(losses[:, 0, 2], plain * np.exp(own), rtol=1e-9)
    for x in found.crossovers:
        one, other = found.models.index(x.first), found.models.index(x.second)
        some = np.flatnonzero(np.isfinite(x.C))
        at = found.contest(x.C[some]).values[some, np.arange(len(some))]
        np.testing.assert_allclose(at[:, one], at[:, other], rtol=1e-8)
    assert any(x.probability > 0 for x in found.crossovers)


def test_log_odds_cross_where_accuracies_do():
    fit = fit_of(link="logit")
    found = bs.select(fit, "1e21")
    C, _ = closed_form(found.contenders, found.price, 1, 4)
    draw = int(np.argmin(np.abs(np.log(C / 1e21))))
    at = found.contest(C[[draw]]).values[draw, 0]
    assert at[1] == pytest.approx(at[4], rel=1e-9)
    assert np.all((found.draws["accuracy"] > 0) & (found.draws["accuracy"] < 1))


def test_offsets_on_another_scale_than_the_law_are_added_there():
    noise = bs.logit_normal(runs="model")
    fit = fit_of(noise=noise)
    found = bs.select(fit, "1e21", within=("1e19", "1e23"))
    assert not found.contenders.straight
    plain = bs.select(fit, "1e21", offsets=False).draws["accuracy"][:, 0, 3]
    place = fit.layout.labels["model"].index("m3")
    own, some = fit.draws("run_sd") * fit.draws("run_offset")[:, place], (plain > 0) & (plain < 1)
    odds = np.log(plain[some] / (1 - plain[some])) + own[some]
    reached = found.draws["accuracy"][:, 0, 3]
    np.testing.assert_allclose(reached[some], 1 / (1 + np.exp(-odds)))
    assert some.mean() > 0.8
    assert np.all((reached > 0) & (reached < 1))
