"""IsoFLOP slices, residuals, prior against posterior, and the overview."""

import numpy as np
import pytest
from plot_looking import bands_at, legend_texts, runs_drawn, texts
from plot_sweep import BAD_ROW, BUDGETS

from bayescale import plot
from bayescale.errors import DataError, FitError
from bayescale.plot import style
from bayescale.plot._isoflop import choose_budgets
from bayescale.plot.bands import groups


def test_isoflop_slices(fit, ax):
    assert plot.isoflop(fit, ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("parameters N", "loss (nats/token)")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert len(runs_drawn(ax)) == len(fit.runs)  # all lie on a slice
    assert {"90% credible", "50% credible"} <= set(legend_texts(ax))
    assert [t for t in texts(ax) if "FLOP" in t] == ["C = 6.00e18 FLOP"]
    assert len(ax.containers) == len(BUDGETS)  # a marked minimum on each


def test_isoflop_bands_and_minimum(fit, ax):
    plot.isoflop(fit, ax=ax, budgets="1e20")
    curve = ax.lines[0].get_xydata()
    N = float(curve[12, 0])
    draws = fit.predict(N=N, C=1e20).loss[:, 0]
    wide, narrow = bands_at(ax, N)
    np.testing.assert_allclose([*wide, *narrow], np.quantile(draws, [0.05, 0.95, 0.25, 0.75]))
    best = fit.allocate(1e20).draws["N_opt"][:, 0]
    marker, _, (bar,) = ax.containers[0].lines
    assert marker.get_xdata()[0] == pytest.approx(np.median(best))
    ends = bar.get_segments()[0][:, 0]
    np.testing.assert_allclose(ends, np.quantile(best, [0.05, 0.95]), rtol=1e-6)


def test_isoflop_budgets(fit, one_size):
    (part,) = groups(fit, {})
    np.testing.assert_allclose(choose_budgets(fit, part), BUDGETS)
    (part,) = groups(one_size, {})  # no two runs share a budget
    np.testing.assert_allclose(
        choose_budgets(one_size, part),
        np.exp(np.quantile(np.log(one_size.runs.column("C")), [0.1, 0.3, 0.5, 0.7, 0.9])),
    )


def test_isoflop_of_groups_asks_which(pooled, ax):
    with pytest.raises(FitError, match=r"has 2 groups by corpus.*say which, e.g. corpus='web'"):
        plot.isoflop(pooled, ax=ax)
    plot.isoflop(pooled, ax=ax, corpus="web")
    with pytest.raises(DataError, match="C = 24.* would mean 24 FLOP"):
        plot.isoflop(pooled, ax=ax, corpus="web", budgets=24)


def test_residuals_panels(fit, figure):
    axes = plot.residuals(fit, figure=figure)
    labels = [a.get_xlabel() for a in axes]
    assert labels == [
        "parameters N",
        "training tokens D",
        "compute C (FLOP)",
        "fitted loss (nats/token)",
    ]
    assert axes[0].get_ylabel() == "residual (%)"
    assert all(a.get_xscale() == "log" for a in axes)
    answer = fit.predict(N=fit.runs.column("N"), D=fit.runs.column("D"))
    fitted = np.median(answer.loss, axis=0)
    expected = 100 * (fit.runs.column("loss") / fitted - 1)
    for a in axes:
        np.testing.assert_allclose(np.sort(runs_drawn(a)[:, 1]), np.sort(expected))
    (legend,) = figure.legends
    listed = [t.get_text() for t in legend.get_texts()]
    assert {"90% predictive", "50% predictive", "flagged when read"} <= set(listed)


def test_residual_bands_hold_new_runs(fit, ax):
    assert plot.residuals(fit, ax=ax) is ax
    answer = fit.predict(N=fit.runs.column("N"), D=fit.runs.column("D"))
    new = 100 * (answer.new_run / np.median(answer.loss, axis=0) - 1)
    x = float(runs_drawn(ax)[:, 0].min())
    wide, narrow = bands_at(ax, x, style.SKY)
    np.testing.assert_allclose([*wide, *narrow], np.quantile(new, [0.05, 0.95, 0.25, 0.75]))


def test_outlier_is_named_by_its_row_and_circled(fit, ax):
    plot.residuals(fit, ax=ax, against="N")
    assert str(BAD_ROW) in texts(ax)
    rings = [c for c in ax.collections if not len(c.get_facecolors()) and len(c.get_offsets())]
    N = fit.runs.column("N")[BAD_ROW - 1]
    assert any(np.isclose(ring.get_offsets()[:, 0], N).any() for ring in rings)
    low, high = ax.get_ylim()
    assert low < runs_drawn(ax)[:, 1].min() < runs_drawn(ax)[:, 1].max() < high


def test_residuals_of_groups_are_of_their_own_law(pooled, ax):
    plot.residuals(pooled, ax=ax, against="C")
    drawn = np.sort(runs_drawn(ax)[:, 1])
    assert len(drawn) == len(pooled.runs)
    assert np.median(np.abs(drawn)) < 1.5  # a shared E would leave 4% in each corpus


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"against": "tokens_seen"},
            "can't be drawn against 'tokens_seen'; known: N, D, C, fitted",
        ),
        ({"against": []}, "against names nothing"),
        ({"against": ["N", "D"]}, "has 2 panels .* and ax gives 1 axes"),
        ({"corpus": "c4"}, "unknown argument 'corpus'"),
    ],
)
def test_residual_refusals(fit, ax, options, message):
    with pytest.raises(FitError, match=message):
        plot.residuals(fit, ax=ax, **options)


