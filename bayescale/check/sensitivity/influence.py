"""``influence``: how far single runs, or groups of runs, move a fit's answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.comparison.psis import good_k
from bayescale.check.sensitivity.influences import GroupInfluence, Influence
from bayescale.check.sensitivity.likelihood import likelihood_pieces
from bayescale.check.sensitivity.perturb import read_refit
from bayescale.check.sensitivity.perturbation import Refit
from bayescale.check.sensitivity.quantities import Quantity, Watch, make_watch, statistics
from bayescale.check.sensitivity.refit import refits
from bayescale.errors import DataError, FitError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

SHOWN = ("N", "D", "C", "loss")


def influence(
    fit: "Fit",
    *,
    C: Any = None,
    at: Mapping[str, Any] | None = None,
    by: str | None = None,
    exact: bool = False,
    seed: int = 0,
    draws: int | None = None,
    workers: int | None = None,
    executor: Any = None,
    device: str | None = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **group: Any,
) -> "Influence | GroupInfluence":
    r"""Leave each run out, or each group, and say how exponents and extrapolated losses move.

    The posterior without run i is the posterior's draws with weights :math:`1/p(y_i | \theta)`,
    Pareto-smoothed (Vehtari et al., arXiv:1507.02646, by ArviZ). Where the Pareto k says that so
    many draws don't suffice, k > min(1 - 1/log10(S), 0.7), or with ``exact``, the fit is made
    again without the run. Shifts are of the mean, in posterior SDs of the fit; of ln N_opt.

    Parameters
    ----------
    fit : Fit
    C : number or str, optional
        Budget in FLOP at which L* and N_opt are watched; default: ten times the largest compute
        of the data.
    at : mapping, optional
        Inputs of a point at which the loss is watched; for laws of one input by default ten times
        its largest value.
    by : str, optional
        A column that names groups: each group is left out in turn, by fits made again.
    exact : bool
        Fit again without each run, whatever its k.
    seed : int
        Seed of the sampler of exact fits.
    draws : int, optional
        Kept draws a chain of exact fits; default: those of the fit.
    workers, executor, device, folder, progress
        See `bayescale.fit_many`.
    **group
        For pooled fits, the group by its column whose answers are watched (``corpus="c4"``).

    Returns
    -------
    Influence or GroupInfluence

    Raises
    ------
    FitError
        Draws or log likelihoods that aren't finite, or a question that this fit can't answer.
    DataError
        No column ``by``, or only one group in it.
    """
    watch = make_watch(fit, C, at, group, seed)
    base = watch.of(fit)
    how = {"draws": draws, "workers": workers, "executor": executor}
    how |= {"device": device, "folder": folder, "progress": progress}
    notes = tuple(n for n in (watch.describe(), _far(fit, watch)) if n)
    title = f"{fit.law.name} fitted to {len(fit.runs)} runs"
    told = {"converged": fit.converged, "warnings": fit.warnings, "notes": notes}
    if by is not None:
        left, failed = _groups(fit, by, watch, base, seed, how)
        return GroupInfluence(
            base=base,
            refits=left,
            skipped=failed,
            by=by,
            watch=watch,
            title=f"Influence of each {by}: {title}",
            **told,
        )
    limit = good_k(next(iter(base.values())).draws.size)
    found = _weighted(fit, base)
    again = np.ones(len(fit.runs), dtype=bool) if exact else ~(found.k <= limit)
    failed = _again(fit, np.flatnonzero(again), watch, base, seed, how, found)
    columns = [n for n in dict.fromkeys((*SHOWN, fit.law.response)) if n in fit.runs.table]
    return Influence(
        base=base,
        row_numbers=fit.runs.row_numbers,
        columns={n: fit.runs.column(n) for n in columns},
        change=found.change,
        shift=found.shift,
        mc_error=found.mc_error,
        pareto_k=found.k,
        limit=limit,
        refitted=again,
        failed=failed,
        watch=watch,
        title=f"Influence of each run: {title}",
        **told,
    )


@dataclass
class Shifts:
    """Shifts of all runs while they are being worked out; arrays by quantity of shape (run,)."""

    change: dict[str, np.ndarray]
    shift: dict[str, np.ndarray]
    mc_error: dict[str, np.ndarray]
    k: np.ndarray

    def put(self, name: str, row: Any, q: Quantity, gap: Any, error: Any) -> None:
        """Note a change on the quantity's scale, and its Monte Carlo error."""
        self.change[name][row] = np.expm1(gap) if q.log else gap
        self.shift[name][row] = gap / q.sd
        self.mc_error[name][row] = error / q.sd


