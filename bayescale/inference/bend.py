r"""A map that straightens a curved posterior, learnt from its draws.

Laws give posteriors that are long along what data hardly see (how a loss divides into terms, an
exponent against its term) and thin across what they see well (the loss itself), and the long
directions curve. No linear map makes that round: a sampler has to take steps as short as the
posterior is thin. Here each of its directions is moved by a quadratic function of a few, the
heads h, in a triangular order,

.. math:: y_i = s_i z_i + b_i \cdot \phi(h), \qquad
          \phi(h) = (1, h_1, \ldots, h_K, h_1^2, h_1 h_2, \ldots, h_K^2),

where each head depends on those before it only. The Jacobian is a constant, so draws of z follow
the right density whatever b is, and a poor b costs time alone. b is a ridge regression of draws on
the heads; it is kept for directions that it predicts in chains that it has not seen. (Parno and
Marzouk 2018, arXiv:1412.5492, learn triangular maps within a chain.)
"""

from typing import Any

import numpy as np

from bayescale.arrays import namespace

HEADS = 6  # directions that others may bend along
RIDGE = 5.0  # prior draws' worth of a straight posterior
LEAST = 0.05  # share of a direction's variance that a bend has to foretell in other chains
FAR = 6.0  # SDs towards which heads are bounded, so that a bend goes no farther than draws lie


def bent(z: Any, bend: Any) -> Any:
    """Where points z of shape (..., dim) are taken by a bend of shape (dim, 1 + feature)."""
    scale, by = bend[:, 0], bend[:, 1:]
    heads = head_count(by.shape[-1])
    h = 0.0 * z[..., :heads]
    for _ in range(heads):  # each round sets one more head right, and leaves those before it
        h = scale[:heads] * z[..., :heads] + features(h) @ by[:heads].T
    return scale * z + features(h) @ by.T


def straight(y: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """Inverse of `bent`."""
    scale, by = bend[:, 0], bend[:, 1:]
    return (y - features(y[..., : head_count(by.shape[-1])]) @ by.T) / scale


def features(h: Any) -> Any:
    """1, the heads, and their products, shape (..., feature)."""
    xp = namespace(h)
    one, other = np.tril_indices(h.shape[-1])
    ones = xp.ones((*h.shape[:-1], 1))
    h = FAR * xp.tanh(h / FAR)
    return xp.concat([ones, h, h[..., one] * h[..., other]], axis=-1)


def head_count(count: int) -> int:
    """Number of heads from that of their features, (K + 1)(K + 2)/2."""
    return int(np.sqrt(8 * count + 1) - 3) // 2


def learn(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Learn a bend from draws.

    Parameters
    ----------
    y : array, shape (chain, draw, dim)
        Of variance 1 and uncorrelated, the widest direction first.

    Returns
    -------
    order : array of int, shape (dim,)
        Directions with the heads first.
    bend : array, shape (dim, 1 + feature)
        For directions in that order: what is left of each one's standard deviation, and b.
    """
    heads = _heads(y.reshape(-1, y.shape[-1]))
    order = np.concatenate([heads, np.setdiff1d(np.arange(y.shape[-1]), heads)])
    y = y[..., order]
    f = features(y[..., : len(heads)])
    bend = np.zeros((len(order), 1 + f.shape[-1]))
    bend[:, 0] = 1.0
    for i in range(len(order)):
        use = _before(min(i, len(heads)), len(heads))
        if _unforetold(f[..., use], y[..., i]) > 1 - LEAST:
            continue
        bend[i, 1:][use] = _regress(f[..., use], y[..., i])
        bend[i, 0] = np.std(y[..., i] - f @ bend[i, 1:])
    return order, bend


def _heads(y: np.ndarray) -> np.ndarray:
    """Directions whose squares foretell most of the others, the best first."""
    size = y.shape[-1]
    cut = np.clip(y, -FAR, FAR)
    squares = np.square(cut) - np.square(cut).mean(axis=0)
    told = np.square((squares / squares.std(axis=0)).T @ cut / len(cut))  # [square of, direction]
    told = np.where((told > 9 / len(cut)) & ~np.eye(size, dtype=bool), told, 0.0)
    return np.argsort(-told.sum(axis=1), kind="stable")[: min(HEADS, size - 1)]


def _before(count: int, heads: int) -> np.ndarray:
    """Features of the first heads alone, as a mask."""
    one, _ = np.tril_indices(heads)
    return np.concatenate([[True], np.arange(heads) < count, one < count])


def _unforetold(f: np.ndarray, y: np.ndarray) -> float:
    """Share of variance that a regression leaves in a chain, learnt from the other chains."""
    chains = range(len(y))
    learnt = (_regress(np.delete(f, k, axis=0), np.delete(y, k, axis=0)) for k in chains)
    left = [y[k] - f[k] @ b for k, b in enumerate(learnt)]
    return float(np.var(left) / np.var(y))


def _regress(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ridge regression on features (..., feature), whose first is the constant."""
    f, y = f.reshape(-1, f.shape[-1]), y.ravel()
    penalty = np.full(f.shape[1], RIDGE)
    penalty[0] = 0.0
    return np.linalg.solve(f.T @ f + np.diag(penalty), f.T @ y)
