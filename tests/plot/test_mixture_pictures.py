"""Pictures of the best mixture and of what tokens are worth show the answers' numbers."""

import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure
from plot_looking import legend_texts

import bayescale as bs
from bayescale import plot
from bayescale.errors import FitError
from bayescale.plot import _mixture, _worth
from tests.answers.mixtures import REPEATED, made


@pytest.fixture(scope="module")
def fit():
    return made(REPEATED, draws=10)


@pytest.fixture(scope="module")
def best(fit):
    return bs.mix(fit, N="1B", D="40B", unique={"image": "4B"})


@pytest.fixture(scope="module")
def worths(fit):
    return bs.worth(fit, epochs=(2, 4))


def bars(ax):
    """(row, left, right) of every band, in rows from the bottom."""
    return [
        (p.get_y() + p.get_height() / 2, p.get_x(), p.get_x() + p.get_width()) for p in ax.patches
    ]


def markers(ax, marker):
    """Positions of markers of one kind."""
    lines = [x for x in ax.lines if x.get_marker() == marker and len(x.get_xdata()) == 1]
    return [(float(x.get_xdata()[0]), float(x.get_ydata()[0])) for x in lines]


def test_bands_and_marks_of_shares(best, ax):
    plot.mixture(best, ax=ax)
    drawn = bars(ax)
    for k, name in enumerate(best.sources):
        row, shares = 3 - k, 100 * best.draws["share"][:, k]
        for low, high in ((0.05, 0.95), (0.25, 0.75)):
            ends = np.quantile(shares, [low, high])
            assert any(r == row and np.allclose([a, b], ends) for r, a, b in drawn)
        assert (100 * best.recommended.shares[name], row) in markers(ax, "o")
        assert (100 * best.tried.shares[name], row) in markers(ax, "D")
    assert [t.get_text() for t in ax.get_yticklabels()] == list(best.sources)
    assert legend_texts(ax) == [
        "90% credible", "50% credible", "best single", "best tried", "tried"
    ]  # fmt: skip
    assert ax.get_xlabel() == "share of all sampled tokens (%)"
    assert "N = 1B" in ax.get_title(loc="left")


def test_rows_of_worths(worths, ax):
    plot.worth(worths, ax=ax)
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels[:2] == ["image, epoch 2", "image, epoch 4"]
    assert "audio → text" in labels
    rows = dict(zip(labels, range(len(labels), 0, -1), strict=True))
    for record in worths.token_records():
        row = rows[f"{record['source']} → {record['target']}"]
        q = record["worth"]
        assert any(r == row and np.allclose([a, b], [q["q05"], q["q95"]]) for r, a, b in bars(ax))
    harmful = [r for r in worths.token_records() if r["harm"] > 0.95]
    assert ("does harm (P > .95)" in legend_texts(ax)) == bool(harmful)


def test_worths_of_one_target_and_refusals(worths, ax):
    plot.worth(worths, ax=ax, targets="text")
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels == ["image → text", "audio → text"]
    assert ax.get_xlabel() == "worth of a token in the target's own"
    with pytest.raises(FitError, match="no target 'txt'.*Did you mean 'text'"):
        plot.worth(worths, ax=ax, targets="txt")


@pytest.mark.parametrize("name", ["mixture", "worth"])
def test_at_eight_centimetres_nothing_lies_outside(best, worths, name):
    answer = {"mixture": best, "worth": worths}[name]
    figure = Figure(figsize=(3.15, 3.0), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = getattr(plot, name)(answer, ax=figure.add_subplot())
        figure.draw_without_rendering()
    box = figure.bbox
    for artist in (*ax.get_yticklabels(), ax.xaxis.label, ax.get_legend()):
        ends = artist.get_window_extent()
        assert ends.x0 >= box.x0 - 1
        assert ends.y0 >= box.y0 - 1
        assert ends.x1 <= box.x1 + 1
    assert ax.get_legend().get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0 + 1
    assert _mixture.picture_size(best)[1] < 4
    assert _worth.picture_size(worths)[1] > 2


def test_a_fit_that_failed_says_so_in_the_title(best, worths, ax):
    from dataclasses import replace

    plot.mixture(replace(best, converged=False), ax=ax)
    assert "fails its gate" in ax.get_title(loc="left")
    ax.clear()
    plot.worth(replace(worths, converged=False), ax=ax)
    assert "fails its gate" in ax.get_title(loc="left")
