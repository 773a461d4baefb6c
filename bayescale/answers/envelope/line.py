r"""The power law through the crossings of a draw, with the scatter of runs in its uncertainty.

A run's seed (or shape) shifts its whole curve by some share tau of its loss, which no checkpoint
of that run can tell. At a crossing of sizes h = ln N_j/N_i apart ln loss of the larger size falls
faster by kappa h, so shifts z_i, z_j move the crossing:

.. math:: \ln C_k = c_0 + \frac{1}{a} (\ln\sqrt{N_i N_j} - \bar n)
          + \frac{\tau}{\kappa h_k} (z_j - z_i), \qquad z \sim Normal(0, 1).

Neighbouring crossings share a run and move in opposite directions; near sizes, whose crossing is
vague, count little. kappa is the common steepness of the draw's crossings. Priors: logit a ~
Normal(0, 1) (90%: .16 to .84), tau ~ LogNormal(.005, 1) (seeds differ by .1 to .3% of the loss,
shapes by 1%), c_0 flat. Two crossings hold no scatter of their own: then tau is the prior's.
"""

from dataclasses import dataclass

import numpy as np

from bayescale.answers.envelope.crossings import Crossings

LOGIT = np.linspace(-4.0, 4.0, 241)
TAU = np.geomspace(2e-4, 0.1, 29)
TAU_PRIOR = (0.005, 1.0)
CHUNK = 500


@dataclass(frozen=True)
class Line:
    """A power law N_opt = exp(level) (C/C0)^a for every draw.

    Parameters
    ----------
    a, level, tau : array, shape (draw,)
    C0 : float
        FLOP, in the middle of the crossings.
    """

    a: np.ndarray
    level: np.ndarray
    tau: np.ndarray
    C0: float


def fit_line(found: Crossings, log_n: np.ndarray, seed: int) -> Line:
    """Draw the power law of every draw of the crossings, each of which has at least two."""
    rng = np.random.default_rng([seed, 59])
    log_c0 = float(np.nanmean(found.log_c))
    parts = [
        _chunk(found, slice(k, k + CHUNK), log_n, log_c0, rng)
        for k in range(0, len(found.log_c), CHUNK)
    ]
    a, level, tau = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Line(a, level, tau, float(np.exp(log_c0)))


def _chunk(
    found: Crossings, rows: slice, log_n: np.ndarray, log_c0: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    there = np.isfinite(found.log_c[rows])
    y = np.where(there, found.log_c[rows] - log_c0, 0.0)
    sizes = log_n[found.pair[rows]]
    h = np.where(there, sizes[..., 1] - sizes[..., 0], 1.0)
    x = np.where(there, sizes.mean(axis=-1), 0.0)
    precision = _precision(found.pair[rows], h, there, len(log_n))
    steep = np.where(there, found.steeper[rows], 0.0)
    kappa = (steep * h).sum(axis=1) / (h**2 * there).sum(axis=1)
    ones = there.astype(float)
    s11 = _form(ones, precision, ones)
    mean_x = _form(ones, precision, x) / s11
    mean_y = _form(ones, precision, y) / s11
    dx, dy = (x - mean_x[:, None]) * ones, (y - mean_y[:, None]) * ones
    sums = [_form(u, precision, v) for u, v in ((dy, dy), (dx, dy), (dx, dx))]
    a, scale = _draw(sums, there.sum(axis=1), kappa, rng)
    c0 = mean_y + scale / np.sqrt(s11) * rng.standard_normal(len(a))
    return a, mean_x - a * c0, scale * kappa


def _precision(pair: np.ndarray, h: np.ndarray, there: np.ndarray, runs: int) -> np.ndarray:
    """Inverse of B B', where B holds 1/h and -1/h of the two runs of each crossing."""
    draw, nth = np.nonzero(there)
    B = np.zeros((*there.shape, runs))
    B[draw, nth, pair[draw, nth, 0]] = -1 / h[draw, nth]
    B[draw, nth, pair[draw, nth, 1]] = 1 / h[draw, nth]
    covariance = B @ np.swapaxes(B, -1, -2)
    covariance += np.eye(there.shape[1]) * np.where(there, 1e-9, 1.0)[:, None, :]
    both = there[:, :, None] & there[:, None, :]
    return np.linalg.inv(covariance) * both


def _form(u: np.ndarray, precision: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("di,dij,dj->d", u, precision, v)


def _draw(
    sums: list[np.ndarray], count: np.ndarray, kappa: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a and tau/kappa from their joint posterior on a grid."""
    yy, xy, xx = (s[:, None] for s in sums)
    slope = 1 + np.exp(-LOGIT)  # 1/a
    rss = np.maximum(yy - 2 * slope * xy + slope**2 * xx, 0.0)  # (draw, a)
    scale = TAU / kappa[:, None]
    log_prior = -0.5 * (np.log(TAU / TAU_PRIOR[0]) / TAU_PRIOR[1]) ** 2
    free = (count - 1)[:, None] * np.log(scale)
    log_p = (log_prior - free)[:, None] - 0.5 * rss[:, :, None] / scale[:, None] ** 2
    log_p -= 0.5 * LOGIT[:, None] ** 2
    weight = np.exp(log_p - log_p.max(axis=(1, 2), keepdims=True)).reshape(len(kappa), -1)
    cumulative = np.cumsum(weight, axis=1)
    level = rng.uniform(size=(len(kappa), 1)) * cumulative[:, -1:]
    place = np.minimum((cumulative < level).sum(axis=1), weight.shape[1] - 1)
    nth_a, nth_tau = np.unravel_index(place, (len(LOGIT), len(TAU)))
    step = LOGIT[1] - LOGIT[0]
    logit = LOGIT[nth_a] + step * rng.uniform(-0.5, 0.5, len(kappa))
    return 1 / (1 + np.exp(-logit)), scale[np.arange(len(kappa)), nth_tau]
