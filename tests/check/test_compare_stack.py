"""Stacks: quantiles, allocations and densities of the mixture, by brute force."""

from dataclasses import replace

import numpy as np
import pytest

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data import read_runs
from bayescale.data.simulate import simulated_sweep
from bayescale.errors import FitError
from bayescale.inference.gate import Gate, Problem
from tests.answers.conftest import made_up
from tests.check.laplace import real_record

DRAWS = 500  # a chain, of two
WEIGHTS = {"chinchilla": 0.5, "kaplan": 0.3, "coupled": 0.2}


@pytest.fixture(scope="module")
def runs():
    return simulated_sweep()[0]


@pytest.fixture(scope="module")
def fits(runs):
    return {law: made_up(law, runs, seed=k, draws=DRAWS) for k, law in enumerate(WEIGHTS)}


@pytest.fixture(scope="module")
def stack(fits):
    return bs.Stack(fits, WEIGHTS)


def test_shares_of_draws_are_the_weights(stack):
    assert {n: len(p) for n, p in stack.picks.items()} == {
        "chinchilla": 500,
        "kaplan": 300,
        "coupled": 200,
    }
    for places in stack.picks.values():
        assert len(np.unique(places)) == len(places)
        # evenly along the chains, so that every part of them is there
        assert np.ptp(np.diff(places)) <= 1


def test_prediction_is_the_mixture(stack, fits):
    points = {"N": ["1B", "30B"], "D": ["20B", "600B"]}
    found = stack.predict(**points)
    parts = {n: fit.predict(**points) for n, fit in fits.items()}
    for kind in ("loss", "new_run"):
        mixed = getattr(found, kind)
        for k in range(2):
            for q in (0.05, 0.25, 0.5, 0.75, 0.95):
                cut = np.quantile(mixed[:, k], q)
                share = sum(w * np.mean(getattr(parts[n], kind)[:, k] <= cut)
                            for n, w in WEIGHTS.items())  # fmt: skip
                # 200 to 500 of 1,000 draws of each law: 4 SE of a share are .04 to .06
                assert share == pytest.approx(q, abs=0.05)
    assert set(found.points) == {"N", "D", "C"}
    assert found.to_dict()["predictions"][1]["outside"]["inside_data"] is False
    assert sum("Beyond the data" in w for w in found.warnings) == 1
    assert "stack (chinchilla 50%, kaplan 30%, coupled 20%)" in str(found)


def test_a_weight_of_one_is_that_fit(fits):
    alone = bs.Stack(fits, [0.0, 1.0, 0.0])
    assert list(alone.picks) == ["kaplan"]
    one, same = alone.predict(N="1B", D="20B"), fits["kaplan"].predict(N="1B", D="20B")
    np.testing.assert_array_equal(one.new_run, same.new_run)
    ours, theirs = alone.allocate("1e21", N="2B"), fits["kaplan"].allocate("1e21", N="2B")
    np.testing.assert_allclose(ours.draws["N_opt"], theirs.draws["N_opt"])
    assert ours.choices[0].to_dict() == theirs.choices[0].to_dict()
    assert ours.exponents.keys() == theirs.exponents.keys()


def test_each_draw_has_the_optimum_of_its_own_law(stack, fits):
    found = stack.allocate(["1e21", "1e23"], N="10B")
    start = 0
    for name, places in stack.picks.items():
        own = fits[name].allocate(["1e21", "1e23"])
        for quantity in ("N_opt", "D_opt", "loss", "a"):
            part = found.draws[quantity][start : start + len(places)]
            np.testing.assert_allclose(part, own.draws[quantity][places], rtol=1e-6)
        start += len(places)
    assert start == found.draws["a"].shape[0]
    assert set(found.exponents) <= {"a", "b", "gamma"}
    assert len(found.exponents["a"]) == 1000


