"""Cheapest models over a life of serving: closed root, brute force, what is out of reach."""

import json

import numpy as np
import pytest
from scipy.optimize import brentq

from bayescale.answers.serving.optimum import inference_optimum
from bayescale.answers.serving.price import Served
from bayescale.answers.surface import surface
from bayescale.data.cost import SIX_ND, custom
from bayescale.errors import DataError, FitError
from bayescale.laws.power_law import power_law
from bayescale.tables import quantity
from tests.answers.conftest import made_up

C = 1e23


def sardana(fit, k, loss, served):
    """N and D from alpha A N^-alpha/(beta B D^-beta) = 1 + D_inf/(3 D) at a loss (2401.00448)."""
    E, A, B, alpha, beta = (fit.draws(n)[k] for n in ("E", "A", "B", "alpha", "beta"))
    left = loss - E

    def gap(log_d):
        data = B * np.exp(-beta * log_d)
        return alpha * (left - data) / (beta * data) - 1 - served / (3 * np.exp(log_d))

    log_d = brentq(gap, np.log(B / left) / beta + 1e-9, 200, xtol=1e-13, rtol=1e-14)
    D = np.exp(log_d)
    return (A / (left - B * D**-beta)) ** (1 / alpha), D


@pytest.mark.parametrize("served", [1e10, 1e12, 1e14])
@pytest.mark.parametrize("asked", [{"C": C}, {"loss": 2.3}])
def test_the_optimum_is_the_closed_root(chinchilla, asked, served):
    found = inference_optimum(chinchilla, inference_tokens=served, **asked)
    N, D, loss = (found.draws[n][:, 0, 0] for n in ("N", "D", "loss"))
    reached = np.flatnonzero(np.isfinite(N))
    assert len(reached) >= 40
    for k in reached[::4]:
        size, tokens = sardana(chinchilla, k, loss[k], served)
        assert N[k] == pytest.approx(size, rel=2e-6)
        assert D[k] == pytest.approx(tokens, rel=2e-6)
        bill = 6 * size * tokens + 2 * size * served
        assert found.draws["total"][k, 0, 0] == pytest.approx(bill, rel=1e-10)


@pytest.mark.parametrize("law", ["chinchilla", "kaplan", "coupled", "overtraining"])
def test_no_point_of_the_curve_is_cheaper(law, sweep):
    """Brute force: every size of a dense grid, with the tokens that give the loss."""
    fit, served = made_up(law, sweep, draws=12), 3e12
    laws = surface(fit)
    found = inference_optimum(fit, C=C, inference_tokens=served)
    for k in range(laws.size):
        best, loss = found.draws["N"][k, 0, 0], found.draws["loss"][k, 0, 0]
        assert float(laws.mean(k, N=best, D=found.draws["D"][k, 0, 0])) == pytest.approx(loss)
        sizes = best * np.exp(np.linspace(-0.5, 1.0, 30))

        def tokens(n, k=k, loss=loss):
            def off(log_d):
                return float(laws.mean(k, N=n, D=np.exp(log_d))) - loss

            return np.exp(brentq(off, 5, 400)) if off(400) < 0 else np.inf

        bills = [6 * n * tokens(n) + 2 * n * served for n in sizes]
        assert found.draws["total"][k, 0, 0] <= min(bills) * (1 + 1e-9)
        assert min(bills) < found.draws["total"][k, 0, 0] * 1.01


def test_without_serving_it_is_the_training_optimum(chinchilla):
    found = inference_optimum(chinchilla, C=C, inference_tokens=[0, "1T", "100T"])
    best = chinchilla.allocate(C)
    np.testing.assert_allclose(found.draws["N"][:, 0, 0], best.draws["N_opt"][:, 0], rtol=1e-5)
    np.testing.assert_allclose(found.draws["total"][:, 0, 0], C, rtol=1e-9)
    assert (found.draws["saving"][:, 0, 0] < 1e-9).all()
    for name in ("saving", "overtraining", "total"):  # more served: smaller, longer trained
        assert (np.diff(found.draws[name][:, 0], axis=1) > 0).all()
    assert (np.diff(found.draws["N"][:, 0], axis=1) < 0).all()


def test_saving_is_of_the_total_of_the_training_optimal_model(chinchilla):
    found = inference_optimum(chinchilla, C=C, inference_tokens=1e13)
    N, D = (found.draws[f"{n}_training_optimal"][:, 0, 0] for n in "ND")
    usual = 6 * N * D + 2 * N * 1e13
    np.testing.assert_allclose(
        found.draws["saving"][:, 0, 0], 1 - found.draws["total"][:, 0, 0] / usual, rtol=1e-9
    )
    assert (found.draws["saving"] > 0).all()


def test_a_loss_below_E_in_some_draws_is_a_probability(chinchilla):
    E = chinchilla.draws("E")
    target = float(np.quantile(E, 0.3))
    found = inference_optimum(chinchilla, loss=[target, 0.1], inference_tokens="1T")
    record = found.to_dict()["optima"]
    assert record[0]["unreachable"] >= (target <= E).mean()
    assert 0.69 < record[0]["unreachable"] < 0.9
    assert np.isnan(found.draws["N"][target <= E, 0, 0]).all()
    assert record[1]["unreachable"] == 1.0
    assert record[1]["N"] is None
    assert record[1]["recommended"] is None
    assert any("P(loss 0.1 is out of reach) = 100.0%" in w for w in found.warnings)
    json.dumps(record)
    assert "100%" in str(found)


