"""Loss, allocation and tokens per parameter along compute."""

import numpy as np
import pytest
from plot_looking import bands_at, legend_texts, line_of, runs_drawn, texts
from plot_sweep import BAD_ROW, BUDGETS, TRUTH

from bayescale import plot
from bayescale.errors import DataError, FitError
from bayescale.plot import style

QUANTILES = [0.05, 0.95, 0.25, 0.75]


def check_bands(ax, draws, x, colour=style.BLUE):
    """The two bands at x hold the 90 and 50% quantiles of these draws."""
    wide, narrow = bands_at(ax, x, colour)
    expected = np.nanquantile(draws, QUANTILES)
    np.testing.assert_allclose([*wide, *narrow], expected, rtol=1e-6)


def test_loss_curves_show_runs_frontier_and_bands(fit, ax):
    assert plot.loss_curves(fit, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "compute C (FLOP)"
    assert ax.get_ylabel() == "loss (nats/token)"
    drawn = runs_drawn(ax)
    expected = np.column_stack([fit.runs.column("C"), fit.runs.column("loss")])
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    line = line_of(ax, style.BLUE)
    assert line[-1, 0] == pytest.approx(10**1.5 * max(BUDGETS))
    at = line[[0, 20, -1], 0]
    answer = fit.allocate(list(at))
    np.testing.assert_allclose(line[[0, 20, -1], 1], np.median(answer.draws["loss"], axis=0))
    for k, x in enumerate(at):
        check_bands(ax, answer.draws["loss"][:, k], x)
    listed = legend_texts(ax)
    assert {"90% credible", "50% credible"} <= set(listed)
    assert any(t.startswith("irreducible loss E = ") for t in listed)
    assert any(t.startswith("beyond") for t in texts(ax))


def test_loss_curves_of_one_variable_name_predictive_lines(power, ax):
    plot.loss_curves(power, ax=ax, extend=1)
    assert ax.get_xlabel() == "model parameters N (parameters)"
    listed = legend_texts(ax)
    assert {"90% credible", "50% credible", "90% predictive (a new run)"} <= set(listed)
    line = line_of(ax, style.BLUE)
    x = float(line[16, 0])
    check_bands(ax, power.predict(N=x).loss[:, 0], x)
    new = np.concatenate([power.predict(N=x, seed=k).new_run[:, 0] for k in range(20)])
    low, high = (
        line_y
        for line_y in sorted(c.get_ydata()[16] for c in ax.lines if "--" in str(c.get_linestyle()))
    )
    spread = np.ptp(np.quantile(new, [0.05, 0.95]))
    np.testing.assert_allclose([low, high], np.quantile(new, [0.05, 0.95]), atol=0.08 * spread)


def test_allocation_bands_and_slopes(fit, ax):
    known = {"C": [1e20, 1e21], "N_opt": ["900M", "3B"]}
    assert plot.allocation(fit, ax=ax, known=known) is ax
    assert ax.get_xlabel() == "compute C (FLOP)"
    assert ax.get_ylabel() == "parameters N, tokens D"
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    line = line_of(ax, style.BLUE)
    at = line[[0, -1], 0]
    answer = fit.allocate(list(at))
    for k, x in enumerate(at):
        check_bands(ax, answer.draws["N_opt"][:, k], x, style.BLUE)
        check_bands(ax, answer.draws["D_opt"][:, k], x, style.VERMILLION)
    listed = legend_texts(ax)
    said = next(t for t in listed if "$a$ = " in t).split("$a$ = ")[1]
    numbers = [float(x.strip("()")) for x in said.replace(" to ", " ").split()]
    expected = np.quantile(fit.draws("a"), [0.5, 0.05, 0.95])
    np.testing.assert_allclose(numbers, expected, atol=0.0006)
    assert {"90% credible", "50% credible"} <= set(listed)
    np.testing.assert_allclose(runs_drawn(ax), [[1e20, 9e8], [1e21, 3e9]])


def test_tokens_per_param_bands_and_rule(fit, ax):
    assert plot.tokens_per_param(fit, ax=ax, extend=0.5) is ax
    assert ax.get_ylabel() == "tokens per parameter D/N"
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    x = float(line_of(ax, style.BLUE)[10, 0])
    check_bands(ax, fit.allocate(x).draws["tokens_per_param"][:, 0], x)
    rule = [line for line in ax.lines if set(line.get_ydata()) == {20.0}]
    assert [line.get_linestyle() for line in rule] == [":"]
    assert "20, rule of thumb (Hoffmann et al. 2022)" in legend_texts(ax)


def test_truth_is_the_closed_form(fit, ax):
    """N_opt = G (C/6)^a with G = (alpha A / beta B)^(1 / (alpha + beta))."""
    plot.allocation(fit, ax=ax, truth=TRUTH)
    both = TRUTH["alpha"] + TRUTH["beta"]
    G = (TRUTH["alpha"] * TRUTH["A"] / (TRUTH["beta"] * TRUTH["B"])) ** (1 / both)
    drawn = [
        line for line in ax.lines if line.get_color() == style.INK and len(line.get_xdata()) > 2
    ]
    C, N = drawn[0].get_data()
    np.testing.assert_allclose(N, G * (C / 6) ** (TRUTH["beta"] / both), rtol=1e-6)
    assert legend_texts(ax).count("truth") == 1


def test_groups_are_drawn_one_curve_each(pooled, ax):
    plot.loss_curves(pooled, ax=ax)
    listed = legend_texts(ax)
    assert {"web", "books", "90% credible", "50% credible"} <= set(listed)
    assert len(runs_drawn(ax)) == len(pooled.runs)
    line = line_of(ax, style.VERMILLION)
    expected = pooled.allocate(float(line[5, 0]), corpus="books").draws["loss"]
    assert line[5, 1] == pytest.approx(np.median(expected))


def test_one_group_shows_its_own_runs(pooled, ax):
    plot.loss_curves(pooled, ax=ax, corpus="books")
    mine = pooled.runs.column("corpus") == "books"
    drawn = runs_drawn(ax)
    assert len(drawn) == mine.sum()
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(pooled.runs.column("loss")[mine]))


