"""Who runs, in which order, on how many fits, with which options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.many.contender import Outcome
from benchmarks.speed.lineup import Caches, bayescale_caches, no_caches, pytensor_caches

MANY, ONE_WORKER, LOOP, LOOP_DEFAULT, LOOP_ONE_CORE, NUTPIE, NUTPIE_RHAT, SIMPLE, GPU = (
    "fit_many",
    "fit_many, 1 worker",
    "fit, same draws",
    "fit, defaults",
    "fit, same draws, 1 core",
    "nutpie",
    "nutpie, R-hat too",
    "simple-scaling-laws",
    "fit_many, GPU",
)
MIN_ESS, MAX_RHAT = 400, 1.01
NUTPIE_DRAWS = (250, 500, 1000, 2000, 4000)  # tried in this order
GPU_FITS = 8192

Options = Callable[[Outcome], dict[str, Any]]  # given what fit_many said


@dataclass(frozen=True)
class Contender:
    """One row of the table: a module of `benchmarks.many.contenders`, run on the first ``fits``."""

    name: str
    module: str
    fits: int
    options: Options = lambda _: {}
    caches: Caches = no_caches
    rival: bool = False  # runs in the rivals' environment


@dataclass(frozen=True)
class Size:
    """How much is run, and what is simulated for the GPU."""

    fits: int
    rows: int
    design: str
    seed: int
    quick: bool = False
    gpu: Mapping[str, Any] = field(default_factory=dict)

    def some(self, fits: int) -> int:
        """Fits of a slower contender."""
        return min(self.fits, max(3, fits // 5) if self.quick else fits)


def lineup(size: Size) -> list[Contender]:
    """The contenders; the first is what the others are compared with."""
    drawn = {"count": GPU_FITS, "rows": size.rows, "design": size.design, "seed": size.seed}
    on_gpu = {"device": "gpu", "simulate": drawn, "all_first": True}
    tried = {"draws": NUTPIE_DRAWS, "min_ess": MIN_ESS}
    strict = tried | {"max_rhat": MAX_RHAT}  # as fit_many asks
    own = bayescale_caches
    return [
        Contender(MANY, "fit_many", size.fits, caches=own),
        Contender(ONE_WORKER, "fit_many", size.some(200), lambda _: {"workers": 1}, own),
        Contender(LOOP, "one_by_one", size.some(40), _as_many, own),
        Contender(LOOP_DEFAULT, "one_by_one", size.some(40), caches=own),
        Contender(LOOP_ONE_CORE, "one_by_one", size.some(40), _on_one_core, own),
        Contender(NUTPIE, "nutpie_loop", size.some(20), lambda _: tried, pytensor_caches, True),
        Contender(
            NUTPIE_RHAT, "nutpie_loop", size.some(20), lambda _: strict, pytensor_caches, True
        ),
        Contender(SIMPLE, "simple_scaling_laws", size.some(20), rival=True),
        Contender(GPU, "fit_many", 0, lambda _: on_gpu, own),
    ]


def _as_many(many: Outcome) -> dict[str, Any]:
    """fit_many's warm-up, and as many draws as it kept on average."""
    from inspect import signature

    from bayescale.many.job import fit_many

    assert many.draws is not None
    warmup = signature(fit_many).parameters["warmup"].default
    return {"draws": round(many.draws), "warmup": warmup}


def _on_one_core(many: Outcome) -> dict[str, Any]:
    """The same where a fit can't spread its chains over cores."""
    return _as_many(many) | {"one_core": True}
