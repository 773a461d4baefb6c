"""Noise: how a run's loss scatters around the law, as one frozen value.

The scatter is on log loss or on the response itself, normal or Student-t; its scale can hold a
measurement error that is known, can change with compute or loss, and checkpoints of one run can
share an offset.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from bayescale.arrays import gammaln, namespace
from bayescale.errors import LawError, nearest
from bayescale.param import Param
from bayescale.pooling import Pool, independent
from bayescale.priors import Gamma, LogNormal, Normal, Prior, prior_from_dict
from bayescale.scatter import SCALES, ScaleName

Tail = Literal["normal", "student_t"]


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
    by : str, optional
        Column for whose labels sigma (and nu) differ, such as ``target``.
    """

    tail: Tail = "student_t"
    on: ScaleName = "log"
    sigma: Prior | None = field(default_factory=lambda: LogNormal(0.01, 1.0))
    nu: Prior = field(default_factory=lambda: Gamma(2.0, 0.1))
    varies_with: str | None = None
    slope: Prior = field(default_factory=lambda: Normal(0.0, 0.3))
    known_sd: str | None = None
    runs: str | None = None
    run_sd: Prior = field(default_factory=lambda: LogNormal(0.01, 1.0))
    by: str | None = None

    def __post_init__(self) -> None:
        if self.tail not in ("normal", "student_t"):
            raise LawError(f"noise tail '{self.tail}' is unknown; expected normal or student_t.")
        if self.on not in SCALES:
            raise LawError(f"noise on '{self.on}' is unknown; expected {' or '.join(SCALES)}.")
        if self.sigma is None and self.known_sd is None:
            raise LawError("noise without sigma needs known_sd, the column of measurement errors.")
        if self.sigma is None and self.varies_with is not None:
            raise LawError(
                f"noise without sigma has nothing that varies with {self.varies_with}: known_sd "
                "says it all."
            )
        self._check_columns()
        self._check_priors()

    def _check_columns(self) -> None:
        for name in ("varies_with", "known_sd", "runs", "by"):
            column = getattr(self, name)
            if column is not None and (not isinstance(column, str) or not column):
                raise LawError(f"noise {name} is {column!r}; expected the name of a column.")

    def _check_priors(self) -> None:
        given = {"sigma": self.sigma, "nu": self.nu, "run_sd": self.run_sd}
        for name, prior in (given | {"noise_slope": self.slope}).items():
            if name == "sigma" and prior is None:
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
        if self.runs:
            listed.append(Param("run_sd", self.run_sd, "spread between runs", unit, r"\tau"))
            listed.append(Param("run_offset", Normal(0.0, 1.0), "offset of a run in run_sd"))
        return tuple(listed)

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
        found = {"run_offset": independent(self.runs)} if self.runs else {}
        return found | ({n: independent(self.by) for n in ("sigma", "nu")} if self.by else {})

    def location(self, mean: Any, values: Mapping[str, Any]) -> Any:
        """Centre of the response on the noise's scale, run offsets included."""
        centre = SCALES[self.on].forward(mean)
        return centre + values["run_sd"] * values["run_offset"] if self.runs else centre

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
        xp = namespace(mean, y)
        scale = self.scale(mean, values, columns)
        at = SCALES[self.on]
        u = at.forward(y)
        z = (u - self.location(mean, values)) / scale
        if self.tail == "normal":
            density = -0.5 * z * z - 0.5 * math.log(2 * math.pi) - xp.log(scale)
        else:
            nu = values["nu"]
            constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * xp.log(nu * math.pi)
            density = constant - (nu + 1) / 2 * xp.log1p(z * z / nu) - xp.log(scale)
        return density + at.log_slope(y, u)

    def distribution(self, mean: Any, values: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
        """The NumPyro distribution of the response."""
        from numpyro import distributions as dist

        location = self.location(mean, values)
        scale = self.scale(mean, values, columns)
        if self.tail == "normal":
            base = dist.Normal(location, scale)
        else:
            base = dist.StudentT(values["nu"], location, scale)
        back = SCALES[self.on].numpyro()
        return base if back is None else dist.TransformedDistribution(base, back)

    def draw(
        self,
        rng: np.random.Generator,
        mean: np.ndarray,
        values: Mapping[str, Any],
        columns: Mapping[str, Any],
    ) -> np.ndarray:
        """Random responses around ``mean``, one for each of its elements."""
        if self.tail == "normal":
            noise = rng.standard_normal(mean.shape)
        else:
            noise = rng.standard_t(np.broadcast_to(values["nu"], mean.shape))
        drawn = self.location(mean, values) + self.scale(mean, values, columns) * noise
        return SCALES[self.on].backward(drawn)

    def describe(self) -> str:
        """One line for tables and print-outs."""
        name = "Student-t" if self.tail == "student_t" else "normal"
        on = {"log": "log response", "logit": "log odds of the response"}.get(self.on, "response")
        parts = [f"{name} on {on}"]
        if self.known_sd:
            parts.append(f"measurement sd from '{self.known_sd}'")
        if self.varies_with:
            parts.append(f"scale changes with {self.varies_with}")
        if self.runs:
            parts.append(f"an offset for each '{self.runs}'")
        if self.by:
            parts.append(f"a scale for each '{self.by}'")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """A plain record that `noise_from_dict` reads back."""
        record = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: v.to_dict() if isinstance(v, Prior) else v for k, v in record.items()}


def noise_from_dict(record: Mapping[str, Any]) -> Noise:
    """Build a noise from `Noise.to_dict`'s record."""
    kept: dict[str, Any] = {
        k: prior_from_dict(v) if isinstance(v, dict) else v for k, v in record.items()
    }
    return Noise(**kept)


def student_t(**options: Any) -> Noise:
    """Student-t on log loss with a learnt tail: the default (see `Noise` for options)."""
    return Noise(tail="student_t", **options)


def log_normal(**options: Any) -> Noise:
    """Normal scatter of log loss (see `Noise` for options)."""
    return Noise(tail="normal", **options)


def normal(**options: Any) -> Noise:
    """Normal scatter of the response itself (see `Noise` for options)."""
    return Noise(tail="normal", on="response", **options)


def logit_normal(**options: Any) -> Noise:
    """Normal scatter of the log odds of an accuracy (see `Noise` for options)."""
    return Noise(tail="normal", on="logit", **options)


NOISES = {
    "student_t": student_t,
    "log_normal": log_normal,
    "normal": normal,
    "logit_normal": logit_normal,
}