def _weighted(fit: "Fit", base: Mapping[str, Quantity]) -> Shifts:
    """Leave-one-out shifts by importance weights."""

    def empty() -> dict[str, np.ndarray]:
        return {name: np.full(len(fit.runs), np.nan) for name in base}

    found = Shifts(empty(), empty(), empty(), np.full(len(fit.runs), np.nan))
    for rows, piece in likelihood_pieces(fit):
        # a smaller effective number of draws asks for a longer tail
        logs, k = statistics().psislw(np.ascontiguousarray(piece.T), r_eff=_efficiency(fit))
        weights = np.exp(np.asarray(logs))
        found.k[rows] = k
        for name, q in base.items():
            found.put(name, rows, q, *_gap(weights, q))
    return found


def _gap(weights: np.ndarray, q: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """Change of the mean under weights, shape (run,), and its Monte Carlo error.

    Weighted and plain mean are of the same draws, so that their errors partly cancel.
    """
    values = (np.log(q.draws) if q.log else q.draws).ravel()
    good = np.isfinite(values)
    w = weights[:, good] / weights[:, good].sum(axis=1, keepdims=True)
    x = values[good]
    mean = w @ x
    terms = w * (x - mean[:, None]) - (x - x.mean()) / len(x)
    return mean - x.mean(), np.sqrt((terms**2).sum(axis=1) * len(x) / effective(q))


def effective(q: Quantity) -> float:
    """Effective number of draws of a quantity, at most the number of draws."""
    found = float(statistics().ess(q.scaled, method="bulk"))
    return min(found, q.scaled.size) if np.isfinite(found) and found > 0 else float(q.scaled.size)


def _efficiency(fit: "Fit") -> float:
    draws = next(iter(fit.sites.values())).shape[0]
    least = fit.gate.min_ess_bulk
    return float(min(1.0, least / draws)) if np.isfinite(least) and least > 0 else 1.0


def _again(
    fit: "Fit",
    rows: np.ndarray,
    watch: Watch,
    base: Mapping[str, Quantity],
    seed: int,
    how: Mapping[str, Any],
    found: Shifts,
) -> dict[int, str]:
    """Fit again without each of some rows, into ``found``; row numbers whose fit failed."""
    from bayescale.many.result import Failure

    failed: dict[int, str] = {}
    runs = {str(row): _without(fit, row) for row in rows} if len(rows) else {}
    for key, outcome in refits(fit, runs, seed=seed, **how) if runs else ():
        row = int(key)
        number = int(fit.runs.row_numbers[row])
        if isinstance(outcome, Failure):
            failed[number] = outcome.error
            continue
        for name, q in watch.of(outcome).items():
            before = base[name]
            gap = float(q.scaled.mean() - before.scaled.mean())
            error = np.hypot(q.sd / effective(q) ** 0.5, before.sd / effective(before) ** 0.5)
            found.put(name, row, before, gap, error)
        if not outcome.converged:
            failed[number] = outcome.gate.headline()
    return failed


def _without(fit: "Fit", row: int) -> "Runs":
    number = int(fit.runs.row_numbers[row])
    return fit.runs.select(np.arange(len(fit.runs)) != row, f"without row {number}")


def _groups(
    fit: "Fit",
    by: str,
    watch: Watch,
    base: Mapping[str, Quantity],
    seed: int,
    how: Mapping[str, Any],
) -> tuple[tuple[Refit, ...], dict[str, str]]:
    """Fit again without each group."""
    names = fit.runs.column(by).astype(str)
    labels = list(dict.fromkeys(names))
    if len(labels) < 2:
        raise DataError(
            f"all {len(names)} runs have the {by} '{labels[0]}', so leaving it out leaves none; "
            "give a column with several groups."
        )
    counts = {label: int((names == label).sum()) for label in labels}
    left: list[Refit] = []
    failed: dict[str, str] = {}
    runs: Iterator[Any] | dict[str, Any] = {
        label: fit.runs.select(names != label, f"without {by} {label}") for label in labels
    }
    for key, outcome in refits(fit, runs, seed=seed, **how):
        text = f"{key} ({counts[key]} run{'s' if counts[key] != 1 else ''})"
        read = read_refit(outcome, key, by, text, watch, base)
        if isinstance(read, str):
            failed[key] = read
        else:
            left.append(read)
    if not left:
        raise FitError(f"no fit without a {by} could be made: " + "; ".join(failed.values()))
    return tuple(sorted(left, key=lambda r: -r.size)), failed


def _far(fit: "Fit", watch: Watch) -> str:
    far = watch.reach(fit)
    return f"that is {far} the data" if far else ""
