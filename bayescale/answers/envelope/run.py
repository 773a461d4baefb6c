"""``envelope``: training curves in, the compute-optimal size with intervals out."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayescale.answers.approach import PowerLaw
from bayescale.answers.envelope.crossings import Crossings, find_crossings
from bayescale.answers.envelope.curves import CurveDraws, curve_draws
from bayescale.answers.envelope.line import Line, fit_line
from bayescale.answers.envelope.reading import LEAST, CurveData, read_curves, read_table
from bayescale.answers.envelope.result import NEVER, Envelope
from bayescale.answers.points import read_values, say_reach
from bayescale.errors import FitError
from bayescale.noise import CHECKPOINT
from bayescale.tables import quantity

SOME = 0.5  # share of draws that must have two crossings


def envelope(
    runs: Any,
    *,
    run: str | tuple[str, ...] | None = None,
    along: str = "D",
    C: Any = None,
    near: float | None = 0.05,
    thin: int = 40,
    draws: int = 2000,
    seed: int = 0,
    **reading: Any,
) -> Envelope:
    r"""Find compute-optimal sizes from where training curves of several sizes cross.

    Of all sizes the lowest loss at each compute is the envelope (arXiv:2203.15556, approach 1).
    Each run's curve is modelled, :math:`L_r(D) = E_r + T_r (D/D_r)^{-\beta_r}` with a noise that
    runs remember; for every posterior draw of all curves, the best size at the compute where the
    curves of neighbouring sizes cross is their geometric mean; a power law goes through these
    crossings, whose scatter (runs that are a little better or worse as a whole) is part of its
    uncertainty.

    It takes every checkpoint for the end of a training. That holds at a constant learning rate.
    Where it decays, a checkpoint before the end lies above what a run that ended there would
    reach: then keep finished runs only, with one curve a size
    (``curves=Curves("run_id", last=True)`` first, then ``run="N"``).

    The best of many runs is also a lucky one; where several shapes have about one size, N_opt is
    that of the best shapes.

    Parameters
    ----------
    runs : Runs, DataFrame, path or data set name
        One row a checkpoint: N, D, loss, and a column that names the run.
    run : str or tuple of str, optional
        Column that names the training run, or several that do so together; default: one with a
        usual name (run, run_id, …). ``"N"``: one curve a size.
    along : str
        Column along which the scatter of checkpoints is remembered (its logarithm), or
        ``"checkpoint"``.
    C : number, str or several, optional
        Budgets in FLOP to answer for; default: the largest of the data.
    near : float or None
        Checkpoints whose loss lies more than this share above the lowest at their compute play
        no part; None keeps all. The start of training follows no law.
    thin : int
        At most so many checkpoints of a run, evenly spaced in log tokens.
    draws, seed : int
    **reading
        Passed to `bayescale.read_runs` (``columns=``, ``where=``, ``curves=``, …).

    Returns
    -------
    Envelope

    Raises
    ------
    DataError
        No column names the run, runs have one checkpoint, or fewer than three sizes have curves.
    FitError
        Fewer than three sizes lie on the envelope: the curves don't cross inside the data.
    """
    _check(near, thin, draws, seed)
    table, columns = read_table(runs, run, reading)
    data, said = read_curves(table, columns, along, near, thin)
    curves, aside = curve_draws(data, draws, seed, ordinal=along == CHECKPOINT)
    if aside.any():
        said.append(_aside(data, aside))
    found = find_crossings(curves)
    enough = found.count >= 2
    if enough.mean() < SOME:
        raise FitError(_too_few(found, data))
    if not enough.all():
        said.append(
            f"in {1 - enough.mean():.1%} of draws fewer than three sizes lie on the envelope; "
            "intervals are of the rest."
        )
    curves, found = _part(curves, found, enough)
    line = fit_line(found, data.log_n, seed)
    budgets = read_values("C", C) if C is not None else np.exp(found.grid[-1:])
    largest = float(np.exp(found.grid[-1]))
    if budgets.max() > largest * (1 + 1e-9):
        said.append(
            f"{say_reach({'C': float(budgets.max() / largest)})} the data: intervals take the "
            "power law through the crossings as exact."
        )
    tokens, b = _tokens(line, data, found)
    return Envelope(
        exponents={"a": line.a, "b": b},
        size=PowerLaw(line.level, line.a, line.C0),
        tokens=tokens,
        curves=curves,
        crossings=found,
        spread=line.tau,
        C=budgets,
        title=f"Envelope of {len(data.names)} training curves, {table.source}",
        source=table.source,
        unit="nats/token",
        warnings=tuple(said),
    )


def _check(near: Any, thin: Any, draws: Any, seed: Any) -> None:
    from bayescale.fitting import check_seed

    check_seed(seed)
    number = isinstance(near, int | float) and not isinstance(near, bool)
    if near is not None and not (number and near > 0):
        raise FitError(f"near is {near!r}; expected a share of the loss such as 0.05, or None.")
    for name, value, least in (("thin", thin, LEAST), ("draws", draws, 100)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise FitError(f"{name} is {value!r}; expected a whole number of at least {least}.")


def _part(curves: CurveDraws, found: Crossings, keep: np.ndarray) -> tuple[CurveDraws, Crossings]:
    """The draws that stay."""
    picked = {k: getattr(curves, k)[keep] for k in ("E", "T", "beta", "sigma", "memory")}
    some = {k: getattr(found, k)[keep] for k in ("log_c", "steeper", "pair", "lowest", "on")}
    return replace(curves, **picked), replace(found, **some)


def _tokens(line: Line, data: CurveData, found: Crossings) -> tuple[PowerLaw, np.ndarray]:
    """D_opt = C/(f N_opt), where compute per parameter and token is a power law of size too."""
    on = found.on.mean(axis=0) >= NEVER
    x, y = data.log_n[on], data.log_cost[on]
    slope = 0.0 if np.ptp(y) < 1e-6 else float(np.polyfit(x, y, 1)[0])
    at_mean = float(y.mean() - slope * x.mean())
    b = 1 - line.a * (1 + slope)
    level = np.log(line.C0) - at_mean - (1 + slope) * line.level
    return PowerLaw(level, b, line.C0), b


def _too_few(found: Crossings, data: CurveData) -> str:
    share = found.on.mean(axis=0)
    best = sorted(set(np.exp(data.log_n[share >= SOME]).round(6)))
    listed = ", ".join(quantity(float(n)) for n in best[:6])
    low, high = data.spans(data.log_c)
    order = np.argsort(data.log_n)
    apart = [k for k in range(len(order) - 1) if low[order[k + 1]] >= high[order[: k + 1]].max()]
    why = "small sizes have to be trained past the compute where the next larger one is better"
    if apart:
        k = apart[0]
        one, other = (quantity(float(np.exp(data.log_n[order[j]]))) for j in (k, k + 1))
        why = (
            f"runs up to N = {one} end at C = {quantity(float(np.exp(high[order[: k + 1]].max())))}"
            f", before N = {other} begins to be measured, at C = "
            f"{quantity(float(np.exp(low[order[k + 1]])))}: curves have to overlap in compute"
        )
    return (
        f"fewer than three sizes lie on the envelope one after another (best somewhere: N = "
        f"{listed}), so there are not two crossings for an exponent: {why}. Train longer, take "
        "sizes that are nearer, or keep earlier checkpoints (near=None)."
    )


def _aside(data: CurveData, aside: np.ndarray) -> str:
    runs = list(dict.fromkeys(data.names[k] for k in data.code[aside]))
    return (
        f"{int(aside.sum())} checkpoints stand far apart from their curve and were left out "
        f"(runs {', '.join(runs[:3])}{' and others' if len(runs) > 3 else ''})."
    )
