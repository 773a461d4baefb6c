"""Searches for a point estimate: laws with labels, scales of noise, many minima."""

import math

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.inference import huber as module
from bayescale.law import Input, Law, Param
from bayescale.priors import LogNormal, Normal


def two_targets():
    """A law with a slope for each target and source, its runs, and the truth."""
    law = Law(
        "axes",
        (Input("x", dims=("source",)),),
        (
            Param("floor", LogNormal(1, 1), by="target"),
            Param("w", LogNormal(1, 1), dims=("source",), by="target"),
        ),
        lambda floor, w, x: floor + (w * x).sum(-1),
        response="score",
        labels={"target": ("text", "image"), "source": ("web", "books")},
    )
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.uniform(0.5, 3, (40, 2)), columns=["x_web", "x_books"])
    frame["target"] = ["text", "image"] * 20
    floor, web = (
        frame.target.map({"text": 1.0, "image": 2.0}),
        frame.target.map({"text": 0.5, "image": 0.2}),
    )
    frame["score"] = floor + web * frame.x_web + 0.8 * frame.x_books
    truth = {
        "floor[text]": 1.0,
        "floor[image]": 2.0,
        "w[text,web]": 0.5,
        "w[image,web]": 0.2,
        "w[text,books]": 0.8,
        "w[image,books]": 0.8,
    }
    return law, frame, truth


@pytest.mark.parametrize("search", ["descent", "evolution"])
def test_laws_with_labels_are_fitted_by_both_searches(search):
    law, frame, truth = two_targets()
    fit = bs.fit_point(law, frame, search=search, starts=3)
    assert fit.params == pytest.approx(truth, rel=1e-4)
    assert set(fit.to_frame().index) == set(truth)
    asked = fit.predict(x_web=2.0, x_books=1.0, target="image")
    assert asked.loss == pytest.approx([2 + 0.4 + 0.8], rel=1e-4)
    with pytest.raises(bs.FitError, match="differs by 'target': say which"):
        fit.predict(x_web=2.0, x_books=1.0)


def test_residuals_are_on_the_scale_of_the_laws_noise():
    """An accuracy law is fitted in accuracy, or in log odds, not in its logarithm."""
    x = np.linspace(-2, 2, 30)
    rng = np.random.default_rng(5)
    odds = 0.4 + 0.9 * x + rng.normal(0, 0.1, 30)
    frame = pd.DataFrame({"x": x, "accuracy": 1 / (1 + np.exp(-odds))})
    params = (Param("a", Normal(0, 2)), Param("b", Normal(0, 2)))

    def mean(a, b, x):
        return 1 / (1 + bs.law.namespace(a, b, x).exp(-(a + b * x)))

    inputs = (Input("x", positive=False),)
    law = Law("odds", inputs, params, mean, response="accuracy", noise=bs.Noise(on="logit"))
    fit = bs.fit_point(law, frame, delta=math.inf, starts=4)
    slope, intercept = np.polyfit(x, odds, 1)
    assert [fit.params["a"], fit.params["b"]] == pytest.approx([intercept, slope], rel=1e-5)
    assert fit.residuals == pytest.approx(odds - intercept - slope * x, abs=1e-5)
    assert "log odds of accuracy" in str(fit)
    frame.loc[3, "accuracy"] = 1.0
    with pytest.raises(bs.DataError, match="'accuracy' is 1 in row 4.*log odds"):
        bs.fit_point(law, frame)


def test_evolution_finds_the_lowest_of_many_minima():
    """Where most descents end in a worse minimum, one population ends in the best."""

    def mean(shift, x):
        xp = bs.law.namespace(shift, x)
        return 2 + xp.cos(8 * (shift - x)) + 0.05 * shift**2 / (1 + x)

    law = Law("waves", (Input("x"),), (Param("shift", Normal(0.0, 3.0)),), mean, response="score")
    x = np.linspace(0.1, 0.4, 12)
    frame = pd.DataFrame({"x": x, "score": mean(2.0, x)})
    fit = bs.fit_point(law, frame, search="evolution")
    assert fit.params["shift"] == pytest.approx(2.0, abs=1e-3)
    assert fit.starts.reached >= 2  # of three populations
    assert "differential evolution" in str(fit)
    with pytest.raises(bs.FitError, match="search is 'magic'; expected descent or evolution"):
        bs.fit_point(law, frame, search="magic")


def test_the_objective_is_summed_so_that_the_search_does_not_stop_early():
    """An objective a million times smaller ends at the same place."""
    gradient_calls = []

    def bowl(vector):
        gradient_calls.append(vector)
        return 1e-9 + 1e-6 * float(vector @ vector), 2e-6 * vector

    start = np.array([3.0, -2.0])
    vector, value = module.descend(bowl, start, unit=bowl(start)[0])
    assert vector == pytest.approx([0.0, 0.0], abs=1e-6)
    assert value == pytest.approx(1e-9, rel=1e-6)
