"""IsoFLOP slices: how sharply loss bends across sizes at a budget, and where its minimum lies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayescale.check.predictive import advice
from bayescale.check.predictive.quantity import Checked, Picture, Skipped, against, bands_of
from bayescale.check.predictive.replicates import Replicates
from bayescale.check.predictive.trend import projection
from bayescale.data.slices import NEAR, find_budgets

LEAST_RUNS, LEAST_SIZES, LEAST_SPAN = 5, 4, 0.3  # of a slice; span in decades of N
LEAST_SLICES, LEAST_TREND = 2, 3  # slices for a mean, and for a trend
INTERIOR = 0.8  # share of replicates with a minimum between the slice's sizes


@dataclass(frozen=True)
class Slice:
    """Runs of one budget (and one group, where groups have laws of their own).

    Parameters
    ----------
    C : float
        Budget, FLOP.
    rows : array of int
    x : array, shape (run,)
        Log10 of N minus its mean.
    """

    C: float
    rows: np.ndarray
    x: np.ndarray


def slices_of(seen: Replicates, budgets: np.ndarray | None) -> list[Slice] | str:
    """The slices of a table, or why there is none."""
    table = seen.runs.table
    missing = [name for name in ("N", "C") if name not in table]
    if missing:
        return f"the runs have no {' and no '.join(missing)}"
    N, C = table["N"].to_numpy(), table["C"].to_numpy()
    if np.ptp(np.log10(N)) < LEAST_SPAN:
        return "sizes N differ by less than a factor 2"
    cells = seen.model.cell_columns
    names = ["/".join(map(str, row)) for row in table[list(cells)].to_numpy()] if cells else [""]
    group = np.resize(names, len(N))
    found: list[Slice] = []
    for label in dict.fromkeys(group):
        own = np.flatnonzero(group == label)
        centres = find_budgets(C[own], N[own]) if budgets is None else budgets
        for budget in centres:
            rows = own[np.abs(np.log(C[own] / budget)) <= NEAR]
            x = np.log10(N[rows])
            sizes = len(np.unique(np.round(x / 0.02)))
            if len(x) >= LEAST_RUNS and sizes >= LEAST_SIZES and np.ptp(x) >= LEAST_SPAN:
                found.append(Slice(float(budget), rows, x - x.mean()))
    if len(found) < LEAST_SLICES:
        return (
            f"{len(found)} budgets have {LEAST_RUNS} runs within 10% with {LEAST_SIZES} sizes; "
            f"at least {LEAST_SLICES} are needed"
        )
    return found


def curvature(seen: Replicates, slices: Sequence[Slice]) -> Checked:
    """Curvature of a parabola in log10 N through each slice, averaged over slices.

    T is twice the coefficient of x^2, of the law's mean plus robust residuals; slices are
    weighted by the inverse variance that replicates show.
    """
    observed, replicated, _ = (2 * p[..., 2] for p in _parabolas(seen, slices))
    weights = _weights(replicated)
    factor = seen.factor
    unit = f"{seen.unit} per decade² of N"
    pair = [factor * (v @ weights) for v in (observed, replicated)]
    next_step = advice.prior("the bend of slices") if seen.prior else advice.curvature(seen.model)
    quantity = against("mean curvature", unit, (pair[0], pair[1]), seen.effective, next_step)
    data = {"x": np.array([s.C for s in slices]), "y": factor * np.median(observed, axis=0)}
    data |= bands_of(factor * replicated)
    picture = Picture("slots", "compute C (FLOP)", f"curvature ({unit})", data, log="C")
    note = f"{len(slices)} slices"
    return Checked("isoflop_curvature", "IsoFLOP curvature", (quantity,), picture, note)


def minimum(seen: Replicates, slices: Sequence[Slice]) -> Checked | Skipped:
    """Size at the vertex of each slice's parabola against that of the law's own mean.

    T is the mean over slices of log10(N_vertex / N_vertex of the law), weighted by the inverse
    variance that replicates show, and its slope against log10 C: the error of the allocation
    exponent. A vertex outside the slice's sizes counts as its outermost size.
    """
    check = "isoflop_minimum"
    fitted = _parabolas(seen, slices)
    vertices = [_vertex(p, slices) for p in fitted]
    # the law's own are few where its prior is wide; then the data say which slices have one
    judged = vertices[0 if seen.prior else 1]
    interior = np.mean([_interior(v, slices) for v in judged], axis=0) >= INTERIOR
    kept = np.flatnonzero(interior)
    if len(kept) < LEAST_SLICES:
        return Skipped(check, f"{len(kept)} of {len(slices)} slices have an interior minimum")
    law = 0.0 if seen.prior else vertices[2][:, kept]
    observed, replicated = (v[:, kept] - law for v in vertices[:2])
    middle = np.array([np.log10(seen.runs.column("N")[s.rows]).mean() for s in slices])[kept]
    if seen.prior:
        observed, replicated = observed + middle, replicated + middle
    C = np.array([s.C for s in slices])[kept]
    weights = _weights(replicated)
    mean = [v @ weights for v in (observed, replicated)]
    next_step = advice.prior("optimal N") if seen.prior else advice.shift(seen.model)
    ratio = float(10 ** np.median(mean[0]))
    detail = f"N_opt {ratio:.3g}" if seen.prior else f"{ratio:.3g}x the law's N_opt"
    name = "log10 N" if seen.prior else "mean shift"
    quantities = [
        against(name, "decades of N", (mean[0], mean[1]), seen.effective, next_step, detail)
    ]
    if len(kept) >= LEAST_TREND and np.ptp(np.log10(C)) > 0:
        x = np.log10(C) - np.average(np.log10(C), weights=weights)
        line = projection(x, weights, 1)[1]
        slope = [v @ line for v in (observed, replicated)]
        next_step = (
            advice.prior("the growth of optimal N") if seen.prior else advice.exponent(seen.model)
        )
        name = "exponent" if seen.prior else "shift of exponent"
        unit = "decades of N per decade of C"
        quantities.append(against(name, unit, (slope[0], slope[1]), seen.effective, next_step))
    data = {"x": C, "y": 10 ** np.median(observed, axis=0)}
    data |= {k: 10**v for k, v in bands_of(replicated).items()}
    side = "N at minimum" if seen.prior else "N at minimum over the law's"
    picture = Picture("slots", "compute C (FLOP)", side, data, log="C")
    return Checked(check, "IsoFLOP minima", tuple(quantities), picture, _left_out(slices, kept))


def _left_out(slices: Sequence[Slice], kept: np.ndarray) -> str:
    inside = set(kept.tolist())
    out = [f"{s.C:.2g}" for k, s in enumerate(slices) if k not in inside]
    if not out:
        return f"{len(kept)} slices"
    return f"{len(kept)} slices; without an interior minimum and left out: C = {', '.join(out)}"


def _parabolas(seen: Replicates, slices: Sequence[Slice]) -> list[np.ndarray]:
    """Coefficients of 1, x, x^2 a draw and slice: observed, replicated, the law's own."""
    observed, replicated = seen.robust()
    weights = seen.weights()
    found: list[list[np.ndarray]] = [[], [], []]
    for piece in slices:
        matrix = projection(piece.x, weights[piece.rows], 2).T
        law = seen.centre[:, piece.rows] @ matrix
        found[0].append(law + observed[:, piece.rows] @ matrix)
        found[1].append(law + replicated[:, piece.rows] @ matrix)
        found[2].append(law)
    return [np.stack(f, axis=1) for f in found]


def _vertex(parabolas: np.ndarray, slices: Sequence[Slice]) -> np.ndarray:
    """Place of the minimum between the ends of each slice, in log10 N from its middle."""
    ends = np.array([[s.x.min(), s.x.max()] for s in slices])
    low, high = ends[:, 0], ends[:, 1]
    slope, bend = parabolas[..., 1], parabolas[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        bottom = np.clip(-slope / (2 * bend), low, high)
    falling = slope + bend * (low + high) < 0  # the upper end lies below the lower one
    return np.where(bend > 0, bottom, np.where(falling, high, low))


def _interior(vertex: np.ndarray, slices: Sequence[Slice]) -> np.ndarray:
    return np.array(
        [s.x.min() < v < s.x.max() for v, s in zip(vertex, slices, strict=True)], dtype=bool
    )


def _weights(replicated: np.ndarray) -> np.ndarray:
    """Weights of slices by the inverse variance of replicates, adding up to one."""
    low, high = np.quantile(replicated, [0.16, 0.84], axis=0)
    width = np.maximum(high - low, 1e-3 * np.max(high - low))
    weights = 1 / np.maximum(width, 1e-12) ** 2
    return weights / weights.sum()
