"""Prior predictive checks of size: the level of the response, and its scatter."""

import numpy as np

from bayescale.check.predictive.advice import prior
from bayescale.check.predictive.quantity import Checked, Picture, Skipped, against, bands_of
from bayescale.check.predictive.replicates import Replicates
from bayescale.check.predictive.trend import inputs_of

MOST_DRAWN = 400


def level(seen: Replicates) -> Checked:
    """Mean response (mean log response, for noise on the log)."""
    middle = float(seen.centre[0, 0])
    logged = seen.model.noise.on == "log"
    response = seen.model.law.response

    def shown(values: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(middle + values, 700.0)) if logged else middle + values

    means = [shown(v.mean(axis=1)) for v in (seen.observed, seen.replicated)]
    unit = seen.model.law.response_unit or response
    name = f"{'geometric mean' if logged else 'mean'} {response}"
    quantity = against(name, unit, (means[0], means[1]), seen.effective, prior(response))
    drawn = np.unique(np.linspace(0, seen.observed.shape[1] - 1, MOST_DRAWN).round().astype(int))
    order = drawn[np.argsort(seen.observed[0, drawn])]
    data = {"x": np.arange(len(order), dtype=float), "y": shown(seen.observed[0, order])}
    data |= bands_of(shown(seen.replicated[:, order]))
    side = f"{response} ({unit})"
    picture = Picture("slots", "runs, from the lowest to the highest", side, data)
    return Checked("level", f"Level of {response}", (quantity,), picture)


def scatter(seen: Replicates) -> Checked | Skipped:
    """Median distance of the responses from a quadratic surface in the log inputs.

    It is little touched by what the law says, and so shows whether the prior of the noise is of
    the right size.
    """
    names = [n for n in inputs_of(seen) if n in seen.model.law.number_columns]
    columns = [seen.runs.column(n).astype(float) for n in names]
    logs = [np.log(c) if (c > 0).all() else c for c in columns]
    x = np.stack([c - c.mean() for c in logs], axis=1)
    pairs = [x[:, i] * x[:, j] for i in range(len(names)) for j in range(i, len(names))]
    basis = np.column_stack([np.ones(len(x)), x, *pairs])
    if len(x) < 2 * basis.shape[1]:
        return Skipped("scatter", f"fewer than {2 * basis.shape[1]} runs")
    surface, _ = np.linalg.qr(basis)
    residuals = [np.abs(v - v @ surface @ surface.T) for v in (seen.observed, seen.replicated)]
    sizes = [np.median(r, axis=1) for r in residuals]
    advice = (
        "the prior of sigma is too small for these runs",
        "the prior of sigma is too large for these runs",
    )
    unit = seen.unit
    quantity = against("median |residual|", unit, (sizes[0], sizes[1]), seen.effective, advice)
    picture = Picture(
        "tail",
        f"expected |residual| ({unit})",
        f"observed |residual| ({unit})",
        {"y": np.sort(residuals[0][0])[::-1][:MOST_DRAWN]}
        | bands_of(np.sort(residuals[1], axis=1)[:, ::-1][:, :MOST_DRAWN]),
    )
    return Checked("scatter", "Scatter around a smooth surface", (quantity,), picture)
