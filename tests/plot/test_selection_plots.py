"""Pictures of backbone selection and of the transfer tax show the answers' numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from plot_looking import bands_at

import bayescale as bs
from bayescale import plot
from bayescale.plot import _selection, _transfer_tax, style
from tests.answers.selection_fits import SIZES, accuracy_fit, fit_of, loss_fit, table


@pytest.fixture(scope="module")
def answer():
    return bs.select(accuracy_fit(), ["1e20", "1e22"])


def legend_of(figure):
    return [t.get_text() for t in figure.legends[0].get_texts()]


def test_probabilities_and_responses_are_the_answers(answer, figure):
    left, right = plot.selection(answer, figure=figure)
    drawn = [line for line in left.lines if len(line.get_xdata()) == _selection.GRID]
    names = legend_of(figure)
    assert "90% credible" in names
    x = drawn[0].get_xdata()
    assert (x[0], x[-1]) == pytest.approx(answer.within)
    at = answer.contest(x)
    chance = at.probability()
    step = -(-answer.contenders.size // 1000)
    assert step == 1
    for k, (line, name) in enumerate(zip(drawn, names, strict=False)):
        if name == "all others":
            continue
        m = answer.models.index(name)
        np.testing.assert_allclose(line.get_ydata(), chance[:, m])
        if k < _selection.BANDED:
            low, high = np.quantile(at.values[:, 40, m], [0.05, 0.95])
            ((lower, upper),) = bands_at(right, x[40], style.COLOURS[k])
            assert (lower, upper) == pytest.approx((low, high))
    assert left.get_ylabel() == "P(best)"
    assert (left.get_xscale(), right.get_ylabel()) == ("log", "accuracy")
    styles = {str(line.get_linestyle()) + str(line._dash_pattern) for line in drawn}
    assert len(styles) == len(drawn), "lines are told apart in grey"


def test_lines_can_be_chosen_and_others_are_summed(answer, figure):
    left, _ = plot.selection(answer, figure=figure, models=["m0"], within=("1e19", "1e23"))
    names = legend_of(figure)
    assert names[:2] == ["m0", "all others"]
    own, rest = (line for line in left.lines if len(line.get_xdata()) == _selection.GRID)
    np.testing.assert_allclose(own.get_ydata() + rest.get_ydata(), 1)


def test_losses_have_their_unit_and_a_failed_fit_says_so(figure):
    from dataclasses import replace

    answer = replace(bs.select(loss_fit(), "1e21", params=SIZES), converged=False)
    left, right = plot.selection(answer, figure=figure)
    assert right.get_ylabel() == "loss (nats/token)"
    assert "fails its gate" in left.get_title("left")


def test_without_budgets_the_leading_backbones_are_ranked(figure):
    fit = fit_of(table().drop(columns=["D", "N"]).drop_duplicates("model"))
    answer = bs.select(fit)
    left, right = plot.selection(answer, figure=figure)
    ranked = [s.model for s in answer.standings[0]]
    assert [t.get_text() for t in left.get_yticklabels()] == ranked
    widths = [bar.get_width() for bar in left.patches]
    assert widths == pytest.approx([s.p_best for s in answer.standings[0]])
    middles = [line.get_xdata()[0] for line in right.lines if line.get_marker() == "o"]
    assert middles == pytest.approx([s.response["median"] for s in answer.standings[0]])


def test_what_a_selection_plot_cannot_show_is_refused(answer):
    with pytest.raises(bs.FitError, match="no backbone 'm9' in this answer.*Did you mean"):
        plot.selection(answer, models=["m9"], figure=Figure())
    with pytest.raises(bs.FitError, match="shows 1 to 6 backbones, and models names 0"):
        plot.selection(answer, models=[], figure=Figure())
    with pytest.raises(bs.FitError, match="has 2 panels"):
        plot.selection(answer, ax=[Figure().add_subplot()])


def test_transfer_lines_are_the_intervals_and_taxes_stand_out(ax):
    found = bs.transfer_tax(accuracy_fit())
    assert plot.transfer_tax(found, ax=ax) is ax
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == [r["benchmark"] for r in found.records()]
    count = len(names)
    for height, record in zip(range(count, 0, -1), found.records(), strict=True):
        lines = [x for x in ax.lines if np.ptp(x.get_ydata()) == 0 and x.get_ydata()[0] == height]
        wide = next(x for x in lines if len(x.get_xdata()) == 2)
        q = record["lambda"]
        assert wide.get_xdata() == pytest.approx([q["q05"], q["q95"]])
        point = next(x for x in lines if len(x.get_xdata()) == 1)
        assert point.get_xdata()[0] == pytest.approx(q["median"])
        expected = "D" if record["benchmark"] in found.tax else "o"
        assert point.get_marker() == expected
    plot.transfer_tax(found, ax=Figure().add_subplot(), most=2)
    with pytest.raises(bs.FitError, match="most is 0"):
        plot.transfer_tax(found, most=0)
    assert _transfer_tax.picture_size(found)[1] > 1.3
