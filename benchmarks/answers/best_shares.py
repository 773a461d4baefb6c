"""How far best shares of larger runs lie from those that a law of smaller runs gives.

Run it: ``python -m benchmarks.answers.best_shares`` (BAYESCALE_DATA names the folder of data sets).

On SlimPajama's mixtures (two sizes of 60, two of 40, seven domains) a law with size and additive
transfer is fitted to 122M and 310M; its best shares at 680M and 937M are held against those of a
law of the mixture alone, fitted to the runs of that size. The targets count with random weights, a
problem each. What both fits leave open is known from a bootstrap of mixtures; what is beyond that,
over the e-folds of compute beyond the small runs, is what ``shares`` of `bayescale.drift.Drift`
stands for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import least_squares, minimize

from bayescale.tables import Table, render
from benchmarks.laws.slimpajama_mixtures import FILE

SMALL, LARGE = 5e8, (6.8e8, 9.37e8)
N_REF, D_REF = 5e8, 2e10
SIGMA = 0.004  # of log loss, as the benchmark of this law found it
LEAST = 0.03  # share of a source that counts
PROBLEMS, RESAMPLED = 13, 8
CENTRE = np.concatenate([np.log([1.5, 0.5, 0.4, 0.5, 0.35]), np.full(6, np.log(0.1))])
SPREAD = np.concatenate([[0.7, 1.0, 0.4, 1.0, 0.4], np.full(6, 1.5)])


@dataclass(frozen=True)
class Mixed:
    """Seven losses as E + A (N/N_ref)^-alpha + B (sum_j tau_j D_j / D_ref)^-beta.

    Parameters
    ----------
    logs : array, shape (target, 11)
        Logs of E, A, alpha, B, beta and of the six tau of other domains.
    sized : bool
        Whether there is the size term.
    """

    logs: np.ndarray
    sized: bool

    def losses(self, shares: np.ndarray, N: Any, D: Any) -> np.ndarray:
        """Losses, shape (target, ...), of shares of shape (..., source)."""
        return np.array([_mean(p, k, self.sized, shares, N, D) for k, p in enumerate(self.logs)])

    def best(self, weights: np.ndarray, N: float, D: float) -> np.ndarray:
        """Shares of the least weighted mean of losses."""

        def score(z: np.ndarray) -> float:
            shares = np.exp(z) / np.exp(z).sum()
            return float(weights @ self.losses(shares, N, D)) + 1e-6 * float(z @ z)

        found = minimize(score, np.zeros(7), method="L-BFGS-B", bounds=[(-6.0, 6.0)] * 7).x
        return np.exp(found) / np.exp(found).sum()


def _mean(logs: np.ndarray, target: int, sized: bool, shares: Any, N: Any, D: Any) -> np.ndarray:
    E, A, alpha, B, beta = np.exp(logs[:5])
    tau = np.insert(np.exp(logs[5:]), target, 1.0)
    size = A * (np.asarray(N) / N_REF) ** -alpha if sized else 0.0
    return E + size + B * (D / D_REF * (shares @ tau) / 0.3) ** -beta


def last_checkpoints() -> Any:
    """The last checkpoint of each mixture and size, a row with all losses."""
    table: Any = pd.read_csv(FILE)
    names = [c for c in table if c.startswith("weight_")]
    return table.loc[table.groupby([*names, "model_size"])["n_tokens"].idxmax()]


def fit(runs: Any, sized: bool) -> Mixed:
    """The mode of each target's law under weak priors."""
    shares, N, D, losses = _arrays(runs)

    def one(target: int) -> np.ndarray:
        def off(p: np.ndarray) -> np.ndarray:
            found = np.log(_mean(p, target, sized, shares, N, D))
            return np.concatenate(
                [(found - np.log(losses[:, target])) / SIGMA, (p - CENTRE) / SPREAD]
            )

        return least_squares(off, CENTRE, x_scale=SPREAD, max_nfev=400).x

    return Mixed(np.array([one(k) for k in range(7)]), sized)


def _arrays(runs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    names = [c[len("weight_") :] for c in runs if str(c).startswith("weight_")]
    shares = runs[[f"weight_{n}" for n in names]].to_numpy(dtype=float)
    losses = runs[[f"{n}_loss" for n in names]].to_numpy(dtype=float)
    sizes = runs["model_size"].to_numpy(dtype=float)
    return shares, sizes, runs["n_tokens"].to_numpy(dtype=float), losses


def resampled(runs: Any, rng: np.random.Generator) -> Any:
    """Runs of mixtures drawn with replacement."""
    _, which = np.unique(_arrays(runs)[0].round(4), axis=0, return_inverse=True)
    picked = rng.integers(0, which.max() + 1, which.max() + 1)
    return pd.concat([runs[which == k] for k in picked])


def spread(log_ratios: np.ndarray) -> float:
    """Variance of the log ratio of two shares, from several logs."""
    return float(2 * np.var(log_ratios, ddof=1))


def main() -> None:
    """Fit, and print what best shares miss by."""
    rng, runs = np.random.default_rng(0), last_checkpoints()
    weights = [np.full(7, 1 / 7), *rng.dirichlet(np.full(7, 3.0), PROBLEMS - 1)]
    small = runs[runs["model_size"] < SMALL]
    most = float((small["model_size"] * small["n_tokens"]).max())
    laws = [fit(small, True), *(fit(resampled(small, rng), True) for _ in range(RESAMPLED))]
    rows = []
    for size in LARGE:
        large = runs[runs["model_size"] == size]
        D = float(large["n_tokens"].max())
        own = [fit(large, False), *(fit(resampled(large, rng), False) for _ in range(RESAMPLED))]
        found: dict[str, list[float]] = {"missed": [], "of the small": [], "of the large": []}
        for w in weights:
            told, seen = ([np.log(x.best(w, size, D)) for x in group] for group in (laws, own))
            some = (told[0] > np.log(LEAST)) & (seen[0] > np.log(LEAST))
            found["missed"].append(spread((told[0] - seen[0])[some]))
            for name, group in (("of the small", told), ("of the large", seen)):
                found[name] += [spread((x - group[0])[some]) for x in group[1:]]
        missed, one, other = (float(np.median(v)) for v in found.values())
        reach = float(np.log(size * D / most))
        beyond = np.sqrt(max(0.0, missed - one - other)) / reach
        roots = [f"{np.sqrt(v):.3f}" for v in (missed, one, other)]
        rows.append([f"{size / 1e6:.0f}M", f"{reach:.2f}", *roots, f"{beyond:.3f}"])
    columns = ["size", "e-folds beyond", "missed by", "of the small", "of the large", "per e-fold"]
    notes = [
        f"SD of the log ratio of two best shares, median of {PROBLEMS} weightings; of the small, "
        f"of the large: bootstrap of the fits ({RESAMPLED}); per e-fold: what these don't explain"
    ]
    print(render(Table(columns, rows, "best shares of larger runs", (), notes)))


if __name__ == "__main__":
    main()
