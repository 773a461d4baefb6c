r"""The posterior of every run's curve, by quadrature: independent draws, nothing to converge.

Each run r has a curve

.. math:: L_r(D) = E_r + T_r (D/D_r)^{-\beta_r}

(D_r its geometric mean of tokens), around which checkpoints scatter by a share sigma of the loss,
with a memory along the run: AR(1), as `bayescale.noise.memory`. The exponents are partially
pooled, ln beta_r ~ Normal(ln beta, s); sigma and the memory are shared.

Given (beta_r, sigma, memory) the rest, (E_r, T_r), is linear and Gaussian, and given
(beta, s, sigma, memory) runs are independent. So the whole posterior is a sum over a grid of
those four, and of beta_r for each run. NUTS on the same model was tried: on 16 runs of few
checkpoints, whose E and T nearly stand in for each other, it took 50 to 100 s and did not pass
its gate.
"""

from dataclasses import dataclass

import numpy as np

from bayescale.answers.envelope.reading import CurveData

BETA = np.geomspace(0.03, 3.0, 49)  # first look at the exponents
POINTS, WIDTH = 41, 5.0  # of each run's own grid, and its half width in posterior SDs
COMMON = np.geomspace(0.08, 1.5, 25)
SPREAD = np.array([0.03, 0.1, 0.2, 0.35, 0.6, 1.0])
SIGMA = np.geomspace(2e-4, 5e-2, 45)
# e-folds of tokens; the first remembers nothing. What is slower belongs to the run's curve
MEMORY = np.append(1e-6, np.geomspace(0.02, 1.0, 9))
ORDINAL = 10.0  # checkpoints where e-folds would be 1
MIDDLE, SD = (0.65, 0.35), 0.25  # prior of E and T over the run's mean loss
ASIDE = 8.0  # robust SDs at which a checkpoint is left out


@dataclass(frozen=True)
class CurveDraws:
    """Draws of all curves.

    Parameters
    ----------
    data : CurveData
    E, T, beta : array, shape (draw, run)
    log_ref : array, shape (run,)
        ln D_r.
    sigma, memory : array, shape (draw,)
    """

    data: CurveData
    E: np.ndarray
    T: np.ndarray
    beta: np.ndarray
    log_ref: np.ndarray
    sigma: np.ndarray
    memory: np.ndarray

    @property
    def size(self) -> int:
        """Number of draws."""
        return len(self.sigma)

    def at(self, log_c: np.ndarray, draws: slice = slice(None)) -> np.ndarray:
        """Loss at log compute, shape (draw, run, budget); infinite outside a run's own data."""
        data = self.data
        low, high = data.spans(data.log_c)
        off = log_c - (data.log_n + data.log_cost + self.log_ref)[:, None]
        loss = self.T[draws, :, None] * np.exp(-self.beta[draws, :, None] * off)
        loss += self.E[draws, :, None]
        inside = (log_c >= low[:, None] - 1e-9) & (log_c <= high[:, None] + 1e-9)
        return np.where(inside, loss, np.inf)


@dataclass(frozen=True)
class Sums:
    """Sums over the checkpoints of each run, for each exponent and memory.

    Parameters
    ----------
    xx : array, shape (run, beta, memory, 2, 2)
    xy : array, shape (run, beta, memory, 2)
    yy : array, shape (run, memory)
    log_rest : array, shape (run, memory)
        Sum of ln sqrt(1 - phi^2).
    count : array, shape (run,)
    """

    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray
    log_rest: np.ndarray
    count: np.ndarray


def curve_draws(
    data: CurveData, draws: int, seed: int, ordinal: bool = False
) -> tuple[CurveDraws, np.ndarray]:
    """Draw all curves from their posterior.

    Parameters
    ----------
    data : CurveData
    draws, seed : int
    ordinal : bool
        Whether memory is counted in checkpoints.

    Returns
    -------
    CurveDraws
    aside : boolean array, shape (row,)
        Checkpoints that stand far apart from their curve and were left out.
    """
    memory = MEMORY * (ORDINAL if ordinal else 1.0)
    mean = np.bincount(data.code, data.loss) / np.bincount(data.code)
    ref = np.bincount(data.code, data.log_d) / np.bincount(data.code)
    weight = np.ones(len(data.code))
    wide = np.broadcast_to(BETA, (len(mean), len(BETA)))
    sums = _sums(data, ref, wide, memory, weight)
    far = _apart(data, ref, mean, wide, sums, memory)
    if far.any():
        weight = np.where(far, 1e-6, 1.0)
        sums = _sums(data, ref, wide, memory, weight)
    betas = _own_grids(sums, wide, mean)
    sums = _sums(data, ref, betas, memory, weight)
    rng = np.random.default_rng([seed, 53])
    chosen = _draw_grid(sums, betas, mean, memory, draws, rng)
    E, T = _draw_linear(sums, mean, *chosen, rng)
    run = np.arange(len(mean))
    beta = betas[run, chosen[0]]
    drawn = CurveDraws(data, E, T, beta, ref, SIGMA[chosen[1]], memory[chosen[2]])
    return drawn, far


