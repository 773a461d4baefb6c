"""Noise: how a run's loss scatters around the law, as one frozen value.

The scatter is on log loss or on the response itself, normal or Student-t; its scale can hold a
measurement error that is known, can change with compute or loss, and checkpoints of one run can
share an offset and remember their scatter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError, nearest
from bayescale.noise.memory import accumulate, innovations
from bayescale.noise.rounding import check_grid, ends, log_mass, rounded
from bayescale.noise.tails import TAILS, TailName
from bayescale.param import Param
from bayescale.pooling import Pool, independent
from bayescale.priors import Gamma, LogNormal, Normal, Prior
from bayescale.scatter import SCALES, ScaleName

CHECKPOINT = "checkpoint"  # memory counted in checkpoints, not along a column


@dataclass(frozen=True)
class Noise:
    r"""Scatter of a response around a law's mean.

    With ``on="log"``: :math:`\ln y_i = \ln \mu_i + \tau z_{r(i)} + s_i \epsilon_i`, with
    :math:`\epsilon` standard normal or Student-t with :math:`\nu` degrees of freedom, and
    :math:`s_i^2 = (\sigma e^{h u_i})^2 + m_i^2`.

    Parameters
    ----------
    tail : {"student_t", "normal"}
        Student-t learns how heavy the tail is, so that a few failed runs don't bend the fit.
    on : {"log", "logit", "response"}
        Scatter of log response (losses), of its log odds (accuracies between 0 and 1), or of the
        response itself.
    sigma : Prior or None
        Prior of the scale; None where the known measurement error is all there is.
    nu : Prior
        Prior of the degrees of freedom (Student-t only).
    varies_with : str, optional
        Column with which the scale changes, usually ``C``; or ``loss`` for the fitted mean. The
        exponent h is per e-fold of it around the centre of the data.
    slope : Prior
        Prior of h.
    known_sd : str, optional
        Column with each row's measurement standard deviation, in the unit of the response.
    runs : str, optional
        Column that names the run; rows of one run (checkpoints) share an offset.
    run_sd : Prior
        Prior of the offsets' standard deviation tau.
    along : str, optional
        Needs ``runs``: the scatter of neighbouring checkpoints of a run is correlated, by
        exp(-gap/memory), AR(1). The gap is in the logarithm of this column, usually ``D``;
        ``"checkpoint"`` counts checkpoints.
    memory : Prior, optional
        Prior of the memory m, in the gap's unit: e-folds of the column, or checkpoints.
    offset : bool
        Whether runs have offsets beside their memory. Without, sampling is several times faster;
        but a Student-t tail then lets runs lie anywhere, and a wrong law gets away with it.
    by : str, optional
        Column for whose labels sigma (and nu) differ, such as ``target``.
    grid : tuple of float, optional
        The response is only known to the nearest of these values (on the noise's scale; beyond
        the ends too), as the best batch size of those tried. The likelihood of a row is then the
        probability of its value. Normal tail only.
    """

    tail: TailName = "student_t"
    on: ScaleName = "log"
    sigma: Prior | None = field(default_factory=lambda: LogNormal(0.01, 1.0))
    nu: Prior = field(default_factory=lambda: Gamma(2.0, 0.1))
    varies_with: str | None = None
    slope: Prior = field(default_factory=lambda: Normal(0.0, 0.3))
    known_sd: str | None = None
    runs: str | None = None
    run_sd: Prior = field(default_factory=lambda: LogNormal(0.01, 1.0))
    by: str | None = None
    along: str | None = None
    memory: Prior | None = None
    offset: bool = True
    grid: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.tail not in TAILS:
            raise LawError(f"noise tail '{self.tail}' is unknown; expected {' or '.join(TAILS)}.")
        if self.on not in SCALES:
            raise LawError(f"noise on '{self.on}' is unknown; expected {' or '.join(SCALES)}.")
        if self.sigma is None and self.known_sd is None:
            raise LawError("noise without sigma needs known_sd, the column of measurement errors.")
        if self.sigma is None and self.varies_with is not None:
            what = f"nothing that varies with {self.varies_with}: known_sd says it all."
            raise LawError(f"noise without sigma has {what}")
        if self.runs is None and self.along is not None:
            raise LawError(
                f"noise along '{self.along}' needs the column that names the run: runs='run' "
                "(shell: --runs-column run)."
            )
        if not self.offset and self.along is None:
            raise LawError("noise without offsets of runs needs their memory: along='D'.")
        if self.along is None and self.memory is not None:
            raise LawError("noise has a memory only along a column: along='D'.")
        if self.grid is not None:
            object.__setattr__(self, "grid", check_grid(self))
        self._check_columns()
        self._check_priors()

    def _check_columns(self) -> None:
        for name in ("varies_with", "known_sd", "runs", "by", "along"):
            column = getattr(self, name)
            if column is not None and (not isinstance(column, str) or not column):
                raise LawError(f"noise {name} is {column!r}; expected the name of a column.")

    def _check_priors(self) -> None:
        given = {"sigma": self.sigma, "nu": self.nu, "run_sd": self.run_sd, "memory": self.memory}
        for name, prior in (given | {"noise_slope": self.slope}).items():
            if name in ("sigma", "memory") and prior is None:
                continue
            if not isinstance(prior, Prior):
                raise LawError(
                    f"noise parameter '{name}' is {prior!r}; expected a prior such as "
                    "LogNormal(0.01, 1)."
                )
            if name in given and prior.support.lower < 0:
                raise LawError(f"noise parameter '{name}' is positive; its prior {prior} is not.")

    def params(self) -> tuple[Param, ...]:
        """Parameters of this noise, with their priors."""
        unit = SCALES[self.on].unit
        listed: list[Param] = []
        if self.sigma is not None:
            listed.append(Param("sigma", self.sigma, "scale of the noise", unit, r"\sigma"))
        if self.tail == "student_t":
            listed.append(Param("nu", self.nu, "degrees of freedom of the tail", "", r"\nu"))
        if self.varies_with:
            meaning = f"change of log sigma per e-fold of {self.varies_with}"
            listed.append(Param("noise_slope", self.slope, meaning, "", "h"))
        if self.offsets:
            listed.append(Param("run_sd", self.run_sd, "spread between runs", unit, r"\tau"))
            listed.append(Param("run_offset", Normal(0.0, 1.0), "offset of a run in run_sd"))
        if self.along:
            unit = "checkpoints" if self.along == CHECKPOINT else f"e-folds of {self.along}"
            meaning = "distance over which a run's scatter is alike (correlation 1/e)"
            listed.append(Param("memory", self.memory or self._memory(), meaning, unit, "m"))
        return tuple(listed)

    @property
    def offsets(self) -> bool:
        """Whether each run has an offset of its own."""
        return self.runs is not None and self.offset

    def _memory(self) -> Prior:
        """Memory is anything between neighbours and far longer than a run, which is an offset."""
        return LogNormal(30.0 if self.along == CHECKPOINT else 3.0, 2.0)

    def with_priors(self, priors: Mapping[str, Prior]) -> "Noise":
        """The noise with the priors of some of its parameters replaced.

        Raises
        ------
        LawError
            A parameter that this noise doesn't have, or a prior outside its support.
        """
        known = {p.name: p.name for p in self.params() if p.name != "run_offset"}
        if "noise_slope" in known:
            known["noise_slope"] = "slope"
        for name in priors:
            if name not in known:
                raise LawError(
                    f"this noise ({self.describe()}) has no parameter '{name}'; it has "
                    f"{', '.join(known)}." + nearest(name, list(known))
                )
        return replace(self, **{known[name]: prior for name, prior in priors.items()})

    def pools(self) -> dict[str, Pool]:
        """Grouping of the noise's own parameters: one offset a run, one sigma a label."""
        found = {"run_offset": independent(str(self.runs))} if self.offsets else {}
        return found | ({n: independent(self.by) for n in ("sigma", "nu")} if self.by else {})

    def location(self, mean: Any, values: Mapping[str, Any]) -> Any:
        """Centre of the response on the noise's scale, run offsets included."""
        centre = SCALES[self.on].forward(mean)
        return centre + values["run_sd"] * values["run_offset"] if self.offsets else centre

    def scale(self, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
        """Scale of the noise a row, in the unit of the noise's scale."""
        xp = namespace(mean)
        known = columns.get("known_sd")
        if known is not None:
            known = known * SCALES[self.on].slope(mean)  # first order: sd of ln y is sd of y over y
        if self.sigma is None:
            return known
        scale = values["sigma"]
        if self.varies_with == "loss":
            scale = scale * xp.exp(values["noise_slope"] * (xp.log(mean) - columns["centre"]))
        elif self.varies_with:
            scale = scale * xp.exp(values["noise_slope"] * columns["noise_x"])
        return scale if known is None else xp.sqrt(scale**2 + known**2)

    def log_density(
        self, y: Any, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> Any:
        """Log density of each response, in the unit of the response (nats).

        Parameters
        ----------
        y, mean : array, shape (..., row)
            Response and the law's mean.
        values : mapping
            Noise parameters, broadcastable to rows.
        columns : mapping
            Row-wise columns that the noise reads.

        Returns
        -------
        array, shape (..., row)
        """
        at = SCALES[self.on]
        u = at.forward(y)
        if self.grid:
            return log_mass(*ends(self, u, mean, values, columns))
        z, scale = self.standardised(u, mean, values, columns)
        log_scale = namespace(scale).log(scale)
        return TAILS[self.tail].log_density(z, values) - log_scale + at.log_slope(y, u)

    def standardised(
        self, u: Any, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Standardised residuals, each given its run's previous one, and their scale.

        Parameters
        ----------
        u : array, shape (..., row)
            Response on the noise's scale (its logarithm with ``on="log"``).
        mean, values, columns
            As for `log_density`; without ``previous`` in ``columns`` rows have no memory.

        Returns
        -------
        z, scale : array, shape (..., row)
            z has the noise's tail and scale one.
        """
        scale = self.scale(mean, values, columns)
        z = (u - self.location(mean, values)) / scale
        if self.along is None or "previous" not in columns:
            return z, scale
        z, rest = innovations(z, columns, values["memory"])
        return z, scale * rest

    def distribution(self, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
        """The NumPyro distribution of the response of rows without memory."""
        from numpyro import distributions as dist

        if self.grid:
            from bayescale.noise.rounded import Rounded

            return Rounded(self, mean, values, columns)
        location = self.location(mean, values)
        base = TAILS[self.tail].numpyro(location, self.scale(mean, values, columns), values)
        back = SCALES[self.on].numpyro()
        return base if back is None else dist.TransformedDistribution(base, back)

    def draw(
        self,
        rng: np.random.Generator,
        mean: np.ndarray,
        values: Mapping[str, Any],
        columns: Mapping[str, Any],
    ) -> np.ndarray:
        """Random responses around ``mean``, one for each of its elements.

        With memory, rows that ``columns`` chains are drawn one after another along each run.
        """
        noise = TAILS[self.tail].draw(rng, mean.shape, values)
        if self.along is not None and "previous" in columns:
            noise = accumulate(noise, columns, values["memory"])
        drawn = self.location(mean, values) + self.scale(mean, values, columns) * noise
        if self.grid:
            return rounded(drawn, self.grid, SCALES[self.on])
        return SCALES[self.on].backward(drawn)

    def describe(self) -> str:
        """One line for tables and print-outs."""
        from bayescale.noise.words import describe

        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        """A plain record that `noise_from_dict` reads back."""
        record = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: v.to_dict() if isinstance(v, Prior) else v for k, v in record.items()}
