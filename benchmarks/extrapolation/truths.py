"""Simulated sweeps whose law is known: two of a law that is fitted, three of none.

Each sweep has eight sizes at each of six budgets, 1e18 to 3.2e20 FLOP, and larger runs at ten times
the largest budget. Parameters differ from sweep to sweep. The wrong laws' departures were set, by
noiseless fits alone, so that Chinchilla's law extrapolates tenfold about as badly as on real
sweeps: off by .01 to .03 of log loss.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

BUDGETS = 10.0 ** (18 + 0.5 * np.arange(6))
SIZES, BEYOND = 8, 10.0
SIGMA, NU = 0.004, 8.0  # scatter of log loss: Student-t
N_MID, D_MID = 4e8, 8e9  # about the runs' centre
C_MID = 6 * N_MID * D_MID


@dataclass(frozen=True)
class Facts:
    """Parameters of one truth: terms at the centre of the runs, in nats, and slopes there."""

    E: float
    size: float
    data: float
    alpha: float
    beta: float
    k: float


def facts(rng: np.random.Generator) -> Facts:
    """Parameters of a sweep."""
    middle = {"E": 1.8, "size": 0.35, "data": 0.4, "alpha": 0.34, "beta": 0.32, "k": 0.7}
    return Facts(**{name: v * rng.lognormal(0.0, 0.12) for name, v in middle.items()})


def chinchilla(f: Facts, N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """E + A N^-alpha + B D^-beta."""
    return f.E + f.size * (N / N_MID) ** -f.alpha + f.data * (D / D_MID) ** -f.beta


def coupled(f: Facts, N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """E + (A N^-alpha + B D^-beta)^k, alpha and beta over k."""
    total = f.size + f.data
    size = f.size / total * (N / N_MID) ** (-f.alpha / f.k)
    return f.E + total * (size + f.data / total * (D / D_MID) ** (-f.beta / f.k)) ** f.k


def second_power(f: Facts, N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """A second, steeper power of tokens, which the larger runs leave behind."""
    return chinchilla(f, N, D) + 0.12 * (D / D_MID) ** -1.1


def breaking(f: Facts, N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Exponents that fall to .45 of themselves around the upper third of the runs."""
    c = np.log(N * D * 6 / (8 * C_MID))
    bent = np.exp(0.55 * 0.5 * (f.alpha + f.beta) / 2 * np.logaddexp(0.0, 2 * c) / 2)
    return f.E + (chinchilla(f, N, D) - f.E) * bent


def moving_floor(f: Facts, N: np.ndarray, D: np.ndarray) -> np.ndarray:
    """A floor that falls with the square of ln C beyond the smallest runs."""
    c = np.log(6 * N * D / BUDGETS[0])
    return chinchilla(f, N, D) - 0.002 * c**2


RIGHT = {"chinchilla": chinchilla, "coupled": coupled}
WRONG = {"second power": second_power, "break": breaking, "moving floor": moving_floor}
TRUTHS: dict[str, Callable[..., np.ndarray]] = {**RIGHT, **WRONG}


def design(beyond: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """N and D of the runs, or of the larger ones."""
    C = np.repeat(BUDGETS[-1:] * BEYOND if beyond else BUDGETS, 3 if beyond else SIZES)
    ratios = np.geomspace(8, 60, 3) if beyond else np.geomspace(2, 300, SIZES)
    ratio = np.tile(ratios, len(C) // len(ratios))
    N = np.sqrt(C / 6 / ratio)
    return N, C / 6 / N


def sweep(truth: str, seed: int, beyond: bool = False) -> pd.DataFrame:
    """Runs of one sweep: N, D, loss."""
    own = [list(TRUTHS).index(truth), seed]
    f = facts(np.random.default_rng([*own, 0]))
    rng = np.random.default_rng([*own, 1 + beyond])
    N, D = design(beyond)
    scatter = SIGMA * rng.standard_t(NU, len(N))
    return pd.DataFrame({"N": N, "D": D, "loss": TRUTHS[truth](f, N, D) * np.exp(scatter)})
