"""Picture of an IsoFLOP answer: slices, minima, power law, what lies beyond."""

import warnings

import numpy as np
import pandas as pd
import pytest
from plot_looking import bands_at, legend_texts, runs_drawn, texts

import bayescale as bs
from bayescale import plot
from bayescale.errors import FitError

BUDGETS = (1e18, 1e19, 1e20)


def slices(cut=False):
    """Parabolas around sqrt(C/120); with ``cut`` the largest budget has sizes above it only."""
    parts = []
    for C in BUDGETS:
        best = np.sqrt(C / 120)
        ends = (1.5, 8) if cut and BUDGETS[-1] == C else (1 / 5, 5)
        N = best * np.geomspace(*ends, 8)
        loss = 3.2 - 0.12 * np.log(C / 1e18) + 0.03 * np.log(N / best) ** 2
        parts.append(pd.DataFrame({"N": N, "C": C, "D": C / 6 / N, "loss": loss}))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(loss=table["loss"] * (1 + 0.001 * np.sin(np.arange(len(table)))))


@pytest.fixture(scope="module")
def answers(compile_cache):
    options = {"shape": "parabola", "draws": 200, "warmup": 200, "chains": 2, "progress": False}
    return {cut: bs.isoflop(slices(cut), C="1e21", **options) for cut in (False, True)}


def test_left_are_runs_and_bands_of_every_budget(answers, figure):
    left, _ = plot.slices(answers[False], figure=figure)
    table = slices()
    drawn = runs_drawn(left)
    assert sorted(drawn[:, 0]) == pytest.approx(sorted(table["N"]))
    assert sorted(drawn[:, 1]) == pytest.approx(sorted(table["loss"]))
    assert [t for t in texts(left) if "e" in t][:3] == ["C = 1.0e18", "1.0e19", "1.0e20"]


def test_right_is_the_power_law_of_the_answer(answers, figure):
    answer = answers[False]
    _, right = plot.slices(answer, figure=figure, extend=2.0)
    for edge in (1e18, 1e23):
        low, high = np.quantile(answer.n_opt(edge)[:, 0], [0.05, 0.95])
        assert bands_at(right, edge)[0] == pytest.approx((low, high), rel=0.05)
    told = legend_texts(right)[0].partition("$a$ = ")[2].replace("to", "").strip("()").split()
    a = np.quantile(answer.exponents["a"], [0.5, 0.05, 0.95])
    assert [float(x.strip("()")) for x in told] == pytest.approx(list(a), abs=1e-3)
    assert "beyond" in texts(right)[0]


def test_a_slice_without_an_interior_minimum_is_hollow(answers, figure):
    _, right = plot.slices(answers[True], figure=figure)
    assert "no interior minimum" in legend_texts(right)
    faces = [line.get_markerfacecolor() for line in right.lines if line.get_marker() == "D"]
    assert faces.count("white") == 1
    _, other = plot.slices(answers[False], figure=figure)
    assert "no interior minimum" not in legend_texts(other)


def test_slices_of_its_own_are_what_plot_isoflop_draws(answers, ax):
    plot.isoflop(answers[False].fit, ax=ax)
    assert len(runs_drawn(ax)) == len(slices())
    with pytest.raises(FitError, match="slices of its own: leave budgets, cost and group out"):
        plot.isoflop(answers[False].fit, ax=ax, budgets="1e19")


def test_two_axes_are_needed(answers, ax):
    with pytest.raises(FitError, match="2 panels"):
        plot.slices(answers[False], ax=ax)


def test_it_fits_eight_centimetres(answers, tmp_path):
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    small = Figure(figsize=(8 / 2.54, 12 / 2.54), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.slices(answers[True], figure=small)
        small.savefig(tmp_path / "x.png", dpi=200)
    shown = [t for t in small.findobj(Text) if t.get_visible() and t.get_text()]
    assert min(float(t.get_fontsize()) for t in shown) >= 5