def test_recommended_size_has_the_least_expected_loss_of_all_laws(stack, fits, runs):
    found = stack.allocate("1e22").recommended[0]
    sizes = np.geomspace(found.N / 2, found.N * 2, 41)
    parts = {n: f.predict(N=sizes, C="1e22").loss[stack.picks[n]] for n, f in fits.items()}
    expected = np.concatenate(list(parts.values())).mean(axis=0)
    best = sizes[np.argmin(expected)]
    assert pytest.approx(best, rel=0.06) == found.N
    assert found.expected_regret > 0


def test_densities_of_runs_are_the_mixtures(stack, fits, runs):
    found = stack.at_runs(runs, seed=3)
    assert found.log_density.shape == found.replicate.shape == (1000, len(runs))
    mixed = np.exp(found.log_density).mean(axis=0)
    brute = sum(
        w * np.exp(at_runs(fits[n], runs, 3).log_density[stack.picks[n]]).mean(axis=0)
        for n, w in WEIGHTS.items()
    )
    np.testing.assert_allclose(mixed, brute)
    np.testing.assert_array_equal(found.observed, runs.column("loss"))


def test_laws_of_other_inputs_predict_together_but_allocate_not(fits, runs):
    mixed = bs.Stack({"a": fits["chinchilla"], "b": made_up("compute-frontier", runs)}, [0.5, 0.5])
    found = mixed.predict(N="1B", D="20B")
    assert found.loss.shape[0] == 1000
    with pytest.raises(FitError, match="'compute-frontier' reads C; an allocation needs"):
        mixed.allocate("1e21")


def test_groups_go_to_the_fits_that_have_them(runs, fits):
    table = runs.table.assign(corpus=["web", "code", "books"] * (len(runs) // 3))
    pooled = made_up("chinchilla", read_runs(table), pooling={"E": bs.partial("corpus")})
    mixed = bs.Stack({"pooled": pooled, "plain": fits["chinchilla"]}, [0.5, 0.5])
    assert len(mixed.predict(N="1B", D="20B", corpus="web")) == 1
    assert mixed.allocate("1e21", corpus="web").draws["a"].shape == (1000, 1)
    with pytest.raises(FitError, match="unknown argument 'corpora'"):
        mixed.predict(N="1B", D="20B", corpora="web")


def test_fits_that_failed_warn_by_name(fits):
    gate = Gate((Problem("rhat", "R-hat is 1.3.", "more draws"),), 1.3, 10.0, 10.0, 0, 1.0)
    poor = {**fits, "kaplan": replace(fits["kaplan"], gate=gate)}
    found = bs.Stack(poor, WEIGHTS).predict(N="1B", D="20B")
    assert not found.converged
    assert any(w.startswith("kaplan: rhat") for w in found.warnings)
    # without a draw in the mixture it says nothing
    assert bs.Stack(poor, [0.7, 0.0, 0.3]).converged


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5], "2 weights for 3 fits"),
        ([0.5, 0.6, -0.1], "coupled -0.1; expected shares"),
        ([0.5, 0.3, 0.3], "expected shares of at least 0 with sum 1"),
        ([np.nan, 0.5, 0.5], "chinchilla nan"),
        ({"chinchilla": 1.0}, "give one weight a fit"),
    ],
)
def test_weights_that_are_no_shares(fits, weights, message):
    with pytest.raises(FitError, match=message):
        bs.Stack(fits, weights)


def test_a_stack_comes_back_from_its_folder(fits, tmp_path):
    kept = {n: real_record(fits[n]) for n in ("chinchilla", "kaplan")}
    stack = bs.Stack(kept, [0.25, 0.75], seed=5)
    stack.save(tmp_path / "stack")
    again = bs.Stack.load(tmp_path / "stack")
    assert again.weights == stack.weights
    one, two = stack.predict(N="1B", D="20B"), again.predict(N="1B", D="20B")
    np.testing.assert_array_equal(one.loss, two.loss)
    (tmp_path / "stack" / "stack.json").write_text("{}")
    with pytest.raises(FitError, match="holds no stack"):
        bs.Stack.load(tmp_path / "stack")


def test_a_stack_tells_what_it_is(stack):
    assert [x["draws"] for x in stack.to_dict()["laws"]] == [500, 300, 200]
    assert "50.0%" in str(stack)
