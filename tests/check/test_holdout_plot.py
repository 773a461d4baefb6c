"""The picture of a hold-out."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from bayescale import plot
from bayescale.check import holdout
from bayescale.check.extrapolation import run
from bayescale.data import read_runs
from bayescale.errors import FitError
from tests.answers.conftest import made_up


@pytest.fixture(scope="module")
def result():
    """Made-up fits of two laws, and the 19 largest of 48 runs."""
    rng = np.random.default_rng(0)
    N, D = np.tile(np.geomspace(1e8, 8e8, 6), 8), np.repeat(np.geomspace(1e9, 1e11, 8), 6)
    loss = 1.7 + 0.3 * (N / 3e8) ** -0.35 + 0.3 * (D / 1e10) ** -0.35
    table = pd.DataFrame({"N": N, "D": D, "loss": loss * np.exp(0.01 * rng.standard_normal(48))})

    def stream(law, datasets, **options):
        for key, runs in datasets.items():
            yield key, made_up(law, runs, spread=0.03)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "stream_fits", stream)
        return holdout(["chinchilla", "coupled"], read_runs(table), split="fraction:0.6")


def test_a_panel_a_law_and_the_coverage(result):
    figure = Figure(figsize=(8.8, 6.4), layout="constrained")
    axes = plot.holdout(result, figure=figure)
    assert len(axes) == 3
    for ax, label in zip(axes, ("chinchilla", "coupled"), strict=False):
        found = result.overall[label]
        assert ax.get_title(loc="left") == (
            f"{label}: {found['coverage']['90']:.0%} of {found['n_test']} in 90%"
        )
        drawn = np.concatenate([c.get_offsets() for c in ax.collections if len(c.get_offsets())])
        frame = result.to_frame().query("law == @label")
        points = {tuple(np.round(p, 9)) for p in np.asarray(drawn)}
        expected = set(zip(frame["observed"].round(9), frame["median"].round(9), strict=True))
        assert expected <= points
    (legend,) = figure.legends
    said = [t.get_text() for t in legend.get_texts()]
    assert said[:2] == ["90% new run", "50% new run"]


def test_coverage_lines_go_through_the_scores(result):
    axes = plot.holdout(result, figure=Figure(figsize=(8.8, 6.4), layout="constrained"))
    for line, label in zip(axes[-1].lines[1:], result.labels, strict=True):
        level, share = np.asarray(line.get_xydata()).T
        for nominal, found in result.overall[label]["coverage"].items():
            at = share[np.flatnonzero(level == int(nominal))[0]]
            # ends of an interval lie between draws: a run on the edge may fall on either side
            assert at == pytest.approx(100 * found, abs=100 / result.overall[label]["n_test"] + 1)


def test_it_fits_a_column_of_eight_centimetres(result, tmp_path):
    figure = Figure(figsize=(3.15, 6.6), layout="constrained")
    axes = plot.holdout(result, figure=figure)
    figure.savefig(tmp_path / "narrow.png", dpi=100)
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert len({round(ax.get_position().x0, 3) for ax in axes}) == 1  # one below the other
    assert min(t.get_fontsize() for ax in axes for t in ax.get_xticklabels()) >= 5


def test_some_of_the_laws_in_axes_of_ones_own(result):
    figure = Figure(figsize=(8, 3))
    given = [figure.add_subplot(1, 2, k + 1) for k in range(2)]
    axes = plot.holdout(result, ax=given, labels=["coupled"], title="mine")
    assert list(axes) == given
    assert given[0].get_title(loc="left") == "mine"
    with pytest.raises(FitError, match="Did you mean 'coupled'"):
        plot.holdout(result, labels=["couplet"])
    with pytest.raises(FitError, match="say which"):
        plot.holdout(result, labels=[])
    with pytest.raises(FitError, match="3 panels"):
        plot.holdout(result, ax=given)
