"""Predicted loss: the mean, a new run, groups, reach, and what is refused."""

import json

import numpy as np
import pytest
from scipy import stats

from bayescale.answers.prediction import predict
from bayescale.errors import DataError, FitError
from bayescale.noise import log_normal, student_t
from bayescale.pooling import independent, partial
from tests.answers.conftest import made_up


def test_mean_is_the_law_of_each_draw(chinchilla):
    answer = predict(chinchilla, N=["70B", 1e9], D="1.4T")
    E, A, B, alpha, beta = (chinchilla.draws(k) for k in ("E", "A", "B", "alpha", "beta"))
    for k, n in enumerate((70e9, 1e9)):
        expected = E + A / n**alpha + B / 1.4e12**beta
        np.testing.assert_allclose(answer.loss[:, k], expected, rtol=1e-12)


def test_any_two_of_size_tokens_and_compute_will_do(chinchilla):
    by_tokens = predict(chinchilla, N=1e9, D=2e10)
    for other in (dict(N=1e9, C=1.2e20), dict(D=2e10, C=1.2e20)):
        np.testing.assert_allclose(predict(chinchilla, **other).loss, by_tokens.loss, rtol=1e-9)


def test_new_runs_scatter_as_the_noise_says(sweep):
    fit = made_up("chinchilla", sweep, noise=log_normal(), draws=2000, spread=1e-6)
    answer = predict(fit, N=1e9, D=2e10)
    z = np.log(answer.new_run[:, 0] / answer.loss[:, 0]) / fit.draws("sigma")
    assert stats.kstest(z, "norm").pvalue > 0.001


def test_noise_that_changes_with_compute_reaches_predictions(sweep):
    noise = log_normal(varies_with="C")
    fit = made_up("chinchilla", sweep, noise=noise, draws=2000, spread=1e-6)
    slope = fit.variables["noise_slope"].values
    slope[...] = -0.5
    spread = []
    for c in (1e20, 1e22):
        answer = predict(fit, N=1e9, C=c)
        spread.append(np.log(answer.new_run[:, 0] / answer.loss[:, 0]).std())
    assert spread[0] / spread[1] == pytest.approx(100**0.5, rel=0.1)


def test_offsets_of_runs_widen_a_new_run(grouped):
    plain = made_up("chinchilla", grouped, noise=student_t(), draws=1000, spread=1e-6)
    offsets = made_up("chinchilla", grouped, noise=student_t(runs="corpus"), draws=1000)
    offsets.variables["run_sd"].values[...] = 0.2
    width = [predict(f, N=1e9, D=2e10).to_dict() for f in (plain, offsets)]
    low, high = ([w["predictions"][0]["new_run"][q] for q in ("q05", "q95")] for w in width)
    assert high[1] - high[0] > 2 * (low[1] - low[0])


def test_groups_have_laws_of_their_own(grouped):
    fit = made_up("chinchilla", grouped, pooling={"E": independent("corpus")})
    labels = fit.layout.labels["corpus"]
    for k, label in enumerate(labels):
        answer = predict(fit, N=1e12, D=1e15, corpus=label)
        rest = answer.loss[:, 0] - fit.draws("E")[:, k]
        np.testing.assert_allclose(rest, rest.min(), atol=0.5)
        assert (rest > 0).all()
    with pytest.raises(FitError, match="differs by 'corpus': say which"):
        predict(fit, N=1e9, D=1e10)


def test_a_new_group_is_wider_than_a_known_one(grouped):
    fit = made_up("chinchilla", grouped, pooling={"E": partial("corpus")}, draws=1000, spread=0.01)
    fit.variables["E_z"].values[..., 0] = 0.0  # the first group lies at the common value
    known = predict(fit, N=1e9, D=1e10, corpus="web").loss.std()
    assert predict(fit, N=1e9, D=1e10).loss.std() > 2 * known
    np.testing.assert_array_equal(
        predict(fit, N=1e9, D=1e10, seed=4).loss, predict(fit, N=1e9, D=1e10, seed=4).loss
    )


def test_reach_tells_how_far_outside_the_data_a_point_lies(chinchilla, sweep):
    largest = {k: float(sweep.column(k).max()) for k in "ND"}
    answer = predict(chinchilla, N=3 * largest["N"], D=largest["D"])
    assert answer.reach["N"][0] == pytest.approx(3)
    assert answer.reach["D"][0] == 1
    assert "N 3x above" in answer.to_dict()["predictions"][0]["outside"]["text"]
    assert any("Beyond the data" in w for w in answer.warnings)
    inside = predict(chinchilla, N=1e9, D=2e10)
    assert inside.to_dict()["predictions"][0]["outside"]["inside_data"] is True


def test_json_has_the_keys_that_scripts_read(chinchilla):
    record = json.loads(json.dumps(predict(chinchilla, N=1e9, D=2e10).to_dict()))
    for kind in ("loss", "new_run"):
        q = record["predictions"][0][kind]
        assert q["q025"] <= q["q05"] <= q["median"] <= q["q95"] <= q["q975"]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (dict(N=1e9), FitError, "needs D"),
        (dict(N=1e9, D=1e10, C=1e20), FitError, "give two of them"),
        (dict(N=[1e9, 2e9], D=[1e9, 2e9, 3e9]), FitError, "differ in number"),
        (dict(N=1e9, tokens=1e10), FitError, "unknown argument 'tokens'"),
        (dict(N="seven", D=1e10), DataError, "not a number"),
        (dict(N=float("nan"), D=1e10), DataError, "finite number above zero"),
        (dict(N=-1e9, D=1e10), DataError, "above zero"),
        (dict(N=70, D=1e10), DataError, "too small"),
    ],
)
def test_questions_that_make_no_sense_are_refused(chinchilla, asked, error, words):
    with pytest.raises(error, match=words):
        predict(chinchilla, **asked)


def test_a_fit_that_failed_its_gate_says_so_in_its_answers(sweep):
    from bayescale.inference.gate import Gate, Problem

    gate = Gate((Problem("rhat", "R-hat is high.", "more draws"),), 1.2, 10, 10, 0, 1.0)
    answer = predict(made_up("chinchilla", sweep, gate=gate), N=1e9, D=1e10)
    assert answer.converged is False
    assert "NOT CONVERGED" in str(answer)
    assert any("R-hat is high. Try: more draws" in w for w in answer.to_dict()["warnings"])
