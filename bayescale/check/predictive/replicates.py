"""Observed runs and replicates of them, as residuals on the scale of the noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.batch import Layout, make_batch
from bayescale.inference.model import Model
from bayescale.inference.rows import at_rows
from bayescale.noise.rounding import pit
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

CLIP = 2.5  # robust residuals: none counts for more than this many scales of the noise
MAX_ELEMENTS = 4_000_000  # draws x rows; fewer draws are used beyond
LEAST_DRAWS = 100


@dataclass(frozen=True)
class Replicates:
    """What the checks look at: observed and replicated runs under the same draws.

    Parameters
    ----------
    runs : Runs
    model : Model
    centre : array, shape (draw, row)
        Log of the law's mean (the mean itself for noise on the response); for a prior, one
        number: what residuals are taken from must not depend on the draw.
    observed, replicated : array, shape (draw, row)
        Response minus centre, on the scale of the noise. With offsets of runs the replicates are
        of new runs, with offsets of their own (mixed replication, Gelman, Meng & Stern 1996):
        an offset fitted to a run would hide what the law gets wrong about it.
    scale : array, shape (draw, row)
        Scale of those residuals: noise and offsets together.
    z, z_replicated : array, shape (draw, row)
        Residuals around the run's own offset, in scales of the noise; with memory what is new in
        each given the run's previous checkpoint.
    pit, log_density : array, shape (draw, row)
        Distribution function and log density of the observed response under each draw.
    effective : float
        Number of independent draws that these are worth.
    prior : bool
        Whether the draws are from the prior.
    """

    runs: "Runs"
    model: Model
    centre: np.ndarray
    observed: np.ndarray
    replicated: np.ndarray
    scale: np.ndarray
    z: np.ndarray
    z_replicated: np.ndarray
    pit: np.ndarray
    log_density: np.ndarray
    effective: float
    prior: bool = False

    @property
    def size(self) -> int:
        """Number of draws."""
        return len(self.observed)

    @property
    def factor(self) -> float:
        """From residuals to the unit that people read."""
        return 100.0 if self.model.noise.on == "log" and not self.prior else 1.0

    @property
    def unit(self) -> str:
        """Unit of residuals times `factor`."""
        if self.model.noise.on == "log":
            return f"ln {self.model.law.response}" if self.prior else "%"
        if self.model.noise.on == "logit":
            return "log odds"
        return self.model.law.response_unit or self.model.law.response

    def robust(self) -> tuple[np.ndarray, np.ndarray]:
        """Observed and replicated residuals, none beyond 2.5 scales of the noise.

        A few failed runs then can't make a trend; prior replicates are left as they are.
        """
        if self.prior:
            return self.observed, self.replicated
        limit = CLIP * self.scale
        return np.clip(self.observed, -limit, limit), np.clip(self.replicated, -limit, limit)

    def weights(self) -> np.ndarray:
        """Weight of each run in regressions: its inverse variance, the same for all draws."""
        return 1 / np.median(self.scale, axis=0) ** 2


def thin(sites: Mapping[str, np.ndarray], draws: int, rows: int) -> dict[str, np.ndarray]:
    """About ``draws`` evenly spaced draws; fewer where there are very many rows.

    Raises
    ------
    FitError
        A draw isn't finite.
    """
    for name, values in sites.items():
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise FitError(
                f"draw {int(bad[0][0])} of '{name}' is not a finite number, so nothing can be "
                "replicated from these draws; fit again, or drop such draws."
            )
    there = len(next(iter(sites.values())))
    wanted = min(draws, there, max(LEAST_DRAWS, MAX_ELEMENTS // rows))
    picked = np.linspace(0, there - 1, wanted).round().astype(int)
    return {name: values[picked] for name, values in sites.items()}


def from_posterior(
    model: Model,
    runs: "Runs",
    layout: Layout,
    sites: Mapping[str, np.ndarray],
    rng: np.random.Generator,
    effective: float,
) -> Replicates:
    """Residuals of the runs and of replicates from posterior draws."""
    batch, noise = make_batch(model, runs, layout), model.noise
    with np.errstate(over="ignore"):
        mean, params = at_rows(model, batch, sites)
        density = noise.log_density(batch["response"], mean, params, batch["noise"])
    centre = SCALES[noise.on].forward(mean)
    noise_scale = np.broadcast_to(noise.scale(mean, params, batch["noise"]), mean.shape)
    fresh, spread = _new_offsets(model, batch, params, mean.shape, rng)
    drawn = noise.draw(rng, mean, params | fresh, batch["noise"])
    seen, again = _scaled(model, batch["response"]), _scaled(model, drawn)
    z, _ = noise.standardised(seen, mean, params, batch["noise"])
    z_replicated, _ = noise.standardised(again, mean, params | fresh, batch["noise"])
    found = Replicates(
        runs=runs,
        model=model,
        centre=centre,
        observed=seen - centre,
        replicated=again - centre,
        scale=np.sqrt(noise_scale**2 + np.square(spread)),
        z=z,
        z_replicated=z_replicated,
        pit=pit(noise, rng, seen, mean, params, batch["noise"]),
        log_density=np.asarray(density),
        effective=min(effective, len(mean)),
    )
    _check_finite(found)
    return found


def from_prior(
    model: Model,
    runs: "Runs",
    layout: Layout,
    sites: Mapping[str, np.ndarray],
    rng: np.random.Generator,
) -> tuple[Replicates, int]:
    """Runs and prior replicates of them, and how many wild draws were left out.

    Under a prior draw the observed runs are far from the law; their residuals would say nothing.
    So quantities are of the responses themselves, counted from the observed median.

    Raises
    ------
    FitError
        Hardly any draw gives finite responses.
    """
    batch = make_batch(model, runs, layout)
    with np.errstate(all="ignore"):
        mean, params = at_rows(model, batch, sites)
        drawn = _scaled(model, model.noise.draw(rng, mean, params, batch["noise"]))
    keep = np.isfinite(drawn).all(axis=1)
    if keep.sum() < LEAST_DRAWS // 2:
        raise FitError(
            f"only {keep.sum()} of {len(keep)} prior draws give finite responses at these runs; "
            "narrow the priors, or look whether a column is in another unit."
        )
    observed = _scaled(model, batch["response"])
    middle = float(np.median(observed))
    shape = (int(keep.sum()), len(observed))
    ones = np.ones(shape)
    found = Replicates(
        runs=runs,
        model=model,
        centre=np.full(shape, middle),
        observed=np.broadcast_to(observed - middle, shape),
        replicated=drawn[keep] - middle,
        scale=ones,
        z=ones,
        z_replicated=ones,
        pit=ones,
        log_density=ones,
        effective=float(shape[0]),
        prior=True,
    )
    return found, int((~keep).sum())


def _scaled(model: Model, response: np.ndarray) -> np.ndarray:
    return SCALES[model.noise.on].forward(np.asarray(response))


def _new_offsets(
    model: Model,
    batch: Mapping[str, Any],
    params: Mapping[str, Any],
    shape: tuple[int, ...],
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], Any]:
    """Offsets of new runs in place of the known ones, and their standard deviation."""
    if not model.noise.offsets:
        return {}, 0.0
    index = batch["index"][str(model.noise.runs)]
    drawn = rng.standard_normal((shape[0], int(index.max()) + 1))[:, index]
    return {"run_offset": drawn}, np.asarray(params["run_sd"])


def _check_finite(found: Replicates) -> None:
    for what, values in (("observed", found.observed), ("replicated", found.replicated)):
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row = int(found.runs.row_numbers[bad[0][1]])
            raise FitError(
                f"the {what} residual of row {row} is not a finite number under draw "
                f"{int(bad[0][0])}; look at that run, or at the fit's draws."
            )