def test_the_recommended_choice_is_best_in_expectation(chinchilla):
    found = inference_optimum(chinchilla, C=C, inference_tokens=1e13)
    choice, laws = found.recommended[0], surface(chinchilla)
    each = np.arange(laws.size)
    assert choice.total == pytest.approx(6 * choice.N * choice.D + 2 * choice.N * 1e13, rel=1e-9)
    expected = laws.mean(each, N=choice.N, D=choice.D).mean()
    for factor in (0.5, 0.8, 1.25, 2):
        D = choice.D * factor
        N = choice.total / (6 * D + 2e13)
        assert expected < laws.mean(each, N=N, D=D).mean()
    grid = choice.D * np.exp(np.linspace(-3, 3, 4001))
    least = laws.mean(each[:, None], N=choice.total / (6 * grid + 2e13), D=grid).min(axis=1)
    regret = laws.mean(each, N=choice.N, D=choice.D) - least
    np.testing.assert_allclose(choice.regret, regret, atol=1e-6)


def test_more_assurance_costs_more_and_reaches_the_loss_more_often(chinchilla):
    half, most = (
        inference_optimum(chinchilla, loss=2.3, inference_tokens=1e12, assurance=p).recommended[0]
        for p in (0.5, 0.9)
    )
    assert most.total > half.total
    assert half.reaches == pytest.approx(0.5, abs=0.12)
    assert most.reaches == pytest.approx(0.9, abs=0.08)


def test_a_cost_model_of_ones_own(chinchilla):
    own = custom(lambda n, d: 6.0 * n * d, "own six")
    price = Served(own, 1e12)
    N, D = np.array([1e8, 1e10]), np.array([1e11, 1e12])
    np.testing.assert_allclose(price.params(price.flops(N, D), D), N, rtol=1e-9)
    np.testing.assert_allclose(Served(SIX_ND, 1e12).params(price.flops(N, D), D), N, rtol=1e-12)
    few = inference_optimum(chinchilla, loss=2.3, inference_tokens=1e12)
    served = Served(SIX_ND, 1e12)
    best = few.recommended[0]
    assert served.flops(best.N, best.D) == pytest.approx(best.total, rel=1e-9)


def test_budgets_below_the_smallest_run_are_told(chinchilla, sweep):
    least = float(sweep.column("C").min())
    low = inference_optimum(chinchilla, C=least / 20, inference_tokens=1e9)
    assert any("C 20x below the data" in w for w in low.warnings)
    assert any("C 20x below" in w for w in chinchilla.allocate(least / 20).warnings)
    inside = chinchilla.allocate(float(np.median(sweep.column("C"))))
    assert not any("the data" in w for w in inside.warnings)


def test_shapes_names_and_tables(chinchilla):
    found = inference_optimum(chinchilla, C=[1e22, 1e23], inference_tokens=["1T", "10T"])
    assert found.dataset["N"].dims == ("draw", "target", "served")
    assert len(found.to_frame()) == 2 * 2 * 10
    assert len(found.recommended) == 4
    text = str(found)
    assert "P(out of reach)" in text
    assert "1T served: best single choice" in text


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({}, FitError, "say which loss the model shall reach"),
        ({"C": C, "loss": 2.0}, FitError, "not both"),
        ({"loss": "low"}, DataError, "loss = 'low'; expected a number above zero in nats/token"),
        ({"loss": -1}, DataError, "expected a number above zero"),
        ({"C": -C}, DataError, "above zero"),
        ({"C": C, "flops_per_token": 0}, DataError, "flops_per_token is 0"),
        ({"C": C, "assurance": 1.0}, DataError, "assurance is 1.0; expected a probability"),
    ],
)
def test_questions_that_make_no_sense_are_refused(chinchilla, asked, error, words):
    with pytest.raises(error, match=words):
        inference_optimum(chinchilla, inference_tokens=1e12, **asked)


def test_negative_tokens_and_other_laws_are_refused(chinchilla, sweep):
    with pytest.raises(DataError, match="inference_tokens = -1000000000.0 is not a finite"):
        inference_optimum(chinchilla, C=C, inference_tokens=-1e9)
    with pytest.raises(FitError, match="needs a law of N and D"):
        inference_optimum(made_up(power_law("C"), sweep), C=C, inference_tokens=1e9)


def test_quantities_round_up_to_the_next_letter():
    assert quantity(999.9e9) == "1T"
    assert quantity(9.996e14) == "1.00e15"
    assert quantity(123.4e9) == "123B"


def test_thousands_are_written_out():
    assert quantity(1456.0) == "1460"
    assert quantity(999.6) == "1000"
    assert quantity(-1000.0) == "-1000"
    assert quantity(12.34) == "12.3"
