"""From a model and a batch to draws: mode, whitening, NUTS."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayescale.inference.batch import pad, padded_size, take_rows
from bayescale.inference.centring import choose_centring, choose_scaled
from bayescale.inference.chains import Start, run_chains
from bayescale.inference.drifting import Setting, choose_frame, settle, without_drift
from bayescale.inference.engine import (
    Clock,
    Engine,
    Progress,
    Settings,
    chain_starts,
    find_device,
    float64,
)
from bayescale.inference.levels import as_offsets, run_levels
from bayescale.inference.mode import Mode, climbs, find_mode
from bayescale.inference.model import Model
from bayescale.inference.packing import LEVEL, Packing

__all__ = ["Draws", "Progress", "Settings", "sample"]

RETRIES = (0.95, 0.99)  # acceptance targets after divergences: smaller steps
CANDIDATES = 24  # prior draws among which the best starts are sought
SUBSET = 4096  # rows on which starts are compared when a data set is much larger


@dataclass(frozen=True)
class Draws:
    """Unconstrained draws and what the sampler said of them.

    Parameters
    ----------
    vectors : array, shape (chain, draw, dim)
    stats : dict
        Sampler statistics named as in ArviZ, shape (chain, draw).
    mode : Mode
    timings : dict
        Seconds by phase.
    origins : dict
        Whether each compiled function was loaded, traced or compiled.
    gradients : int
        Gradient evaluations of the kept draws.
    target_accept : float
        The acceptance probability that these draws were made with.
    centring : mapping
        Centring of pooled parameters under which the vectors are to be read.
    """

    vectors: np.ndarray
    stats: dict[str, np.ndarray]
    mode: Mode
    timings: dict[str, float] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    gradients: int = 0
    target_accept: float = 0.8
    centring: Mapping[str, np.ndarray] = field(default_factory=dict)


def sample(
    model: Model,
    packing: Packing,
    batch: dict[str, Any],
    seed: int,
    settings: Settings,
    declaration: str | None = None,
    progress: Progress | None = None,
) -> Draws:
    """Sample a model's posterior with whitened NUTS.

    Parameters
    ----------
    model, packing
        What to sample, and how its sites lie in a vector.
    batch : dict
        Arrays from `make_batch`.
    seed : int
        The same seed gives the same draws on the same machine.
    settings : Settings
    declaration : str, optional
        All that the density depends on besides the package's source (see `cache.compiled`).
    progress : callable, optional
        Called with (iterations done, in all, divergences).

    Raises
    ------
    FitError
        No such device, or no start with a finite density.
    """
    clock, origins = Clock(), {}
    with clock.phase("import jax"):
        device = find_device(settings.device)
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)]
    with float64(device):
        engine = Engine(model, packing, settings, declaration, device, clock, origins)
        place = locate(engine, packing, batch, streams[0])
        target = settings.target_accept
        keys = streams[1].integers(0, 2**32, size=(settings.chains, 2), dtype=np.uint32)
        z = chain_starts(place.gradient, place.mode, settings.chains, streams[1])
        run = run_chains(engine, place.data, Start(place.mode, z, keys), target, progress)
        for smaller in RETRIES if settings.retry else ():
            if run.stats["diverging"].any() and smaller > run.target:
                run = run_chains(engine, place.data, run.again, smaller, progress)
    vectors = as_offsets(model, packing, run.vectors, batch, place.centring)
    return Draws(
        vectors,
        run.stats,
        run.start.mode,
        clock.seconds,
        origins,
        run.gradients,
        run.target,
        place.centring,
    )


@dataclass(frozen=True)
class Place:
    """Where chains start, found in Python: one fit has nothing to compile for it."""

    data: Any
    centring: Mapping[str, np.ndarray]
    mode: Mode
    gradient: Callable[[np.ndarray], tuple[float, np.ndarray]]


def locate(
    engine: Engine, packing: Packing, batch: dict[str, Any], rng: np.random.Generator
) -> Place:
    """Find the posterior's mode, its whitening, and the centring of pooled parameters.

    Raises
    ------
    FitError
        No start has a finite density.
    """
    centring = packing.no_centring()
    data = engine.put(pad(batch, padded_size(len(batch["response"]))))
    gradient = engine.gradient(data, centring)
    with engine.clock.phase("mode"):
        starts = _starts(engine, packing, batch, gradient, rng)
        centred = lambda vector, c: engine.gradient(data, c)(vector)  # noqa: E731
        if packing.pools:
            centring, start = choose_centring(centred, packing, starts)
            if LEVEL in centring:
                values = packing.constrain(start, centring)
                centring = centring | {LEVEL: run_levels(engine.model, values, batch)}
            starts = start[None]
        if packing.scales:
            centring, starts = choose_scaled(centred, packing, centring, starts)
        gradient = engine.gradient(data, centring)
        if engine.model.drift:
            return _with_drift(engine, packing, batch, data, centring, starts)
        mode = find_mode(gradient, starts)
    return Place(data | {"centring": centring}, centring, mode, gradient)


def _with_drift(
    engine: Engine,
    packing: Packing,
    batch: dict[str, Any],
    data: Any,
    centring: Mapping[str, np.ndarray],
    starts: np.ndarray,
) -> Place:
    """A place of a model with drift, in the frame of law and drift."""
    vector = without_drift(packing, engine.gradient(data, centring), starts)
    values = packing.constrain(vector, centring)
    there = Setting(engine.model, packing, batch)
    frame = choose_frame(there, centring, vector)
    centring = {**centring, **frame}

    def gradient_of(rows: Mapping[str, Any]) -> Any:
        padded = pad(dict(rows), padded_size(len(rows["response"])))
        return engine.gradient(engine.put(padded), centring)

    start = packing.join(values, centring)
    mode = settle(there, centring, gradient_of, start)
    values = packing.constrain(mode.vector, centring)
    centring = {**centring, **choose_frame(there, centring, mode.vector)}
    mode = settle(there, centring, gradient_of, packing.join(values, centring))
    return Place(data | {"centring": centring}, centring, mode, engine.gradient(data, centring))


def _starts(
    engine: "Engine",
    packing: Packing,
    batch: dict[str, Any],
    gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
    rng: np.random.Generator,
) -> np.ndarray:
    """Prior medians and the best of some prior draws; from a subset where rows are many."""
    centre, *draws = prior_candidates(packing, rng)
    rows = len(batch["response"])
    if rows > 4 * SUBSET:
        keep = rng.choice(rows, SUBSET, replace=False)
        gradient = engine.gradient(engine.put(take_rows(batch, keep)), packing.no_centring())
    values = np.array([gradient(d)[0] for d in draws])
    order = np.argsort(-np.where(np.isfinite(values), values, -np.inf))
    starts = np.stack([centre, *(draws[k] for k in order[: climbs(packing.size) - 1])])
    return find_mode(gradient, starts).vector[None] if rows > 4 * SUBSET else starts


def prior_candidates(packing: Packing, rng: np.random.Generator) -> np.ndarray:
    """Where a search for the mode may start: prior medians, then prior draws, (25, dim)."""
    middle = {
        s.name: np.full(shape, s.prior.middle())
        for s, shape in zip(packing.sites, packing.shapes, strict=True)
    }
    draws = packing.join(packing.sample_prior(rng, CANDIDATES))
    return np.concatenate([packing.join(middle)[None], draws])
