"""The compiled functions of one model on one device, and the settings they run with."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.cache import compiled, shapes
from bayescale.inference.density import log_density
from bayescale.inference.mode import Mode
from bayescale.inference.model import Model
from bayescale.inference.nuts import (
    advance_function,
    one_after_another,
    side_by_side,
)
from bayescale.inference.packing import Packing

# compiled functions that engines of one model share, by name, shapes, packing and device
Programs = dict[tuple[Any, ...], Callable[..., Any]]
Progress = Callable[[int, int, int], None]  # iterations done, in all, divergences so far

_ONE_AT_A_TIME = (
    threading.RLock()
)  # threads that want one function wait for it, none makes it twice


@dataclass(frozen=True)
class Settings:
    """How to sample.

    Parameters
    ----------
    chains, draws, warmup : int
        Chains, kept draws a chain, and adapting iterations before them.
    target_accept : float
        Acceptance probability that the step size aims at.
    max_tree_depth : int
        NUTS doubles a trajectory at most this often.
    retry : bool
        After divergences, sample again with smaller steps (target_accept .95, then .99).
    device : str
        JAX platform: ``cpu`` (the right place for one fit), ``gpu`` or ``tpu``.
    """

    chains: int = 4
    draws: int = 1000
    warmup: int = 300
    target_accept: float = 0.8
    max_tree_depth: int = 10
    retry: bool = True
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name, least in (("chains", 2), ("draws", 10), ("warmup", 20), ("max_tree_depth", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise FitError(f"{name} is {value!r}; expected a whole number of at least {least}.")
        number = isinstance(self.target_accept, int | float)
        if not number or not 0.5 <= self.target_accept < 1:
            raise FitError(
                f"target_accept is {self.target_accept!r}; expected a number between 0.5 and 1."
            )


def usable_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells
        return os.cpu_count() or 1


@contextmanager
def float64(device: Any) -> Iterator[None]:
    """Run JAX code in double precision on one device, whatever JAX is set to outside.

    The kind of random keys is set too: draws follow the seed alone. Divergent trajectories may
    hold NaN, which is no error.
    """
    import jax

    with (
        jax.enable_x64(True),
        jax.default_device(device),
        jax.default_prng_impl("threefry2x32"),
        jax.threefry_partitionable(True),
        jax.debug_nans(False),
    ):
        yield


def find_device(platform: str, position: int = 0) -> Any:
    """A JAX device of a platform, by its position among the local ones.

    Raises
    ------
    FitError
        JAX has no such device here; the message lists those it has.
    """
    import jax

    try:
        return jax.local_devices(backend=platform)[position]
    except RuntimeError:
        have = sorted({d.platform for d in jax.devices()})
        raise FitError(
            f"no JAX device '{platform}' here; available: {', '.join(have)}. "
            "See `bayescale doctor`."
        ) from None


class Clock:
    """Adds up wall seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time inside the block for ``name``."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


class Engine:
    """The compiled functions of one model on one device."""

    def __init__(
        self,
        model: Model,
        packing: Packing,
        settings: Settings,
        declaration: str | None,
        device: Any,
        clock: Clock,
        origins: dict[str, str],
        programs: Programs | None = None,
    ) -> None:
        self.settings, self.packing, self.size = settings, packing, packing.size
        self.model = model
        self.device, self.clock, self.origins = device, clock, origins
        self.programs = {} if programs is None else programs
        self.declaration = declaration and (f"{declaration}|{packing!r}")
        self.density = lambda vector, batch: log_density(model, packing)(vector, batch)

    def put(self, arrays: Any) -> Any:
        """Move a tree of arrays to the device, as float64 and int64."""
        import jax

        return jax.device_put(jax.tree.map(np.asarray, arrays), self.device)

    def gradient(
        self, data: Any, centring: Mapping[str, np.ndarray]
    ) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        """Value and gradient of the log density, as a function of NumPy vectors."""
        import jax

        data = data | {"centring": dict(centring)}
        args = (np.zeros(self.size), data)
        function = self.compile("gradient", lambda: jax.value_and_grad(self.density), args)

        def call(vector: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = function(vector, data)
            return float(value), np.asarray(slope)

        return call

    def advance(
        self, depth: int, warmup: int, args: tuple[Any, ...], spread: Callable[..., Any] = map
    ) -> Callable[..., Any]:
        """The compiled `advance` of all chains, whose arguments have an axis of chains.

        Parameters
        ----------
        depth : int
            NUTS doubles a trajectory at most this often.
        warmup : int
            Adapting iterations.
        args : tuple
            (first, count, z, keys, state, target, place, batch) to compile for.
        spread : callable
            Where chains run one after another: ``map``, or that of a thread pool.
        """
        build = lambda: advance_function(self.density, warmup, depth)  # noqa: E731
        name = f"advance to depth {depth} after {warmup}"
        if self.device.platform != "cpu":
            wide = lambda: side_by_side(build())  # noqa: E731
            return self.compile(f"{name}, chains side by side", wide, args)
        first, count, z, keys, state, *where = args
        one = (first, count, z[0], keys[0], state[0], *where)
        return one_after_another(self.compile(name, build, one), spread)

    @contextmanager
    def threads(self) -> Iterator[Callable[..., Any]]:
        """A ``map`` that runs chains on all cores; compiled code runs without Python's lock."""
        cores = min(self.settings.chains, usable_cores())
        if cores == 1 or self.device.platform != "cpu":
            yield map
            return
        with ThreadPoolExecutor(cores) as pool:

            def spread(function: Callable[[int], Any], chains: Iterable[int]) -> Iterator[Any]:
                def inside(chain: int) -> Any:
                    with float64(self.device):  # JAX's settings are a thread's own
                        return function(chain)

                return pool.map(inside, chains)

            yield spread

    def compile(
        self, name: str, build: Callable[[], Callable[..., Any]], args: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """A compiled function for arguments of these shapes; traced once by all who share them."""
        with self.clock.phase("trace, compile, load"), _ONE_AT_A_TIME:
            slot = (name, shapes(args), self.packing, self.device.id)
            if slot not in self.programs:
                found = compiled(name, build, args, self.declaration, self.device)
                self.programs[slot], self.origins[name] = found
        return self.programs[slot]


def chain_starts(
    gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
    mode: Mode,
    chains: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Overdispersed whitened starts, pulled towards the mode until the density is finite."""
    starts = 2.0 * rng.standard_normal((chains, len(mode.vector)))
    for k in range(chains):
        for _ in range(20):
            value, slope = gradient(mode.vectors(starts[k]))
            if np.isfinite(value) and np.all(np.isfinite(slope)):
                break
            starts[k] *= 0.7
    return starts
