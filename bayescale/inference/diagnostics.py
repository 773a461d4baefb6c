"""Convergence numbers of draws: rank-normalised R-hat, effective sample sizes, E-BFMI."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayescale.inference.convergence import ess_bulk, ess_tail, rhat


@dataclass(frozen=True)
class Diagnostics:
    """Numbers for each scalar drawn.

    Parameters
    ----------
    names : tuple of str
        Such as ``alpha`` or ``E[c4]``.
    mean, sd, rhat, ess_bulk, ess_tail, mcse : array, shape (name,)
    ebfmi : array, shape (chain,)
    divergences, saturated : int
        Divergent transitions, and transitions that reached the largest tree.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray
    rhat: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray
    mcse: np.ndarray
    ebfmi: np.ndarray
    divergences: int
    saturated: int


def diagnose(
    names: tuple[str, ...], draws: np.ndarray, stats: Mapping[str, np.ndarray]
) -> Diagnostics:
    """Compute convergence numbers (Vehtari et al. 2021, arXiv:1903.08008).

    Parameters
    ----------
    names : tuple of str
    draws : array, shape (name, chain, draw)
    stats : mapping
        ``energy``, ``diverging``, ``reached_max_treedepth``, each of shape (chain, draw).
    """
    with np.errstate(all="ignore"):
        bulk, sd = ess_bulk(draws), draws.std(axis=(1, 2), ddof=1)
    energy = stats["energy"]
    jumps = np.square(np.diff(energy, axis=1)).sum(axis=1)
    spread = np.square(energy - energy.mean(axis=1, keepdims=True)).sum(axis=1)
    return Diagnostics(
        names=names,
        mean=draws.mean(axis=(1, 2)),
        sd=sd,
        rhat=rhat(draws),
        ess_bulk=bulk,
        ess_tail=ess_tail(draws),
        mcse=sd / np.sqrt(bulk),
        ebfmi=jumps / np.where(spread > 0, spread, np.nan),
        divergences=int(stats["diverging"].sum()),
        saturated=int(stats["reached_max_treedepth"].sum()),
    )