def test_failed_gate_is_said_above_the_axes(one_size, ax):
    plot.loss_curves(one_size, ax=ax)
    assert any(t.startswith("NOT CONVERGED") or t.startswith("NOT IDENTIFIED") for t in texts(ax))


def test_bad_run_is_in_the_picture(fit, ax):
    plot.loss_curves(fit, ax=ax)
    low, high = ax.get_ylim()
    assert low < fit.runs.column("loss")[BAD_ROW - 1] < high


@pytest.mark.parametrize("kind", ["allocation", "tokens_per_param", "isoflop"])
def test_laws_without_n_and_d_are_refused(power, ax, kind):
    with pytest.raises(FitError, match="law 'power-law-N' reads N; an allocation needs a law of"):
        plot.PLOTS[kind](power, ax=ax)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"extend": -1}, FitError, "extend is -1; expected a number of decades from 0 to 20"),
        ({"extend": "2"}, FitError, "extend is '2'"),
        ({"corpus": "c4"}, FitError, "unknown argument 'corpus': the fit has no groups"),
        ({"truth": {"E": 1.8}}, FitError, "truth lacks A, B, alpha, beta"),
        ({"known": {"C": [1e20]}}, FitError, "known needs C and at least one of N_opt and D_opt"),
        ({"known": {"C": [1e20], "Nopt": [1e9]}}, FitError, "Did you mean 'N_opt'"),
        ({"known": {"C": [1e20], "N_opt": [1e9, 2e9]}}, FitError, "C has 1, N_opt has 2"),
        ({"known": {"C": [1e20], "N_opt": [3]}}, DataError, "too small"),
    ],
)
def test_bad_options_are_named(fit, ax, options, error, message):
    with pytest.raises(error, match=message):
        plot.allocation(fit, ax=ax, **options)


def test_unknown_group_is_named(pooled, ax):
    with pytest.raises(FitError, match="corpus 'book' is not in the fit.*Did you mean 'books'"):
        plot.loss_curves(pooled, ax=ax, corpus="book")
