"""Questions about mixtures that have no answer, and what an answer must say beside its numbers."""

import dataclasses

import numpy as np
import pytest

import bayescale as bs
from bayescale.answers.mix.problem import read_problem
from bayescale.answers.mix.region import make_region
from bayescale.answers.objectives import objectives_of
from bayescale.data.cost import active_params, custom
from bayescale.errors import DataError, FitError
from bayescale.inference.gate import Problem as GateProblem
from bayescale.laws.mixture import mixture

from .conftest import GOOD
from .mixtures import ADDITIVE, REPEATED, made


@pytest.fixture(scope="module")
def repeated():
    return made(REPEATED, draws=5)


@pytest.fixture(scope="module")
def additive():
    return made(ADDITIVE, draws=5)


BUDGET = {"N": "1B", "D": "40B"}
REFUSED = {
    "no budget": ({}, "no budget is given.*Give C"),
    "D alone": ({"D": "1T"}, "D alone is given: more of the rest always lowers the loss"),
    "N alone": ({"N": "1B"}, "N alone is given"),
    "all three": ({**BUDGET, "C": "1e22"}, "N, D and C are all given"),
    "two budgets": ({"N": "1B", "D": ["1B", "2B"]}, "D has 2 values; a mixture is of one budget"),
    "too much asked": (
        {**BUDGET, "limits": {"text": (0.8, 1), "image": (0.3, 1)}},
        "leave no mixture: text 0.8, image 0.3 are asked for at least, which is 1.1 of all",
    ),
    "too little allowed": (
        {**BUDGET, "limits": {"text": (0, 0.2), "image": (0, 0.3), "audio": (0, 0.4)}},
        "leave no mixture: text 0.2, image 0.3, audio 0.4 are allowed at most, which is 0.9",
    ),
    "limits turned round": (
        {**BUDGET, "limits": {"text": (0.9, 0.5)}},
        "limits of 'text' are .*expected two shares of all tokens, the lower first",
    ),
    "a limit of one number": ({**BUDGET, "limits": {"text": 0.5}}, "expected two shares"),
    "unique tokens run out": (
        {**BUDGET, "unique": {"text": "1B"}, "limits": {"image": (0, 0.1), "audio": (0, 0.1)}},
        "no mixture of 40B tokens: with the unique tokens of text, which this law can't repeat, "
        "at most 1.25B",
    ),
    "unknown source in limits": (
        {**BUDGET, "limits": {"txt": (0, 1)}},
        "no source 'txt'; the law has text, image, audio. Did you mean 'text'",
    ),
    "unknown source in unique": ({**BUDGET, "unique": {"video": "1B"}}, "no source 'video'"),
    "unknown target": ({**BUDGET, "targets": "texts"}, "no target 'texts'.*Did you mean 'text'"),
    "unknown weight": ({**BUDGET, "weights": {"code": 1}}, "no target 'code'"),
    "negative weight": ({**BUDGET, "weights": {"text": -1}}, "weight of 'text' is -1; expected"),
    "a weight that is no number": ({**BUDGET, "weights": {"text": "much"}}, "weight of 'text' is"),
    "all weights zero": (
        {**BUDGET, "weights": {"text": 0, "image": 0, "audio": 0}},
        "all weights are 0, so that nothing counts",
    ),
    "mean with weights": (
        {**BUDGET, "objective": "mean", "weights": {"text": 2}},
        "'mean' counts all targets alike",
    ),
    "unknown objective": ({**BUDGET, "objective": "wurst"}, "Did you mean 'worst'"),
    "own tokens shut out": (
        {**BUDGET, "limits": {"image": (0, 0)}},
        "leave no tokens of 'image', without which its loss is infinite",
    ),
    "no draws": ({**BUDGET, "draws": 0}, "draws is 0; expected a whole number"),
    "active parameters": (
        {"C": "1e21", "cost": active_params("N_active")},
        "counts active parameters, which a new size doesn't fix",
    ),
    "a cost of one's own": (
        {"C": "1e21", "cost": custom(lambda n, d: 6 * n * d, "mine")},
        "N can't be left free under",
    ),
    "an unknown group": ({**BUDGET, "corpus": "c4"}, "unknown argument 'corpus'"),
    "a target as a group": ({**BUDGET, "target": "text"}, "leave target out of the group"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_is_wrong(repeated, case):
    asked, said = REFUSED[case]
    with pytest.raises(FitError, match=said):
        bs.mix(repeated, **asked)


def test_numbers_that_are_none(repeated):
    with pytest.raises(DataError, match="C: 'x' is not a number"):
        bs.mix(repeated, C="x")
    with pytest.raises(DataError, match="D"):
        bs.mix(repeated, **BUDGET, unique={"image": "-1B"})


def test_laws_of_one_loss_or_one_size(chinchilla):
    with pytest.raises(FitError, match="one response.*no two objectives to weigh"):
        bs.mix(chinchilla, C="1e21")
    sizeless = made(mixture(("a", "b"), size=False, repetition=False), draws=5)
    with pytest.raises(FitError, match="doesn't read N: give the tokens D alone"):
        bs.mix(sizeless, C="1e21")
    found = bs.mix(sizeless, D="40B", draws=5)
    assert np.isnan(found.draws["N"]).all()
    assert found.to_dict()["N"] is None


def test_shares_to_consider_sum_to_one(additive):
    with pytest.raises(FitError, match="sum to 0.9, not to 1"):
        bs.mix(additive, **BUDGET, consider={"web": 0.5, "code": 0.4}, draws=5)


def test_budgets_and_epochs_beyond_the_runs_are_told(repeated):
    far = bs.mix(repeated, N="1B", D="4T", unique={"image": "1B"}, draws=5)
    assert any("D = 4T" in w or "C = " in w for w in far.warnings)
    assert any("epochs of image, and the runs up to 4" in w for w in far.warnings)
    near = bs.mix(repeated, N="1M", D="1B", draws=5)
    assert any("below the smallest run's" in w for w in near.warnings)


def test_a_target_of_no_weight_is_named_and_may_have_an_infinite_loss(repeated):
    found = bs.mix(repeated, **BUDGET, weights={"image": 0}, limits={"image": (0, 0)}, draws=5)
    assert "not counted: image" in found.notes
    assert (found.draws["share"][:, 1] == 0).all()
    assert np.isinf(found.draws["loss"][:, 1]).all()
    assert np.isfinite(found.draws["value"]).all()


def test_no_tried_mixture_within_the_limits_is_said(additive):
    found = bs.mix(additive, **BUDGET, limits={"web": (0.61, 0.63)}, draws=5)
    assert found.tried is None
    assert found.gain is None
    assert found.to_dict()["tried"] is None
    assert "none of the runs' mixtures lies within the limits" in found.notes


def test_a_fit_that_failed_its_gate_says_so():
    gate = dataclasses.replace(GOOD, problems=(GateProblem("rhat", "chains differ", "more"),))
    found = bs.mix(made(ADDITIVE, draws=5, gate=gate), **BUDGET, draws=5)
    assert not found.converged
    assert any("chains differ" in w for w in found.warnings)
    assert found.to_dict()["converged"] is False


def test_free_sizes_keep_to_all_unique_tokens(additive):
    """With every source's unique tokens stated, there is a most that can be trained on."""
    of = objectives_of(additive)
    given = dict.fromkeys(("D", "N", "limits", "objective", "weights", "targets"))
    unique = {"web": "2B", "code": "1B", "books": "1B"}
    problem = read_problem(of, additive.runs.cost, C="1e22", unique=unique, **given)
    region = make_region(problem)
    assert region.total * np.exp(region.tokens_range[1]) <= 4e9 * (1 + 1e-9)
