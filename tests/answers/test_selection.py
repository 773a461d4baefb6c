"""Backbone selection on made-up posteriors: prices, P(best), regret, new backbones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescale as bs
from bayescale.answers.selection.contest import Contest
from bayescale.answers.selection.price import Price
from bayescale.check.at_runs import at_runs
from bayescale.inference.gate import Gate, Problem
from tests.answers.selection_fits import (
    SIZES,
    accuracy_fit,
    benchmarks,
    fit_of,
    table,
)


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
