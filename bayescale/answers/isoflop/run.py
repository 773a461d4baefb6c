"""``isoflop``: runs at a few budgets in, compute-optimal sizes and their power law out."""

from dataclasses import replace
from typing import Any, overload

import numpy as np

from bayescale.answers.approach import PowerLaw
from bayescale.answers.beyond import beyond_warning
from bayescale.answers.isoflop.price import price_of
from bayescale.answers.isoflop.result import IsoFLOP, IsoFLOPs
from bayescale.answers.points import read_values, say_reach
from bayescale.data.isoflop import SAME, interior, short3
from bayescale.errors import DataError, FitError
from bayescale.fitted import Fit

DOUBT = 0.1  # P(minimum outside the slice) from which it is said


@overload
def isoflop(
    runs: Any,
    *,
    budgets: Any = None,
    shape: str = "powers",
    deviations: bool = True,
    C: Any = None,
    by: None = None,
    seed: int = 0,
    **options: Any,
) -> IsoFLOP: ...


@overload
def isoflop(
    runs: Any,
    *,
    budgets: Any = None,
    shape: str = "powers",
    deviations: bool = True,
    C: Any = None,
    by: str,
    seed: int = 0,
    **options: Any,
) -> IsoFLOPs: ...


def isoflop(
    runs: Any,
    *,
    budgets: Any = None,
    shape: str = "powers",
    deviations: bool = True,
    C: Any = None,
    by: str | None = None,
    seed: int = 0,
    **options: Any,
) -> IsoFLOP | IsoFLOPs:
    """Read compute-optimal sizes off IsoFLOP slices, with the power law that they follow.

    One hierarchical model: loss is a valley in ln N at each budget, with a least loss of its own,
    curvature partially pooled over budgets, and minima that scatter around N_opt = G (C/6)^a
    (arXiv:2203.15556, section 3.2, does the same in two steps, with parabolas).

    Parameters
    ----------
    runs : Runs, DataFrame, path, data set name or Fit
        With N, loss, and C or D; or a fit of the law ``isoflop``, which is read, not fitted again.
    budgets : number, str or several, optional
        Budgets in FLOP, or a column of them; default: found in the data
        (`bayescale.families.isoflop.arrange`).
    shape : {"powers", "cubic", "parabola"}
        See `bayescale.laws.isoflop.isoflop`.
    deviations : bool
        Whether minima scatter around the power law.
    C : number, str or several, optional
        Further budgets in FLOP at which the power law is told.
    by : str, optional
        Column of experiments, each of which is fitted by itself.
    seed : int
    **options
        Of `bayescale.fit` (``draws=``, ``noise=``, ``priors=``) and of `bayescale.read_runs`
        (``where=``, ``columns=``).

    Returns
    -------
    IsoFLOP
        Or, with ``by``, `IsoFLOPs`.

    Raises
    ------
    DataError
        No slices, only one, a budget without runs, several experiments mixed.
    FitError
        A fit of another law.
    """
    asked = np.array([]) if C is None else read_values("C", C)
    if isinstance(runs, Fit):
        return read_fit(runs, asked)
    law = _law(budgets, shape, deviations)
    if by is not None:
        return _each(runs, by, law, asked, seed, options)
    return _fitted(runs, law, asked, seed, options)


def _law(budgets: Any, shape: str, deviations: bool) -> dict[str, Any]:
    return {"budgets": budgets, "shape": shape, "deviations": deviations}