def _design(data: CurveData, ref: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Columns of E and T over the loss of the checkpoint, shape (row, beta, 2)."""
    off = data.log_d - ref[data.code]
    term = np.exp(-betas[data.code] * off[:, None])
    return np.stack([np.ones_like(term), term], axis=-1) / data.loss[:, None, None]


def _sums(
    data: CurveData, ref: np.ndarray, betas: np.ndarray, memory: np.ndarray, weight: np.ndarray
) -> Sums:
    x = _design(data, ref, betas)
    starts = np.searchsorted(data.code, np.arange(len(ref)))
    first = data.previous == np.arange(len(data.code))
    xx, xy, yy, rest_sum = [], [], [], []
    for m in memory:
        phi = np.where(first, 0.0, np.exp(-data.gap / m))
        rest = np.sqrt(np.maximum(1 - phi**2, 1e-9))
        one = (1 - phi) / rest  # the target is 1 in every row
        z = (x - phi[:, None, None] * x[data.previous]) / rest[:, None, None]
        wz = z * weight[:, None, None]
        xx.append(np.add.reduceat(wz[..., :, None] * z[..., None, :], starts))
        xy.append(np.add.reduceat(wz * one[:, None, None], starts))
        yy.append(np.add.reduceat(weight * one**2, starts))
        rest_sum.append(np.add.reduceat(np.log(rest) * (weight > 0.5), starts))
    count = np.add.reduceat((weight > 0.5).astype(float), starts)
    return Sums(np.stack(xx, 2), np.stack(xy, 2), np.stack(yy, 1), np.stack(rest_sum, 1), count)


def _gaussian(
    xx: np.ndarray, xy: np.ndarray, sigma: np.ndarray, mean: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, precision of (E, T), and b' A^-1 b: all arguments broadcast, (..., 2) behind."""
    ridge = 1 / (SD * mean) ** 2
    A = xx / sigma[..., None, None] ** 2 + ridge[..., None, None] * np.eye(2)
    b = xy / sigma[..., None] ** 2 + (ridge * mean)[..., None] * np.array(MIDDLE)
    det = A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] ** 2
    centre = np.stack(
        [
            (A[..., 1, 1] * b[..., 0] - A[..., 0, 1] * b[..., 1]) / det,
            (A[..., 0, 0] * b[..., 1] - A[..., 0, 1] * b[..., 0]) / det,
        ],
        axis=-1,
    )
    return centre, A, (centre * b).sum(-1) - np.log(det)


def _evidence(sums: Sums, mean: np.ndarray) -> np.ndarray:
    """Log marginal likelihood of each run's checkpoints, shape (run, beta, sigma, memory)."""
    _, _, fitted = _gaussian(
        sums.xx[:, :, None], sums.xy[:, :, None], SIGMA[:, None], mean[:, None, None, None]
    )
    rest = sums.yy[:, None] / SIGMA[:, None] ** 2 + 2 * sums.log_rest[:, None]
    rest = rest + 2 * sums.count[:, None, None] * np.log(SIGMA[:, None])
    return 0.5 * (fitted - rest[:, None])


def _apart(
    data: CurveData,
    ref: np.ndarray,
    mean: np.ndarray,
    betas: np.ndarray,
    sums: Sums,
    memory: np.ndarray,
) -> np.ndarray:
    """Checkpoints far from where their run's best curve and the one before put them."""
    evidence = _evidence(sums, mean)
    s, m = np.unravel_index(evidence.max(axis=1).sum(axis=0).argmax(), evidence.shape[2:])
    best = evidence[:, :, s, m].argmax(axis=1)
    run = np.arange(len(mean))
    picked = sums.xx[run, best, m], sums.xy[run, best, m]
    centre, _, _ = _gaussian(*picked, np.full(len(run), SIGMA[s]), mean)
    off = data.log_d - ref[data.code]
    curve = centre[data.code, 0] + centre[data.code, 1] * np.exp(-betas[run, best][data.code] * off)
    residual = data.loss / curve - 1
    phi = np.exp(-data.gap / memory[m])
    moved = (residual - phi * residual[data.previous]) / np.sqrt(np.maximum(1 - phi**2, 1e-9))
    scale = 1.4826 * np.median(np.abs(moved))
    return np.abs(moved) > ASIDE * max(scale, 1e-4)


