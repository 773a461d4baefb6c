"""What one more token does: slopes of losses in each source's tokens, and worth of epochs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.objectives import Objectives
from bayescale.answers.points import read_values
from bayescale.errors import FitError, nearest
from bayescale.laws.mixture_parts import phi

if TYPE_CHECKING:
    from bayescale.extent import Extent

STEP = 1e-4  # of a source's tokens, or of a thousandth of all where it has fewer


@dataclass(frozen=True)
class Mix:
    """One mixture at which tokens are compared.

    Parameters
    ----------
    tokens : array, shape (source,)
        Sampled tokens.
    N : float or None
    unique : array, shape (repeated,)
        Unique tokens of the repeated sources; infinite: more tokens are fresh ones.
    """

    tokens: np.ndarray
    N: float | None
    unique: np.ndarray


def token_slopes(objectives: Objectives, at: Mix) -> np.ndarray:
    """dL/dD of each target's loss in each source's tokens, shape (draw, source, target).

    Up to a factor for each draw and target where there is drift.

    Central differences, good to 1e-8; of a source without tokens forward ones.
    """
    draws, found = np.arange(objectives.size), []
    for k, tokens in enumerate(at.tokens):
        step = STEP * max(float(tokens), 1e-3 * float(at.tokens.sum()))
        moves = (-1, 1) if tokens > step else (0, 1, 2)
        weights = {2: (-0.5, 0.5), 3: (-1.5, 2.0, -0.5)}[len(moves)]
        slope: Any = 0.0
        for weight, move in zip(weights, moves, strict=True):
            D = at.tokens + move * step * np.eye(len(at.tokens))[k]
            with np.errstate(invalid="ignore"):  # infinite losses of targets without own tokens
                slope = slope + weight * _losses(objectives, draws, at, D)
        found.append(slope / step)
    return np.stack(found, axis=1)


def _losses(objectives: Objectives, draws: np.ndarray, at: Mix, D: np.ndarray) -> np.ndarray:
    """Losses without drift: along compute it scales all slopes of a loss alike.

    Beyond the runs the best shares wander, and with them what tokens are worth in each other.
    """
    unique = np.full(len(D), np.inf)
    unique[objectives.places] = at.unique
    U, far = np.minimum(D, unique), efolds_beyond(objectives, at)
    with np.errstate(all="ignore"):
        if wander := objectives.wander.at(far, size=False):
            _, D, U = wander.read_at(draws, None, D, U)
        unique = U[..., objectives.places] if objectives.repeated else None
        return objectives.exact(draws, at.N, D, unique)


def efolds_beyond(objectives: Objectives, at: Mix) -> float:
    """How far a mixture lies beyond the runs' compute, e-folds."""
    total = float(at.tokens.sum())
    return float(objectives.efolds_beyond(total if at.N is None else at.N * total))


def own_slopes(objectives: Objectives, slopes: np.ndarray) -> np.ndarray:
    """The slope in a target's own tokens, shape (draw, target).

    Of a target that is no source: in tokens drawn evenly from all sources.
    """
    own = objectives.own.T  # (source, target)
    weights = np.where(own.sum(axis=0) > 0, own, 1 / len(own))
    held = np.where(weights > 0, slopes, 0.0)  # an infinite slope elsewhere is none of ours
    return (held * weights).sum(axis=1)


def epoch_worths(
    R_star: Mapping[str, np.ndarray], epochs: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    r"""Worth of the e-th epoch, and of all up to it, in fresh ones.

    :math:`\phi(e) - \phi(e - 1)` and :math:`\phi(e)`, with
    :math:`\phi(e) = 1 + R^* (1 - e^{-(e-1)/R^*})` (arXiv:2305.16264, eq. 5).

    Returns
    -------
    last, total : dict
        Source -> draws, shape (draw, epoch).
    """
    total = {s: phi(epochs, r[:, None]) for s, r in R_star.items()}
    before = {s: phi(epochs - 1, r[:, None]) for s, r in R_star.items()}
    return {s: total[s] - before[s] for s in total}, total


def read_epochs(epochs: Any) -> np.ndarray:
    """Epochs whose worth is asked for: numbers of at least 1."""
    try:
        found = np.atleast_1d(np.asarray(epochs, dtype=float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not (found.size and np.isfinite(found).all() and (found >= 1).all()):
        raise FitError(f"epochs are {epochs!r}; expected numbers of at least 1, such as (2, 3, 5).")
    return found


def read_mix(
    of: Objectives, N: Any, D: Mapping[str, Any] | None, unique: Mapping[str, Any] | None
) -> Mix:
    """Where tokens are compared: as asked, or at the data's mean; see `bayescale.answers.worth`."""
    there = of.fit.extent
    size = None
    if of.reads_size:
        usual = there.span("N").centre
        size = usual if N is None else float(read_values("N", N)[0])
    elif N is not None:
        raise FitError(f"law '{of.fit.law.name}' here is of runs of one size: it doesn't read N.")
    shares = np.array([there.span(f"share:{s}").mean for s in of.sources])
    tokens = there.span("tokens").centre * shares
    if D is not None:
        tokens = _by_source(of, D, 0.0)
        if tokens.sum() <= 0:
            raise FitError("D names no tokens; give those of one source at least.")
    endless = _by_source(of, unique or {}, np.inf)
    return Mix(tokens, size, endless[of.places])


def _by_source(of: Objectives, given: Mapping[str, Any], usual: float) -> np.ndarray:
    found = np.full(len(of.sources), usual)
    for name, value in given.items():
        if name not in of.sources:
            raise FitError(
                f"there is no source '{name}'; the law has {', '.join(of.sources)}."
                + nearest(str(name), list(of.sources))
            )
        zero = isinstance(value, int | float) and value == 0
        found[of.sources.index(name)] = 0.0 if zero or value == "0" else read_values("D", value)[0]
    return found


def most_epochs(there: "Extent", source: str = "") -> float:
    """The most epochs of a source in any run; without a source of the columns D and U."""
    name = f"epochs:{source}" if source else "epochs"
    return there.span(name).high if name in there else 1.0
