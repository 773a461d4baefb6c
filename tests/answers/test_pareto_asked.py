"""Frontiers that can't be had, or of which something must be said."""

import re

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.choosing import choose
from bayescale.data import read_runs
from bayescale.data.cost import active_params
from bayescale.data.designs.text_multimodal import design
from bayescale.errors import DataError, FitError
from bayescale.inference.gate import Gate, Problem
from bayescale.laws.mixture import mixture

from .conftest import made_up


def frontier_runs(law="decoupled", **changes):
    return choose(law, design().assign(loss=2.0, **changes), {})


def mixed(sources: tuple[str, ...], **options):
    law = mixture(sources, **options)
    table = pd.DataFrame(law.design and law.design()).assign(loss=2.0)
    return made_up(law, read_runs(table, columns={"loss": "loss", "D": ""}), draws=10)


@pytest.fixture(scope="module")
def fit():
    return made_up(*frontier_runs(), draws=10)


@pytest.fixture(scope="module")
def no_size():
    return made_up(*frontier_runs("decoupled:size=no"), draws=10)


def said(answer):
    return " ".join(answer.warnings)


def test_budgets_outside_the_data_are_warned_of(fit):
    assert "C = 1.00e15 is below the smallest run's 1.70e18" in said(bs.pareto(fit, 1e15))
    far = said(bs.pareto(fit, [1e21, 1e25]))
    assert re.search(r"C = 1\.00e25 is 1\.?\d+e?\+?\d*x the largest run's", far)
    assert "Intervals take the law as exact" in far
    assert "run's" not in said(bs.pareto(fit, 1e21))


def test_compositions_outside_the_data_are_warned_of(fit):
    wide = said(bs.pareto(fit, 1e21, r="0.05:0.5"))
    assert "Shares of 'multimodal' from 0.0476 to 0.333 go beyond the 0.0909 to 0.231" in wide
    assert "go beyond" not in said(bs.pareto(fit, 1e21, r=[0.1, 0.3]))


def test_a_fit_that_failed_its_gate_says_so():
    gate = Gate((Problem("rhat", "R-hat of E is 1.4", "draw more"),), 1.4, 20.0, 20.0, 0, 1.0)
    bad = bs.pareto(made_up(*frontier_runs(), draws=10, gate=gate), 1e21)
    assert not bad.converged
    assert bad.to_dict()["converged"] is False
    assert "1.4" in said(bad)
    assert "NOT CONVERGED" in str(bad)


def test_laws_with_one_loss_are_refused():
    runs = read_runs(pd.DataFrame({"N": [1e8, 1e9], "D": [1e10, 2e10], "loss": [3.0, 2.5]}))
    with pytest.raises(FitError, match="law 'chinchilla' has one response.*no two objectives"):
        bs.pareto(made_up("chinchilla", runs), 1e21)
    with pytest.raises(FitError, match="one objective \\(text\\); a frontier lies between two"):
        bs.pareto(made_up(*frontier_runs("decoupled:objectives=text,varying=none")), 1e21)
    with pytest.raises(FitError, match=r"one source \(text\), so there is nothing to trade"):
        bs.pareto(one_source(), 1e21)


def one_source():
    law = mixture(("text",), targets=("text", "code"), transfer="additive", repetition=False)
    table = pd.DataFrame(law.design and law.design()).assign(loss=2.0)
    return made_up(law, read_runs(table, columns={"loss": "loss", "D": ""}), draws=10)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, FitError, "say what is given out: C=… (compute in FLOP) or D=… (tokens), one"),
        ({"C": 1e21, "D": 1e10}, FitError, "one of them"),
        ({"D": 1e10}, FitError, "with tokens D alone the largest model always wins"),
        ({"C": -1e21}, DataError, "C"),
        ({"C": 1e21, "r": 0}, DataError, "r = 0; expected a number above 0"),
        ({"C": 1e21, "r": "0.5:0.1"}, DataError, "expected a range such as 0.05:0.5"),
        ({"C": 1e21, "shares": 1.2}, DataError, "between 0 and 1: both sources"),
        ({"C": 1e21, "r": 0.1, "shares": 0.1}, FitError, "not both"),
        ({"C": 1e21, "weights": {"text": 1}}, DataError, "for each loss: 'multimodal' has none"),
        ({"C": 1e21, "weights": {"text": 1, "image": 1}}, DataError, "no loss 'image' to give a"),
        (
            {"C": 1e21, "weights": {"text": 1, "multimodal": 0}},
            DataError,
            "weight of 'multimodal' is 0; expected a number above 0",
        ),
        ({"C": 1e21, "weights": {"text": -2, "multimodal": 1}}, DataError, "'text' is -2; expect"),
        ({"C": 1e21, "U": {"text": 1e9}}, FitError, "it has no repetition; leave it out of U"),
        ({"C": 1e21, "objective": "text"}, FitError, "all of text, multimodal at once"),
        ({"C": 1e21, "corpus": "c4"}, FitError, "unknown argument 'corpus'"),
        ({"C": 1e21, "cost": active_params("N_active")}, FitError, "counts active parameters"),
    ],
)
def test_bad_questions_are_answered_with_what_to_do(fit, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        bs.pareto(fit, **options)


def test_a_law_without_size_needs_tokens_or_a_size(no_size):
    with pytest.raises(FitError, match="no size term, so compute doesn't say how many tokens"):
        bs.pareto(no_size, 1e21)
    with_size = bs.pareto(no_size, 1e21, N=1e9)
    assert with_size.n_tokens.sum(-1) == pytest.approx(1e21 / 6e9)


def test_targets_and_choices_that_are_none(fit):
    answer = bs.pareto(fit, 1e21)
    with pytest.raises(DataError, match="give a target for each loss: 'text' has none"):
        answer.attainable(multimodal=1.9)
    with pytest.raises(DataError, match="Did you mean 'multimodal'"):
        answer.attainable(text=2.0, multimodl=1.9)
    with pytest.raises(DataError, match="target of text"):
        answer.attainable(text="low", multimodal=1.9)
    with pytest.raises(FitError, match="expected 'sum' or 'worst'"):
        answer.choose({"text": 1, "multimodal": 1}, by="mean")
    with pytest.raises(DataError, match=r"r = 0.7 is outside the frontier's 0.1 to 0.3"):
        answer.weights_of(0.7)


def test_mixtures_of_more_sources():
    fit = mixed(("text", "vision", "audio"), repetition=("audio",))
    with pytest.raises(FitError, match=r"there are 3 \(text, vision, audio\): give shares"):
        bs.pareto(fit, 1e21, r=0.1)
    with pytest.raises(DataError, match="rows of 3 numbers of at least 0"):
        bs.pareto(fit, 1e21, shares=[0.5, 0.5])
    with pytest.raises(DataError, match="shares of mixture 1 sum to 1.1; expected 1"):
        bs.pareto(fit, 1e21, shares=[0.5, 0.4, 0.2])
    with pytest.raises(DataError, match="shares lack 'audio'"):
        bs.pareto(fit, 1e21, shares={"text": 0.5, "vision": 0.5})
    with pytest.raises(FitError, match="nothing about repeating 'text': sources with repetition"):
        bs.pareto(fit, 1e21, U={"text": 1e9})
    two = bs.pareto(fit, 1e21, shares=[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    with pytest.raises(DataError, match="between two losses and two sources"):
        two.weights_of(0.5)
    assert len(np.unique(two.shares, axis=0)) == 2
