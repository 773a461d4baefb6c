"""Comparison, weights and stacks of laws."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.check.comparison.weights import pseudo_bma_weights, stacking_weights
from bayescale.data import read_runs
from bayescale.data.simulate import simulate
from bayescale.errors import FitError
from bayescale.inference.gate import Gate, Problem
from bayescale.inference.posterior import Variable
from tests.answers.conftest import made_up
from tests.check.laplace import laplace


def table_of(law, params, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    inputs = {"N": 10 ** rng.uniform(7.5, 10, rows), "D": 10 ** rng.uniform(9, 11.5, rows)}
    return simulate(law, params, inputs, noise=bs.log_normal(), seed=seed)


CHINCHILLA = {"E": 1.8, "A": 480.0, "B": 2000.0, "alpha": 0.35, "beta": 0.37, "sigma": 0.01}
KAPLAN = {"N_c": 8.8e13, "D_c": 5.4e13, "alpha_N": 0.076, "alpha_D": 0.095, "sigma": 0.01}


@pytest.fixture(scope="module")
def fits():
    runs = read_runs(table_of("chinchilla", CHINCHILLA))
    return {law: laplace(law, runs) for law in ("kaplan", "chinchilla")}


@pytest.fixture(scope="module")
def compared(fits):
    return bs.compare(fits, refit="never")


def test_the_law_that_made_the_runs_wins(compared):
    assert compared.names == ("chinchilla", "kaplan")
    size, error = compared.difference("kaplan")
    assert size < -30
    assert size < -3 * error
    assert compared.apart("kaplan")
    assert compared.stacking["chinchilla"] > 0.9
    assert compared.pseudo_bma["chinchilla"] > 0.99


def test_and_the_other_way_round():
    runs = read_runs(table_of("kaplan", KAPLAN))
    found = bs.compare([laplace(law, runs) for law in ("chinchilla", "kaplan")], refit="never")
    assert found.names[0] == "kaplan"


def test_differences_are_paired(compared):
    wide = compared.pointwise()
    each = (wide["kaplan"] - wide["chinchilla"]).to_numpy()
    size, error = compared.difference("kaplan")
    assert size == pytest.approx(each.sum())
    assert error == pytest.approx(np.sqrt(60) * each.std(ddof=1))
    assert compared.difference("chinchilla") == (0.0, 0.0)


def test_equal_laws_cannot_be_told_apart(fits):
    again = laplace("chinchilla", fits["chinchilla"].runs, seed=1)
    found = bs.compare({"one": fits["chinchilla"], "two": again}, refit="never")
    other = found.names[1]
    assert not found.apart(other)
    assert any("can't be told apart" in line for line in found.warnings)
    assert found.pseudo_bma["one"] == pytest.approx(0.5, abs=0.1)


def test_record_and_tables(compared):
    record = json.loads(json.dumps(compared.to_dict()))
    assert record["by"] == "row"
    assert record["units"] == 60
    assert record["best"] == "chinchilla"
    best, other = record["laws"]
    keys = {"elpd", "se", "elpd_diff", "diff_se", "stacking_weight", "pseudo_bma_weight", "p_loo"}
    assert keys | {"refitted", "converged"} <= set(other)
    assert set(other["pareto_k"]) == {"max", "bad", "threshold"}
    assert best["elpd_diff"] == 0
    assert best["told_apart"] is None
    assert best["stacking_weight"] + other["stacking_weight"] == pytest.approx(1)
    frame = compared.to_frame()
    assert list(frame["name"]) == ["chinchilla", "kaplan"]
    shown = str(compared)
    assert "single rows left out in turn (60)" in shown
    assert "fewer than 100" in shown


def test_a_failed_fit_is_told(fits):
    gate = Gate((Problem("rhat", "R-hat is 1.3.", "more draws"),), 1.3, 10.0, 10.0, 0, 1.0)
    poor = replace(fits["kaplan"], gate=gate)
    found = bs.compare({"kaplan": poor, "chinchilla": fits["chinchilla"]}, refit="never")
    assert not found.converged
    assert any(w.startswith("kaplan: rhat: R-hat is 1.3.") for w in found.warnings)
    assert "NOT CONVERGED" in str(found)
    assert found.record("kaplan")["converged"] is False


# --- refusals


def test_one_fit_is_not_enough(fits):
    with pytest.raises(FitError, match="only 'kaplan' was given"):
        bs.compare({"kaplan": fits["kaplan"]})
    with pytest.raises(FitError, match="expected a mapping"):
        bs.compare(fits["kaplan"])
    with pytest.raises(FitError, match="expected a mapping"):
        bs.compare([])


def test_two_fits_of_one_name(fits):
    with pytest.raises(FitError, match="two fits are named 'kaplan'"):
        bs.compare([fits["kaplan"], fits["kaplan"]])


def test_different_rows(fits):
    runs = fits["kaplan"].runs
    fewer = made_up("kaplan", runs.select(np.arange(60) != 11, "not 11"))
    with pytest.raises(FitError, match=r"60 rows .* 59 .*row 12 is not in both .*'chinchilla'"):
        bs.compare({"chinchilla": fits["chinchilla"], "kaplan": fewer})
    table = runs.table.assign(loss=np.where(np.arange(60) == 3, 9.0, runs.column("loss")))
    changed = made_up("kaplan", read_runs(table))
    with pytest.raises(FitError, match="loss in row 4 is .* and 9 in"):
        bs.compare({"chinchilla": fits["chinchilla"], "kaplan": changed})


def test_the_same_rows_from_another_file_are_the_same(fits, tmp_path):
    runs = fits["kaplan"].runs
    runs.table.to_csv(tmp_path / "runs.csv", index=False, float_format="%.17g")
    again = made_up("kaplan", read_runs(tmp_path / "runs.csv"))
    assert again.runs.sha256 != runs.sha256
    found = bs.compare({"chinchilla": fits["chinchilla"], "kaplan": again}, refit="never")
    assert len(found.best.units) == 60


def test_different_responses(fits):
    from bayescale.priors import Normal

    accuracy = bs.Law(
        "accuracy",
        (bs.Input("N", "parameters"),),
        (bs.Param("level", Normal(0.5, 0.3)),),
        mean=lambda level, N: level + 0.0 * N,
        response="accuracy",
        response_unit="share",
    )
    runs = read_runs(fits["kaplan"].runs.table.assign(accuracy=0.5))
    other = made_up(accuracy, runs, bs.normal())
    with pytest.raises(FitError, match=r"'loss' \(nats/token\) and 'accuracy' 'accuracy' \(share"):
        bs.compare({"kaplan": fits["kaplan"], "accuracy": other})
    with pytest.raises(FitError, match="can't be compared or mixed"):
        bs.Stack({"kaplan": fits["kaplan"], "accuracy": other}, [0.5, 0.5])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_draws_that_are_not_finite(fits, bad):
    fit = fits["kaplan"]
    broken = fit.variables["sigma"].values.copy()
    broken[1, 7] = bad
    kept = {**fit.variables, "sigma": Variable(broken, (), "noise")}
    with pytest.raises(FitError, match=r"kaplan: 1 of 1000 draws of 'sigma' are not finite"):
        bs.compare({**fits, "kaplan": replace(fit, variables=kept)})


def test_densities_that_are_not_finite(fits):
    fit = fits["kaplan"]
    none = Variable(np.full_like(fit.variables["sigma"].values, 1e-320), (), "noise")
    message = "kaplan: the log likelihood of row 1 is not finite"
    with np.errstate(all="ignore"), pytest.raises(FitError, match=message):
        bs.compare({**fits, "kaplan": replace(fit, variables={**fit.variables, "sigma": none})})


def test_bad_refit(fits):
    with pytest.raises(FitError, match="refit is 'maybe'"):
        bs.compare(fits, refit="maybe")


# --- weights


@pytest.mark.parametrize(("rows", "densities"), [((30, 20), (2.0, 1.0)), ((40, 10), (5.0, 4.0))])
def test_stacking_has_its_closed_form_for_two_laws(rows, densities):
    (n, m), (a, b) = rows, densities
    elpd = np.log(np.array([[a, b]] * n + [[b, a]] * m))
    # where the derivative of n ln(wa + (1-w)b) + m ln(wb + (1-w)a) is 0
    expected = float(np.clip((n * a - m * b) / ((n + m) * (a - b)), 0, 1))
    assert stacking_weights(elpd) == pytest.approx([expected, 1 - expected], abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_stacking_is_optimal(seed):
    rng = np.random.default_rng(seed)
    elpd = rng.normal(-3, 2, (80, 1)) + rng.normal(0, 2, (80, 6))
    w = stacking_weights(elpd)
    assert (w >= 0).all()
    assert w.sum() == pytest.approx(1)
    # at the optimum of a concave score no direction gains: gradients are 1 where w > 0, else less
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))
    gradient = (density / (density @ w)[:, None]).mean(axis=0)
    assert gradient.max() < 1 + 1e-4
    assert gradient[w > 1e-3] == pytest.approx(1, abs=1e-4)


def test_pseudo_bma_has_its_closed_form_for_a_constant_difference():
    elpd = np.random.default_rng(0).normal(size=(40, 1)) + np.array([0.0, -0.02])
    expected = 1 / (1 + np.exp(-40 * 0.02))  # every bootstrap has the same difference
    assert pseudo_bma_weights(elpd) == pytest.approx([expected, 1 - expected])


def test_pseudo_bma_is_less_sure_where_rows_differ():
    rng = np.random.default_rng(0)
    elpd = np.stack([np.zeros(50), rng.normal(-0.2, 1, 50)], axis=1)
    plain = 1 / (1 + np.exp(elpd[:, 1].sum()))
    assert abs(plain - 0.5) > abs(pseudo_bma_weights(elpd)[0] - 0.5) + 0.05
    assert pseudo_bma_weights(elpd, seed=3) == pytest.approx(pseudo_bma_weights(elpd, seed=3))


def test_weights_refuse_what_has_no_weight():
    with pytest.raises(FitError, match=r"row 1 under law 0 .* is nan"):
        stacking_weights([[0.0, 0.0], [np.nan, 0.0]])
    with pytest.raises(FitError, match="row 0 .* has no density under any law"):
        pseudo_bma_weights([[-np.inf, -np.inf]])
    with pytest.raises(FitError, match="shape"):
        stacking_weights(np.zeros(3))
    assert stacking_weights([[0.0, -np.inf], [-1.0, -np.inf]]) == pytest.approx([1, 0], abs=1e-6)


def test_stack_of_a_comparison(compared):
    stack = compared.stack
    assert stack.weights == pytest.approx(compared.stacking)
    assert "chinchilla" in stack.title
    assert isinstance(compared.pointwise(), pd.DataFrame)
