"""The picture of a Pareto frontier: bands, markers, runs, and how small it can be."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from plot_looking import legend_texts, line_of, runs_drawn, texts

import bayescale as bs
from bayescale import plot
from bayescale.data.designs.text_multimodal import simulate_text_multimodal
from bayescale.errors import FitError
from bayescale.plot import style
from bayescale.plot._pareto import save_pareto


@pytest.fixture(scope="module")
def frontier_fit(compile_cache):
    few = {"chains": 2, "draws": 150, "warmup": 150, "progress": False}
    return bs.fit("decoupled", simulate_text_multimodal(0), seed=1, **few)


@pytest.fixture(scope="module")
def answer(frontier_fit):
    return bs.pareto(frontier_fit, 1e22)


def test_bands_are_quantiles_of_each_draw_s_crossing(answer, frontier_fit):
    longer = bs.pareto(frontier_fit, 1e22, r="0.03:1")  # past the ends, as the bands are drawn
    low, middle, high = answer.band(levels=(0.05, 0.5, 0.95))
    assert low.shape == answer.loss.shape[2:]
    assert (low < middle).all()
    assert (middle < high).all()
    for curve, level in ((low, 0.05), (middle, 0.5), (high, 0.95)):
        corner = curve[25]
        found = longer.attainable(**dict(zip(answer.objectives, corner, strict=True)))[0]
        assert found == pytest.approx(level, abs=0.03)


def test_picture_shows_line_bands_markers_and_runs(answer, ax):
    assert plot.pareto(answer, ax) is ax
    assert ax.get_xlabel() == "text loss (nats/token)"
    assert ax.get_ylabel() == "multimodal loss (nats/token)"
    middle = answer.band(levels=(0.5,))[0]
    np.testing.assert_allclose(line_of(ax, style.BLUE), middle)
    marks = np.median(answer.loss[:, 0, list(answer.marks)], axis=0)
    drawn = runs_drawn(ax)
    for mark in marks:
        assert np.isclose(drawn, mark).all(1).any()
    assert "r = 0.1" in texts(ax)
    assert {"C = 1e22 FLOP", "90% credible", "50% credible"} <= set(legend_texts(ax))


def test_runs_in_view_are_counted(frontier_fit, ax):
    low = bs.pareto(frontier_fit, 1e21)
    plot.pareto(low, ax)
    said = next(t for t in legend_texts(ax) if t.startswith("runs ("))
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = low.runs.T
    inside = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    assert said in (f"runs ({inside.sum()} of {len(x)})", f"runs ({len(x)})")


def test_eight_centimetres_hold_two_budgets(frontier_fit, tmp_path):
    figure = Figure(figsize=(8 / 2.54, 6 / 2.54), layout="constrained")
    plot.pareto(bs.pareto(frontier_fit, [1e22, 1e24]), figure.add_subplot())
    figure.savefig(tmp_path / "x.png", dpi=100)
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    sizes = [float(t.get_fontsize()) for t in shown]  # pyright: ignore[reportAttributeAccessIssue]
    assert min(sizes) >= 5


def test_truth_and_other_pairs(answer, ax):
    curve = np.median(answer.loss[:, 0], axis=0)
    plot.pareto(answer, ax, objectives=("multimodal", "text"), truth=curve[:, ::-1])
    assert ax.get_xlabel().startswith("multimodal")
    assert "truth" in legend_texts(ax)


def test_refusals(answer, frontier_fit, tmp_path):
    before = plt.get_fignums()
    with pytest.raises(FitError, match="no loss 'image'; losses are text, multimodal"):
        plot.pareto(answer, objectives=("text", "image"))
    with pytest.raises(FitError, match="expected two losses"):
        plot.pareto(answer, objectives=("text", "text"))
    many = bs.pareto(frontier_fit, [1e20, 1e21, 1e22, 1e23, 1e24], r=[0.1, 0.2])
    with pytest.raises(FitError, match="4 frontiers can be told apart"):
        save_pareto(many, tmp_path / "x.png")
    assert plt.get_fignums() == before
    assert not list(tmp_path.iterdir())
