"""Backbone selection on made-up posteriors: prices, P(best), regret, crossovers, refusals."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import bayescale as bs
from bayescale.answers.selection.contest import Contest
from bayescale.answers.selection.crossing import by_roots, closed_form
from bayescale.answers.selection.price import Price
from bayescale.check.at_runs import at_runs
from bayescale.data.scores import capability_scores
from bayescale.families.capability import arrange, arrange_loss
from bayescale.inference.gate import Gate, Problem
from tests.answers.conftest import made_up

SIZES = {f"m{k}": n for k, n in enumerate([1e9, 2e9, 4e9, 8e9, 14e9, 32e9])}
NO_ROLES = {"loss": "", "N": "", "C": ""}


@cache
def benchmarks(models: int = 8) -> pd.DataFrame:
    """Accuracies of models on six benchmarks, the later models stronger."""
    rng = np.random.default_rng(3)
    skill = np.linspace(-0.25, 0.3, models)[:, None] * [0.5, 0.45, 0.4, 0.4, 0.35, -0.1]
    table = np.clip(0.5 + skill + 0.05 * rng.normal(size=(models, 6)), 0.05, 0.95)
    frame = pd.DataFrame(table, columns=[f"text_{k}" for k in range(6)])
    frame.insert(0, "model", [f"m{k}" for k in range(models)])
    return frame


@cache
def table(response: str = "accuracy") -> pd.DataFrame:
    """Six backbones with four checkpoints each."""
    rng = np.random.default_rng(4)
    rows = [
        {"model": m, "D": d, "N": n, "kind": float(k % 2), "line": "ab"[k % 2]}
        for k, (m, n) in enumerate(SIZES.items())
        for d in (1e10, 2e10, 4e10, 8e10)
    ]
    frame = pd.DataFrame(rows).merge(benchmarks().iloc[:6], on="model")
    middle = 0.5 if response == "accuracy" else 1.5
    return frame.assign(**{response: middle + 0.02 * rng.normal(size=len(frame))})


def fit_of(frame=None, draws=50, gate=None, pooling=None, noise=None, **options) -> bs.Fit:
    """A made-up fit of the capability law: draws around prior medians, 0.3 wide."""
    frame = table() if frame is None else frame
    runs = bs.read_runs(frame, columns=NO_ROLES)
    law, runs = arrange(runs, benchmarks="text_*", components=2, **options)
    made = made_up(law, runs, noise or law.default_noise, pooling, seed=5, draws=draws, spread=0.3)
    return made if gate is None else replace(made, gate=gate)


@cache
def accuracy_fit() -> bs.Fit:
    return fit_of()


@cache
def loss_fit() -> bs.Fit:
    frame = table("loss").drop(columns="N")
    runs = bs.read_runs(frame, columns={"N": "", "C": ""})
    law, runs = arrange_loss(runs, benchmarks="text_*", components=2)
    return made_up(law, runs, law.default_noise, seed=6, spread=0.2)


def test_tokens_are_what_the_budget_buys():
    price = Price(np.array([1e9, 8e9]), vision_params=4e8, inference_tokens=1e10)
    tokens = price.tokens(np.array([1e20, 1e21]))
    spent = 6 * 1.4e9 * tokens[:, 0] + 2 * 1.4e9 * 1e10
    assert spent == pytest.approx([1e20, 1e21], rel=1e-12)
    assert np.isnan(tokens[0, 1])  # serving alone takes 1.68e20
    np.testing.assert_allclose(price.budget(tokens[1:, 1])[0, 1], 1e21, rtol=1e-12)
    assert (
        price.describe()
        == "C = 6 (N + 400M of vision) D + 2 (N + 400M of vision) x 10B tokens served"
    )


def test_each_backbone_reaches_its_law_and_its_own_offset():
    fit = accuracy_fit()
    found = bs.select(fit, "1e21")
    plain = bs.select(fit, "1e21", offsets=False)
    for k, name in enumerate(found.models):
        tokens = 1e21 / (6 * SIZES[name])
        law = bs.predict_backbones(fit, D=tokens).accuracy[:, k]
        np.testing.assert_allclose(plain.draws["accuracy"][:, 0, k], law, rtol=1e-9)
        place = fit.layout.labels["model"].index(name)
        own = fit.draws("run_sd") * fit.draws("run_offset")[:, place]
        np.testing.assert_allclose(found.draws["accuracy"][:, 0, k], law + own, rtol=1e-9)


def test_at_the_tokens_of_a_run_it_is_what_the_fit_expects_of_that_run():
    """The same path as checks take, from another side."""
    fit = accuracy_fit()
    there = at_runs(fit, fit.runs)
    row = 9  # model m2, 2e10 tokens
    name, tokens = str(fit.runs.table["model"][row]), float(fit.runs.column("D")[row])
    found = bs.select(fit, 6 * SIZES[name] * tokens)
    own = fit.draws("run_sd") * fit.draws("run_offset")[:, fit.layout.labels["model"].index(name)]
    reached = found.draws["accuracy"][:, 0, found.models.index(name)]
    np.testing.assert_allclose(reached, there.mean[:, row] + own, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_a_contest_counts_wins_and_regret_draw_by_draw(seed, larger):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(60, 2, 5))
    values[:, 1, 3] = np.nan
    contest = Contest(values, larger)
    p, regret, ranks = contest.probability(), contest.regret(), contest.ranks()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[1, 3] == 0
    assert np.isnan(regret[:, 1, 3]).all()
    assert (ranks[:, 1, 3] == 5).all()
    assert np.nanmin(regret) == 0
    for d in range(60):
        best = max(values[d, 0]) if larger else min(values[d, 0])
        np.testing.assert_allclose(regret[d, 0], np.abs(best - values[d, 0]))
        assert values[d, 0, np.argmin(ranks[d, 0])] == best
    # the least expected regret is the best mean
    mean = values[:, 0].mean(axis=0)
    assert np.argmin(regret[:, 0].mean(axis=0)) == (np.argmax(mean) if larger else np.argmin(mean))


def test_standings_put_least_regret_first_and_tell_the_probability():
    found = bs.select(accuracy_fit(), ["1e20", "1e22"])
    for b, listed in enumerate(found.standings):
        regrets = [s.regret["mean"] for s in listed]
        assert regrets == sorted(regrets)
        assert [s.rank for s in listed] == list(range(1, 7))
        assert sum(s.p_best for s in listed) == pytest.approx(1)
        wins = found.draws["accuracy"][:, b].argmax(axis=1)
        for s in listed:
            assert s.p_best == pytest.approx(np.mean(wins == found.models.index(s.model)))
    assert found.chosen == tuple(listed[0].model for listed in found.standings)
    assert "choose" in str(found)
    assert found.to_frame().shape[0] == 12
    assert found.dataset["accuracy"].dims == ("draw", "budget", "model")


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


def test_families_have_their_own_parameters_and_a_new_one_is_drawn():
    pooling = {"A": bs.partial("family"), "P0": bs.partial("family")}
    fit = fit_of(pooling=pooling, families="line")
    found = bs.select(fit, "1e21", offsets=False)
    for name, family in (("m2", "a"), ("m3", "b")):
        tokens = 1e21 / (6 * SIZES[name])
        own = bs.predict_backbones(fit, D=tokens, family=family)
        k = own.models.index(name)
        np.testing.assert_allclose(found.draws["accuracy"][:, 0, k], own.accuracy[:, k], rtol=1e-9)
    new = benchmarks().iloc[6:].assign(N=["7B", "70B"], family=["a", "c"])
    fresh = bs.select(fit, "1e21", table=new, offsets=False)
    known = bs.select(fit, "1e21", table=new, offsets=False, family="a")
    np.testing.assert_allclose(
        fresh.draws["accuracy"][:, 0, 0], known.draws["accuracy"][:, 0, 0], rtol=1e-12
    )
    assert fresh.draws["accuracy"][:, 0, 1].std() > known.draws["accuracy"][:, 0, 1].std()


def test_covariates_are_the_models_own_else_the_mean_else_as_told():
    frame = table().assign(year=np.tile([0.0, 1.0, 2.0, 3.0], 6))
    fit = fit_of(frame, effects=("kind", "year"))
    found = bs.select(fit, "1e21", offsets=False)
    assert any("year = 1.5, the runs' mean" in n for n in found.notes)
    told = bs.select(fit, "1e21", offsets=False, kind=0.0, year=1.5)
    moved = found.draws["accuracy"][:, 0] - told.draws["accuracy"][:, 0]
    np.testing.assert_allclose(moved[:, [0, 2, 4]], 0, atol=1e-12)
    np.testing.assert_allclose(moved[:, 1], fit.draws("effect_kind"), rtol=1e-9)


def test_new_backbones_come_from_their_scores_with_an_offset_of_their_own():
    new = benchmarks().iloc[6:].assign(size_b=[7.0, 70.0])
    fit = accuracy_fit()
    found = bs.select(fit, "1e22", table=new, params="size_b")
    assert found.price.n_params == pytest.approx([7e9, 70e9])
    plain = bs.predict_backbones(fit, new, D=1e22 / (6 * 7e9)).accuracy[:, 0]
    own = (found.draws["accuracy"][:, 0, 0] - plain) / fit.draws("run_sd")
    assert abs(own.mean()) < 4 / np.sqrt(len(own))
    assert own.std() == pytest.approx(1, abs=4 / np.sqrt(2 * len(own)))
    assert any("drawn, since the fit hasn't seen them" in n for n in found.notes)


def test_one_too_strong_for_the_law_is_flagged():
    strong = benchmarks().iloc[6:].copy()
    strong.iloc[1, 1:] = 0.97
    found = bs.select(accuracy_fit(), "1e21", table=strong.assign(N=["7B", "70B"]))
    said = [w for w in found.warnings if "B_hat may be below 0" in w]
    assert said
    assert "m7" in said[0]
    record = {s.model: s.to_dict("accuracy") for s in found.standings[0]}
    assert record["m7"]["B_hat"]["below_zero"] > 0.05


def test_without_a_data_term_the_best_is_told_without_budgets():
    fit = fit_of(table().drop(columns=["D", "N"]).drop_duplicates("model"))
    found = bs.select(fit)
    assert found.p_best.shape == (1, 6)
    assert found.crossovers == ()
    assert found.p_best[0].sum() == pytest.approx(1)
    assert "C" not in str(found).splitlines()[2]
    assert found.to_dict()["cost"] == ""


def test_budgets_beyond_the_data_and_failed_fits_are_told():
    failed = Gate((Problem("divergences", "many", "do"),), 1.2, 50.0, 50.0, 9, 0.2)
    found = bs.select(fit_of(gate=failed), "1e24")
    assert found.converged is False
    assert found.to_dict()["converged"] is False
    assert any(w.startswith("divergences") for w in found.warnings)
    assert any("tokens lie beyond the data" in w for w in found.warnings)
    inside = bs.select(accuracy_fit(), 6 * 2e9 * 2e10, backbones=["m0", "m1"])
    assert not any("beyond the data" in w for w in inside.warnings)


def test_what_a_budget_does_not_pay_for_is_left_out():
    found = bs.select(accuracy_fit(), "1e20", inference_tokens="2B")
    names = [s.model for s in found.standings[0]]
    assert "m5" not in names  # serving takes 1.28e20
    assert any("doesn't pay for m5" in n for n in found.notes)
    assert found.p_best[0, found.models.index("m5")] == 0


BAD = {
    "no budget": ({}, "reads tokens: give a budget"),
    "budget 0": ({"C": 0}, "C = 0.0 is not a finite number above zero"),
    "budget below 0": ({"C": "-1e20"}, "C = -1e20 is not a finite number above zero"),
    "tower": ({"C": 1e21, "vision_params": -4e8}, "vision_params: N = -400000000.0 is not"),
    "served": ({"C": 1e21, "inference_tokens": "-1B"}, "inference_tokens: D = -1B"),
    "unknown": ({"C": 1e21, "backbones": ["m0", "m-1"]}, "no backbone 'm-1' in the fit.*mean 'm1'"),
    "one": ({"C": 1e21, "backbones": "m0"}, "a choice needs two backbones"),
    "poor": ({"C": 1e18, "inference_tokens": "1B"}, "trains no backbone on a single token"),
    "column": ({"C": 1e21, "params": "size"}, "the runs has no column 'size'"),
    "some": ({"C": 1e21, "params": {"m0": 1e9}}, "N isn't known for m1, m2, m3, m4, m5: give"),
    "stranger": ({"C": 1e21, "params": {"x9": 1e9}}, "params names 'x9', which isn't among"),
    "size": ({"C": 1e21, "params": SIZES | {"m0": -1}}, "parameters of 'm0': N = -1"),
    "range": ({"C": 1e21, "within": (1e22, 1e20)}, "within is .* lower one first"),
    "leaders": ({"C": 1e21, "leaders": -1}, "leaders is -1"),
    "covariate": ({"C": 1e21, "chat": 1.0}, "unknown argument 'chat'"),
    "family": ({"C": 1e21, "family": "a"}, "knows no families"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=BAD)
def test_questions_that_make_no_sense_are_refused_in_one_line(case):
    asked, message = BAD[case]
    with pytest.raises(bs.BayescaleError, match=message) as caught:
        bs.select(accuracy_fit(), **asked)
    assert "\n" not in str(caught.value)


def test_sizes_must_be_known_and_one_a_model():
    fit = fit_of(table().drop(columns="N"))
    with pytest.raises(bs.DataError, match="N isn't known for m0, m1, m2, m3, m4, m5"):
        bs.select(fit, 1e21)
    two = fit_of(table().assign(N=np.arange(24) + 1e9))
    with pytest.raises(bs.DataError, match="column 'N' gives 'm0' several sizes"):
        bs.select(two, 1e21)
    silent = benchmarks().iloc[6:].assign(N=1e9)
    silent.iloc[1, 1:7] = np.nan
    with pytest.raises(bs.DataError, match="model 'm7' has no score on any"):
        bs.select(accuracy_fit(), 1e21, table=silent)


def test_laws_without_backbones_or_tokens_are_refused(chinchilla):
    with pytest.raises(bs.FitError, match="law 'chinchilla' is no capability law: it has no backb"):
        bs.select(chinchilla, 1e21)
    plain = fit_of(table().drop(columns=["D", "N"]).drop_duplicates("model"))
    with pytest.raises(bs.FitError, match="has no data term, so that compute changes nothing"):
        bs.select(plain, 1e21)
    scores = capability_scores(benchmarks(), components=2)
    frame = table().drop(columns=[c for c in table() if c.startswith("text_")])
    points = dict(zip(scores.models, scores.array, strict=True))
    for k in range(2):
        frame = frame.assign(**{f"S_{k + 1}": [points[m][k] for m in frame["model"]]})
    law, runs = arrange(bs.read_runs(frame, columns=NO_ROLES))
    bare = made_up(law, runs, law.default_noise)
    assert bs.select(bare, 1e21).models == tuple(SIZES)
    with pytest.raises(bs.FitError, match="without the benchmarks behind them"):
        bs.select(bare, 1e21, table=benchmarks().iloc[6:])