def _own_grids(sums: Sums, betas: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """A grid of exponents for each run, around its posterior, shape (run, point)."""
    evidence = _evidence(sums, mean)
    best = evidence.max(axis=1).sum(axis=0)
    s, m = np.unravel_index(best.argmax(), best.shape)
    logs = np.log(betas)
    weight = evidence[:, :, s, m] - 0.5 * ((logs - np.log(0.35)) / 0.8) ** 2
    weight = np.exp(weight - weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    middle = (weight * logs).sum(axis=1)
    sd = np.sqrt((weight * (logs - middle[:, None]) ** 2).sum(axis=1))
    half = WIDTH * np.maximum(sd, 0.6 * (logs[0, 1] - logs[0, 0]))
    low = np.maximum(middle - half, logs[0, 0])
    high = np.minimum(middle + half, logs[0, -1])
    return np.exp(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, POINTS))


def _draw_grid(
    sums: Sums,
    betas: np.ndarray,
    mean: np.ndarray,
    memory: np.ndarray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of beta (draw, run), sigma (draw,) and memory (draw,)."""
    evidence = _evidence(sums, mean)
    peak = evidence.max(axis=1, keepdims=True)
    likelihood = np.exp(evidence - peak)
    logs = np.log(betas)
    step = (logs[:, -1] - logs[:, 0]) / (POINTS - 1)
    centre, spread = (g.ravel() for g in np.meshgrid(np.log(COMMON), SPREAD, indexing="ij"))
    z = (logs[:, :, None] - centre) / spread
    prior = np.exp(-0.5 * z**2) / spread * step[:, None, None]  # (run, beta, common)
    held = np.einsum("rbp,rbsm->psmr", prior, likelihood, optimize=True)
    with np.errstate(divide="ignore"):
        total = np.log(held).sum(-1) + peak[:, 0].sum(0)
    total += _log_priors(centre, spread, memory)
    weight = np.exp(total - total.max()).ravel()
    picked = rng.choice(len(weight), draws, p=weight / weight.sum())
    p, s, m = np.unravel_index(picked, total.shape)
    own = prior[:, :, p] * likelihood[:, :, s, m]  # (run, beta, draw)
    cumulative = np.cumsum(own, axis=1)
    level = rng.uniform(size=(len(betas), 1, draws)) * cumulative[:, -1:]
    place = np.minimum((cumulative < level).sum(axis=1), POINTS - 1)
    return place.T, s, m


def _log_priors(centre: np.ndarray, spread: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """Priors of the shared four, shape (common, sigma, memory).

    sigma as in `bayescale.noise`, LogNormal(.01, 1); memory about .2 e-folds, a factor 3 either
    way; a common exponent LogNormal(.35, .6); the spread between runs HalfNormal(.3).
    """
    common = -0.5 * ((centre - np.log(0.35)) / 0.6) ** 2 - 0.5 * (spread / 0.3) ** 2
    common = common + np.log(np.gradient(SPREAD)[np.searchsorted(SPREAD, spread)])
    noise = -0.5 * np.log(SIGMA / 0.01) ** 2
    middle = 0.2 * memory[-1] / MEMORY[-1]
    kept = -0.5 * (np.log(np.maximum(memory, memory[1] / 2) / middle) / 1.1) ** 2
    return common[:, None, None] + noise[:, None] + kept


def _draw_linear(
    sums: Sums,
    mean: np.ndarray,
    beta: np.ndarray,
    sigma: np.ndarray,
    memory: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """E and T given the rest, shape (draw, run)."""
    run = np.arange(len(mean))
    picked = sums.xx[run, beta, memory[:, None]], sums.xy[run, beta, memory[:, None]]
    scale = np.broadcast_to(SIGMA[sigma][:, None], beta.shape)
    centre, A, _ = _gaussian(*picked, scale, mean)
    lower = np.linalg.cholesky(A)
    noise = rng.standard_normal((*beta.shape, 2))
    # A = L L', so L'^-1 z has the covariance A^-1
    second = noise[..., 1] / lower[..., 1, 1]
    first = (noise[..., 0] - lower[..., 1, 0] * second) / lower[..., 0, 0]
    return centre[..., 0] + first, centre[..., 1] + second