def test_prior_posterior_marks_what_was_not_learnt(one_size, figure):
    axes = plot.prior_posterior(one_size, figure=figure)
    marked = {a.get_xlabel(): "posterior = prior" in texts(a) for a in axes}
    assert marked[r"$\alpha$"]
    assert not marked[r"$\beta$"]
    assert "$E$ (nats/token)" in marked
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["prior", "posterior", "90% credible"]


def test_prior_posterior_densities(fit, figure):
    (one,) = plot.prior_posterior(fit, names="alpha", figure=figure)
    prior, posterior = (line.get_xydata() for line in one.lines[:2])
    assert prior[:, 1].max() == posterior[:, 1].max() == 1
    draws = fit.draws("alpha")
    peak = posterior[np.argmax(posterior[:, 1]), 0]
    assert np.quantile(draws, 0.25) < peak < np.quantile(draws, 0.75)
    mode = 0.35 * np.exp(-(0.4**2))  # of the declared prior LogNormal(0.35, 0.4)
    assert prior[np.argmax(prior[:, 1]), 0] == pytest.approx(mode, rel=0.15)
    low, high = np.quantile(draws, [0.05, 0.95])
    share = draws.std() / (0.35 * np.exp(0.08) * np.sqrt(np.exp(0.16) - 1))
    assert float(texts(one)[0].split()[1].rstrip("%")) == pytest.approx(100 * share, abs=1.5)
    shaded = one.collections[1].get_paths()[0].vertices[:, 0]
    assert low <= shaded.min() < shaded.max() <= high


def test_prior_posterior_names(pooled, figure):
    axes = plot.prior_posterior(pooled, names=["E", "a"], figure=figure)
    assert [a.get_xlabel() for a in axes] == [
        "$E$[web] (nats/token)",
        "$E$[books] (nats/token)",
        "$a$",
    ]
    with pytest.raises(FitError, match="this fit has no 'alhpa'.*Did you mean 'alpha'"):
        plot.prior_posterior(pooled, names="alhpa")
    with pytest.raises(FitError, match="0 parameters can't be drawn at once"):
        plot.prior_posterior(pooled, names=[])


def test_overview(fit, power, figure):
    from matplotlib.figure import Figure

    assert plot.overview(fit, figure=figure) is figure
    titles = [a.get_title(loc="left") for a in figure.axes]
    assert titles[:4] == [
        "Loss against compute",
        "Observed over fitted loss",
        "Compute-optimal parameters and tokens",
        "Compute-optimal tokens per parameter",
    ]
    assert "28 runs" in figure.get_suptitle()
    assert len(plot.overview(power, figure=Figure(figsize=(9, 4))).axes) == 2
