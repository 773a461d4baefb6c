"""What was predicted of held-out runs, one by one, and the scores of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.check.extrapolation import scores
from bayescale.errors import FitError
from bayescale.tables import LEVELS

INTERVALS = {"50": ("q25", "q75"), "80": ("q10", "q90"), "90": ("q05", "q95"),
             "95": ("q025", "q975")}  # fmt: skip
QUANTILES = dict(sorted({**LEVELS, "q10": 0.1, "q90": 0.9}.items(), key=lambda item: item[1]))
WIDTH = "90"  # the level of interval score and width


@dataclass(frozen=True)
class Held:
    """Predictions of held-out runs.

    Parameters
    ----------
    rows : array, shape (run,)
        Their 1-based numbers among the data rows of the file.
    observed : array, shape (run,)
        The response that was measured.
    quantiles : mapping
        ``q025`` to ``q975`` -> array, shape (run,), of a new run there, in the response's unit.
    pit, crps : array, shape (run,)
        See `scores`; CRPS in log response where ``log``.
    log_score : array, shape (run,)
        Log predictive density, nats; NaN where the method gives no density.
    log : bool
        Whether scores are of the log response.
    """

    rows: np.ndarray
    observed: np.ndarray
    quantiles: Mapping[str, np.ndarray]
    pit: np.ndarray
    crps: np.ndarray
    log_score: np.ndarray
    log: bool

    def __len__(self) -> int:
        return len(self.rows)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Values on the scale of the scores."""
        return np.log(values) if self.log else values

    def scores(self) -> dict[str, Any]:
        """All scores over these runs, plain values."""
        y = self.scaled(self.observed)
        at = {name: self.scaled(values) for name, values in self.quantiles.items()}
        low, high = (at[end] for end in INTERVALS[WIDTH])
        held = {k: scores.coverage(y, at[a], at[b]) for k, (a, b) in INTERVALS.items()}
        errors = scores.relative_error(self.observed, self.quantiles["median"])
        return {
            "n_test": len(self),
            "coverage": held,
            "interval_score": float(scores.interval_score(y, low, high, int(WIDTH) / 100).mean()),
            "crps": float(self.crps.mean()),
            "rmse_log_loss" if self.log else "rmse": scores.rmse(y, at["median"]),
            "max_relative_error": float(errors.max()),
            "median_width": float(np.median(high - low)),
            "log_score": None if np.isnan(self.log_score).any() else float(self.log_score.mean()),
            "pit": [float(v) for v in self.pit],
        }


def held_from_draws(
    draws: np.ndarray,
    observed: np.ndarray,
    rows: np.ndarray,
    log: bool,
    log_density: np.ndarray | None = None,
) -> Held:
    """Boil predictive draws down to what the scores need.

    Parameters
    ----------
    draws : array, shape (draw, run)
        New runs at the places of the held-out ones, in the response's unit.
    observed, rows : array, shape (run,)
    log : bool
        Score the logarithm.
    log_density : array, shape (draw, run), optional
        Log density of what was observed, under each draw.

    Raises
    ------
    FitError
        A draw, or an observation on the scale of the scores, is no finite number.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.log(draws) if log else np.asarray(draws, dtype=float)
        y = np.log(observed) if log else np.asarray(observed, dtype=float)
    _check_finite(x, y, rows, log)
    found = np.quantile(x, list(QUANTILES.values()), axis=0)
    back = np.exp(found) if log else found
    density = np.full(len(rows), np.nan)
    if log_density is not None:
        density = scores.log_score(log_density)
    return Held(
        rows=np.asarray(rows),
        observed=np.asarray(observed, dtype=float),
        quantiles=dict(zip(QUANTILES, back, strict=True)),
        pit=scores.pit(x, y),
        crps=scores.crps(x, y),
        log_score=density,
        log=log,
    )


def joined(parts: Sequence[Held]) -> Held:
    """Several splits' or chunks' runs as one."""

    def together(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Held(
        rows=together("rows"),
        observed=together("observed"),
        quantiles={q: np.concatenate([p.quantiles[q] for p in parts]) for q in QUANTILES},
        pit=together("pit"),
        crps=together("crps"),
        log_score=together("log_score"),
        log=parts[0].log,
    )


def _check_finite(x: np.ndarray, y: np.ndarray, rows: np.ndarray, log: bool) -> None:
    what = "logarithms of positive numbers" if log else "finite numbers"
    bad = ~np.isfinite(x)
    if bad.any():
        row = int(rows[np.flatnonzero(bad.any(axis=0))[0]])
        raise FitError(
            f"{bad.sum():,} of {bad.size:,} predictive draws are no {what}, first at row {row}: "
            "the law gives no loss there under some draws. Try tighter priors or a simpler law."
        )
    wrong = np.flatnonzero(~np.isfinite(y))
    if len(wrong):
        raise FitError(
            f"what was observed in row {int(rows[wrong[0]])} has no {what[:-1]} to score; "
            "correct the cell or leave the row out."
        )