def _fitted(
    runs: Any, law: dict[str, Any], asked: np.ndarray, seed: int, options: dict[str, Any]
) -> IsoFLOP:
    from bayescale.data.read import read_runs
    from bayescale.families.isoflop import arrange
    from bayescale.fitting import fit

    sampling, reading = split_options(options)
    chosen, table = arrange(read_runs(runs, **reading), **law)
    return read_fit(fit(chosen, table, seed=seed, **sampling), asked)


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of `fit`, and those of `read_runs`."""
    import inspect

    from bayescale.data.read import read_runs

    known = inspect.signature(read_runs).parameters.keys() - {"source"}
    reading = {k: v for k, v in options.items() if k in known}
    return {k: v for k, v in options.items() if k not in known}, reading


def _each(
    runs: Any,
    by: str,
    law: dict[str, Any],
    asked: np.ndarray,
    seed: int,
    options: dict[str, Any],
) -> IsoFLOPs:
    from bayescale.data.read import read_runs

    sampling, reading = split_options(options)
    table = read_runs(runs, **reading)
    names = table.column(by).astype(str)
    answers: dict[str, IsoFLOP] = {}
    skipped: dict[str, str] = {}
    for label in dict.fromkeys(names):
        part = table.select(names == label, f"{by} == '{label}'")
        try:
            answers[label] = _fitted(part, law, asked, seed, sampling)
        except DataError as problem:
            skipped[label] = str(problem)
    if not answers:
        first, why = next(iter(skipped.items()))
        raise DataError(f"no {by} of {table.source} has slices to fit; {first}: {why}")
    return IsoFLOPs(by, answers, skipped)


def read_fit(fit: Fit, asked: np.ndarray) -> IsoFLOP:
    """The answer of a fit of the law ``isoflop``."""
    if not fit.law.recipe or fit.law.recipe[0] != "isoflop":
        raise FitError(
            f"law '{fit.law.name}' has no slices of its own; fit the law 'isoflop' to the runs "
            "(bs.isoflop(runs)), or ask this fit for its optimum: allocate(fit, C)."
        )
    labels = fit.law.axes["budget"]
    rows = [fit.runs.table["budget"].astype(str).to_numpy() == label for label in labels]
    N, loss = fit.runs.column("N"), fit.runs.column(fit.law.response)
    compute = np.array([float(fit.runs.column("C")[r][0]) for r in rows])
    price, a = price_of(fit.runs), fit.draws("a")
    best = _best_sizes(fit, compute)
    tokens = price.tokens(best, compute)
    shown = np.array([interior(N[r], loss[r]) for r in rows])
    answer = IsoFLOP(
        C=compute,
        labels=labels,
        draws={
            "N_opt": best,
            "D_opt": tokens,
            "tokens_per_param": tokens / best,
            "loss": fit.draws("L_min"),
        },
        exponents={"a": a, "b": price.exponent(a)},
        size=_power_law(fit),
        scatter=fit.draws("shift_sd") if "shift_sd" in fit.variables else np.zeros(len(a)),
        price=price,
        asked=asked,
        n_sizes=np.array([len(np.unique(np.round(np.log(N[r]) / SAME))) for r in rows]),
        span=np.array([[N[r].min(), N[r].max()] for r in rows]),
        interior=shown,
        title=f"IsoFLOP slices of {len(fit.runs)} runs: {fit.gate.headline()}",
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=fit.warnings,
        fit=fit,
    )
    return _with_warnings(answer)


def _best_sizes(fit: Fit, compute: np.ndarray) -> np.ndarray:
    """N_opt of each draw and slice, in the logarithm: G lies far below any size."""
    G = fit.draws("G")
    log_g = np.log(G if G.ndim > 1 else G[:, None])
    return np.exp(log_g + fit.draws("a")[:, None] * np.log(compute / 6))


def _power_law(fit: Fit) -> PowerLaw:
    """The law around which minima scatter; of independent minima, that through their mean."""
    if "shift_pop" in fit.variables:
        shift = fit.draws("shift_pop")
    else:
        shift = fit.draws("shift")
        shift = shift if shift.ndim == 1 else shift.mean(axis=1)
    refs = fit.layout.refs
    return PowerLaw(np.log(refs["N_ref"]) + shift, fit.draws("a"), float(refs["C_ref"]))


def _with_warnings(answer: IsoFLOP) -> IsoFLOP:
    said = list(answer.warnings)
    ends = [short3(c) for c, inside in zip(answer.C, answer.interior, strict=True) if not inside]
    if ends:
        said.append(
            f"No interior minimum at C = {', '.join(ends)} (lowest loss at an end of the slice): "
            "there N_opt rests on the valley's shape and on the other budgets."
        )
    outside = 1 - answer.inside
    if (outside > DOUBT).any():
        listed = ", ".join(
            f"{short3(c)} ({p:.2f})" for c, p in zip(answer.C, outside, strict=True) if p > DOUBT
        )
        said.append(f"P(minimum beyond the sizes tried): {listed}.")
    reach = answer.asked.max() / answer.C.max() if len(answer.asked) else 1.0
    if reach > 1 + 1e-9:
        said.append(f"{say_reach({'C': float(reach)})} the data. {beyond_warning()}")
    return replace(answer, warnings=tuple(said))
