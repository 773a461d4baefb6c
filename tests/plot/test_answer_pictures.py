"""Pictures of served models, limited data, multipliers and invariance: at 8 cm, and refusals."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayescale as bs
from bayescale import plot
from bayescale.data.simulate import simulated_sweep
from bayescale.laws import LAWS
from tests.answers.brute import designed
from tests.answers.conftest import made_up

TWO = ("serving", "data_limit")


@pytest.fixture(scope="module")
def answers():
    sweep = simulated_sweep()[0]
    fit = made_up("chinchilla", sweep, draws=20)
    law = LAWS["repetition-tokens"]
    runs = bs.read_runs(sweep.table.assign(corpus=["web", "code", "books"] * (len(sweep) // 3)))
    pooled = made_up("chinchilla", runs, pooling={"A": bs.partial("corpus")}, draws=20)
    limited = made_up(law, designed(law), draws=20)
    served = [0, 1e10, 1e12, 1e14]
    return {
        "serving": bs.inference_optimum(fit, C=[1e21, 1e22], inference_tokens=served),
        "data_limit": bs.allocate_limited(limited, [1e19, 1e20, 1e21], ["5B", "20B"]),
        "multiplier": bs.compute_multiplier(pooled, "web", [1e19, 1e20, 1e21]),
        "invariance": bs.equal_exponents(fit, loo=False),
        "one budget": bs.compute_multiplier(pooled, "web", 1e20, groups="code"),
    }


def draw(name, answer, width=8 / 2.54):
    """A figure of this width, with every warning an error."""
    two = name in TWO
    figure = Figure(figsize=(width, width * (1.5 if two else 0.72)), layout="constrained")
    where = {"figure": figure} if two else {"ax": figure.add_subplot()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(plot, name)(answer, **where)
        figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("name", ["serving", "data_limit", "multiplier", "invariance"])
def test_each_fits_eight_centimetres_and_has_units(answers, name):
    figure = draw(name, answers[name])
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    assert min(t.get_fontsize() for t in texts) >= 5
    for panel in figure.axes:
        box = panel.get_tightbbox().transformed(figure.transFigure.inverted())
        assert box.x0 > -0.02
        assert box.x1 < 1.03
        assert panel.get_xlabel()
        assert panel.get_ylabel()
    said = " ".join(t.get_text() for t in texts)
    assert "90% credible" in said


def test_medians_are_drawn_where_they_are(answers):
    found = answers["multiplier"]
    figure = draw("multiplier", found, 6)
    drawn = [line for line in figure.axes[0].get_lines() if line.get_marker() == "o"]
    (line,) = [x for x in drawn if len(x.get_xdata()) == 3]
    np.testing.assert_allclose(line.get_ydata(), np.median(found.draws[:, 0], axis=0))
    np.testing.assert_allclose(line.get_xdata(), found.C)


def test_one_budget_is_a_bar_not_a_band(answers):
    ax = draw("multiplier", answers["one budget"], 6).axes[0]
    assert not [c for c in ax.collections if type(c).__name__ == "FillBetweenPolyCollection"]
    assert len([c for c in ax.collections if type(c).__name__ == "LineCollection"]) == 2
    assert "code against web" in ax.get_title(loc="left")


def test_a_fit_that_failed_its_gate_is_named(answers):
    for name in ("serving", "data_limit", "multiplier", "invariance"):
        figure = draw(name, replace(answers[name], converged=False))
        assert "fails its gate" in figure.axes[0].get_title(loc="left")
        said = figure.axes[0].get_title(loc="left")
        assert "\n" in said


def test_what_cannot_be_drawn_is_refused(answers):
    found = answers["serving"]
    with pytest.raises(bs.FitError, match="needs inference tokens above 0"):
        plot.serving(replace(found, inference_tokens=np.zeros(4)))
    none = {k: np.full_like(v, np.nan) for k, v in found.draws.items()}
    with pytest.raises(bs.FitError, match="no draw reaches the loss"):
        plot.serving(replace(found, draws=none))
    many = answers["multiplier"]
    with pytest.raises(bs.FitError, match="6 recipes at most"):
        plot.multiplier(replace(many, recipes=tuple("abcdefg")))
    with pytest.raises(bs.FitError, match="no compute of the reference is enough"):
        plot.multiplier(replace(many, draws=np.full_like(many.draws, np.inf)))
    limited = answers["data_limit"]
    with pytest.raises(bs.FitError, match="6 limits at most"):
        plot.data_limit(replace(limited, unique_tokens=np.arange(1.0, 8)))
