r"""Drift: how far the truth may wander from the law, the further the larger the reach.

No law is exact, and its error grows with the distance from the runs that it was fitted to. On the
noise's scale (log loss),

.. math:: \ln L = \ln \mu(N, D) + \delta(u) + \epsilon, \qquad
          \delta(u) = s \int_0^u (u - t)\,dW(t),

with u the logarithm of compute about its mean over the runs: an integrated Brownian motion, which
is smooth, vanishes with its slope at the centre, and has the SD :math:`s |u|^{3/2} / \sqrt 3`. W
moves at knots, so :math:`\delta` is a sum of hinges whose weights are standard normal; knots
beyond the runs keep their prior, which is what widens an extrapolation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.law import Law
from bayescale.param import Param
from bayescale.pooling import Pool, independent
from bayescale.prior_reading import prior_from_dict
from bayescale.priors import LogNormal, Normal, Prior

KNOT = "knot"  # named axis of the weights
SCALE, STEP = "drift_scale", "drift_step"  # its sites
COMPUTE = "compute"
BEYOND = 0.5  # spacing of the knots beyond the runs, e-folds
FURTHEST = 20.0  # e-folds beyond the runs up to which the drift goes on bending


@dataclass(frozen=True)
class Drift:
    """A slow departure from the law, beside its noise.

    Parameters
    ----------
    along : str
        Along which the departure grows: ``compute`` (C, or N times all tokens, or the one of N
        and D that the law reads), or an input's name.
    scale : Prior
        Prior of s, in log loss per e-fold to the 3/2.
    by : str, optional
        Column each of whose labels drifts by itself, all with one scale.
        Default: that of the law's noise, such as ``target``.
    knots : int
        Hinges over the runs' range; even.
    size : float
        Spread of ln N_opt per e-fold of compute beyond the runs. A drift along compute is the
        same for all splits of a budget, so the optimal split needs an error of its own. On 28
        IsoFLOP slices of larger runs than were fitted (``python -m
        benchmarks.extrapolation.slices``) 90% intervals of N_opt held .50 of the minima without
        it, .86 with 0.05, .93 with 0.08, all with 0.12.
    shares : float
        The same of the log ratio of any two optimal shares of a mixture. Less is known of it: on
        the one public set that tells (``python -m benchmarks.answers.best_shares``), they missed
        by 0.20 and 0.24 at 1.0 and 1.7 e-folds, which the fits' own uncertainty could explain.
    """

    along: str = COMPUTE
    scale: Prior = field(default_factory=lambda: LogNormal(0.004, 0.5))
    by: str | None = None
    knots: int = 24
    size: float = 0.08
    shares: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Prior) or self.scale.support.lower < 0:
            raise LawError(
                f"the drift's scale is {self.scale!r}; expected a positive prior such as "
                "LogNormal(0.004, 0.5)."
            )
        if not isinstance(self.knots, int) or self.knots < 2 or self.knots % 2:
            raise LawError(f"drift knots = {self.knots!r}; expected an even number from 2.")
        for name in ("size", "shares"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise LawError(f"drift {name} = {value!r}; expected a number of at least 0.")

    def params(self) -> tuple[Param, ...]:
        """Its scale, and the weights of its hinges."""
        unit = "log loss per e-fold^1.5"
        return (
            Param(SCALE, self.scale, f"how fast the law may fail {self.words}", unit, "s"),
            Param(STEP, Normal(0.0, 1.0), "weight of a hinge of the drift", dims=(KNOT,)),
        )

    def pools(self) -> dict[str, Pool]:
        """Grouping of its parameters."""
        if self.by is None:
            return {}
        return {STEP: independent(self.by)}

    @property
    def words(self) -> str:
        """Along what, in words."""
        return f"along {self.along}"

    def place(self, law: Law, inputs: Mapping[str, Any]) -> Any:
        """Where rows lie along the drift: a logarithm, shape (..., row).

        Parameters
        ----------
        law : Law
        inputs : mapping
            As the law's mean gets them.

        Raises
        ------
        LawError
            The law doesn't read what the drift is along.
        """
        numbers = [i for i in law.inputs if i.kind == "number" and i.name in "NDC"]
        amounts = {i.name: inputs[i.name] for i in numbers}
        amounts = {i.name: amounts[i.name].sum(-1) if i.dims else amounts[i.name] for i in numbers}
        if self.along != COMPUTE:
            if self.along not in amounts:
                raise LawError(
                    f"the drift is along {self.along}, which law '{law.name}' doesn't read; it "
                    f"reads {', '.join(amounts) or 'none of N, D and C'}."
                )
            return namespace(amounts[self.along]).log(amounts[self.along])
        if not amounts:
            raise LawError(
                f"law '{law.name}' reads none of N, D and C, along which it could drift; fit it "
                "without drift."
            )
        wanted = ["C"] if "C" in amounts else list(amounts)
        logs = [namespace(amounts[n]).log(amounts[n]) for n in wanted]
        return logs[0] if len(logs) == 1 else logs[0] + logs[1]

    def grid(self, places: np.ndarray) -> "Grid":
        """Knots for runs at these places."""
        centre = float(places.mean())
        reach = float(np.abs(places - centre).max())
        return Grid(centre, max(reach, 1.0) / (self.knots // 2), self.knots // 2)

    def describe(self) -> str:
        """One line for tables and print-outs."""
        each = f", each {self.by} by itself" if self.by else ""
        return f"integrated Brownian motion {self.words}{each}, scale {self.scale}"

    def to_dict(self) -> dict[str, Any]:
        """A plain record that `drift_from_dict` reads back."""
        return {**vars(self), "scale": self.scale.to_dict()}


@dataclass(frozen=True)
class Grid:
    """Where the hinges of a drift lie.

    Parameters
    ----------
    centre : float
        Where the drift and its slope are zero.
    step : float
        Spacing of knots over the runs, e-folds.
    half : int
        Knots on either side of the centre.
    """

    centre: float
    step: float
    half: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the knots over the runs: above the centre, then below it."""
        return tuple(f"{side}{k + 1}" for side in ("up", "down") for k in range(self.half))

    @cached_property
    def near(self) -> np.ndarray:
        """Distances of the knots over the runs from the centre, on one side."""
        return (np.arange(self.half) + 0.5) * self.step

    @cached_property
    def far(self) -> np.ndarray:
        """Distances of the knots beyond them."""
        return self.half * self.step + np.arange(BEYOND / 2, FURTHEST, BEYOND)

    def hinges(self, places: Any, beyond: bool = False) -> Any:
        """Each hinge at each place, shape (..., row, knot).

        Parameters
        ----------
        places : array, shape (..., row)
        beyond : bool
            Whether the knots beyond the runs are there too, behind the others.
        """
        xp = namespace(places)
        u = (places - self.centre)[..., None]
        knots = [(self.near, self.step)] + ([(self.far, BEYOND)] if beyond else [])
        parts = [
            np.sqrt(step) * xp.maximum(side * u - at, 0.0) for at, step in knots for side in (1, -1)
        ]
        return xp.concatenate(parts, -1)

    def beyond(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Random weights of the knots beyond the runs, shape (..., knot)."""
        return rng.standard_normal((*shape, 2 * len(self.far)))


@dataclass(frozen=True)
class Path:
    """Drifts of posterior draws as lines between knots, evaluated anywhere.

    Parameters
    ----------
    knots : array, shape (knot,)
        Places of all knots, ascending.
    values, slopes : array, shape (draw, knot), (draw, knot + 1)
        Of the drift at each knot, and before the first, between neighbours, behind the last.
    """

    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, grid: Grid, scale: np.ndarray, steps: np.ndarray) -> "Path":
        """Paths of weights (draw, knot), of the knots over the runs and beyond."""
        away = np.concatenate([grid.near, grid.far])
        knots = grid.centre + np.concatenate([-away[::-1], away])
        values = np.einsum("kj,dj->dk", grid.hinges(knots, beyond=True), steps) * scale[:, None]
        between = np.diff(values, axis=1) / np.diff(knots)
        ends = [  # one step further on either side
            (grid.hinges(np.array([x]), beyond=True)[0] @ steps.T) * scale
            for x in (knots[0] - 1, knots[-1] + 1)
        ]
        first, last = values[:, 0] - ends[0], ends[1] - values[:, -1]
        return cls(knots, values, np.column_stack([first, between, last]))

    @classmethod
    def level(cls, values: np.ndarray) -> "Path":
        """Paths that stay where they are, of values of shape (draw,)."""
        return cls(np.zeros(1), values[:, None], np.zeros((len(values), 2)))

    def take(self, draws: np.ndarray) -> "Path":
        """The paths of some draws."""
        return Path(self.knots, self.values[draws], self.slopes[draws])

    def at(self, draw: Any, places: np.ndarray) -> np.ndarray:
        """The drift of given draws at given places, broadcast together."""
        segment = np.searchsorted(self.knots, places)
        left = np.maximum(segment - 1, 0)
        return self.values[draw, left] + self.slopes[draw, segment] * (places - self.knots[left])


def follow(knots: Any, values: Any, slopes: Any, place: Any) -> Any:
    """Paths of one draw, shape (..., knot), at one place, as `Path.at`; for NumPy and JAX."""
    xp = namespace(place)
    segment = xp.searchsorted(knots, place)
    left = xp.maximum(segment - 1, 0)
    return values[..., left] + slopes[..., segment] * (place - knots[left])


def parse_drift(text: str | None) -> Drift | bool | None:
    """What the shell says of drift: ``none``, ``compute``, or an input's name.

    Raises
    ------
    LawError
        It is none of these.
    """
    if text is None:
        return None
    if text == "none":
        return False
    if text not in (COMPUTE, "N", "D", "C"):
        raise LawError(f"drift '{text}' is unknown; expected none, compute, N, D or C.")
    return Drift(along=text)


def drift_from_dict(record: Mapping[str, Any] | None) -> Drift | None:
    """Build a drift from `Drift.to_dict`'s record."""
    return (
        None if record is None else Drift(**{**record, "scale": prior_from_dict(record["scale"])})
    )
