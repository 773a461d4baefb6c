"""Priors as frozen values: a family, its numbers, its support.

A prior knows how NumPyro and SciPy call its family; what the sampler and a saved fit need of it
(density, draws, median) is written here, for NumPy and JAX alike, and tested against both.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.support import POSITIVE, REAL, UNIT, Support

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Prior:
    """Base of the priors; use one of the final classes below."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float | np.integer | np.floating)
            if not number or isinstance(value, bool) or not math.isfinite(value):
                raise LawError(
                    f"prior {type(self).__name__}: {field.name} is {value!r}, "
                    "a finite number was expected."
                )
            if field.name in self._positive and value <= 0:
                raise LawError(
                    f"prior {type(self).__name__}: {field.name} is {value:g}, "
                    "a positive number was expected."
                )
            object.__setattr__(self, field.name, float(value))

    _positive: ClassVar[tuple[str, ...]] = ()

    @property
    def support(self) -> Support:
        """Where the prior has density."""
        raise TypeError("Prior is abstract: use Normal, LogNormal, HalfNormal, …")

    def log_density(self, x: Any) -> Any:
        """Log density at points of the support, for NumPy and JAX arrays.

        Written out here, and tested against SciPy and NumPyro, since the sampler, and a fit
        that is saved, would otherwise spend a quarter of a second importing either.
        """
        raise TypeError("Prior is abstract: use Normal, LogNormal, HalfNormal, …")

    def numpyro(self) -> Any:
        """The NumPyro distribution of this prior."""
        raise TypeError("Prior is abstract: use Normal, LogNormal, HalfNormal, …")

    def scipy(self) -> Any:
        """The frozen SciPy distribution of this prior."""
        raise TypeError("Prior is abstract: use Normal, LogNormal, HalfNormal, …")

    def middle(self) -> float:
        """Median of the prior."""
        return float(self.scipy().median())

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Random draws of the given shape."""
        return np.asarray(self.scipy().rvs(size=shape, random_state=rng), dtype=float)

    def to_dict(self) -> dict[str, Any]:
        """A plain record that `prior_from_dict` reads back."""
        return {"family": type(self).__name__} | {
            f.name: getattr(self, f.name) for f in fields(self)
        }

    def __str__(self) -> str:
        numbers = ", ".join(f"{getattr(self, f.name):g}" for f in fields(self))
        return f"{type(self).__name__}({numbers})"


@dataclass(frozen=True)
class Normal(Prior):
    """Normal with mean ``loc`` and standard deviation ``scale``."""

    loc: float = 0.0
    scale: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def support(self) -> Support:  # noqa: D102
        return REAL

    def log_density(self, x: Any) -> Any:  # noqa: D102
        return -0.5 * ((x - self.loc) / self.scale) ** 2 - math.log(self.scale) - _HALF_LOG_2PI

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.Normal(self.loc, self.scale)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.norm(self.loc, self.scale)

    def middle(self) -> float:  # noqa: D102
        return self.loc

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:  # noqa: D102
        return np.asarray(rng.normal(self.loc, self.scale, shape))


@dataclass(frozen=True)
class LogNormal(Prior):
    """Log-normal: ``ln x ~ Normal(ln median, sigma)``; 95% within a factor ``exp(2 sigma)``."""

    median: float = 1.0
    sigma: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("median", "sigma")

    @property
    def support(self) -> Support:  # noqa: D102
        return POSITIVE

    def log_density(self, x: Any) -> Any:  # noqa: D102
        log_x = namespace(x).log(x)
        z = (log_x - math.log(self.median)) / self.sigma
        return -0.5 * z**2 - math.log(self.sigma) - _HALF_LOG_2PI - log_x

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.LogNormal(math.log(self.median), self.sigma)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.lognorm(self.sigma, scale=self.median)

    def middle(self) -> float:  # noqa: D102
        return self.median

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:  # noqa: D102
        return np.asarray(rng.lognormal(math.log(self.median), self.sigma, shape))


@dataclass(frozen=True)
class HalfNormal(Prior):
    """Normal with standard deviation ``scale``, folded to the positive half line."""

    scale: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def support(self) -> Support:  # noqa: D102
        return POSITIVE

    def log_density(self, x: Any) -> Any:  # noqa: D102
        return -0.5 * (x / self.scale) ** 2 - math.log(self.scale) - _HALF_LOG_2PI + math.log(2.0)

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.HalfNormal(self.scale)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.halfnorm(scale=self.scale)

    def middle(self) -> float:  # noqa: D102
        return 0.6744897501960817 * self.scale

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:  # noqa: D102
        return np.abs(rng.normal(0.0, self.scale, shape))


@dataclass(frozen=True)
class HalfCauchy(Prior):
    """Cauchy with median ``scale``, folded to the positive half line."""

    scale: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def support(self) -> Support:  # noqa: D102
        return POSITIVE

    def log_density(self, x: Any) -> Any:  # noqa: D102
        return math.log(2 / math.pi / self.scale) - namespace(x).log1p((x / self.scale) ** 2)

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.HalfCauchy(self.scale)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.halfcauchy(scale=self.scale)

    def middle(self) -> float:  # noqa: D102
        return self.scale


@dataclass(frozen=True)
class Gamma(Prior):
    """Gamma with shape ``concentration`` and inverse scale ``rate``."""

    concentration: float = 2.0
    rate: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    @property
    def support(self) -> Support:  # noqa: D102
        return POSITIVE

    def log_density(self, x: Any) -> Any:  # noqa: D102
        k, rate = self.concentration, self.rate
        constant = k * math.log(rate) - math.lgamma(k)
        return constant + (k - 1) * namespace(x).log(x) - rate * x

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.Gamma(self.concentration, self.rate)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.gamma(self.concentration, scale=1 / self.rate)

    def middle(self) -> float:  # noqa: D102
        from scipy import special

        return float(special.gammaincinv(self.concentration, 0.5)) / self.rate

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:  # noqa: D102
        return np.asarray(rng.gamma(self.concentration, 1 / self.rate, shape))


@dataclass(frozen=True)
class Beta(Prior):
    """Beta on the unit interval with ``a`` and ``b``."""

    a: float = 1.0
    b: float = 1.0
    _positive: ClassVar[tuple[str, ...]] = ("a", "b")

    @property
    def support(self) -> Support:  # noqa: D102
        return UNIT

    def log_density(self, x: Any) -> Any:  # noqa: D102
        xp = namespace(x)
        constant = math.lgamma(self.a + self.b) - math.lgamma(self.a) - math.lgamma(self.b)
        return constant + (self.a - 1) * xp.log(x) + (self.b - 1) * xp.log1p(-x)

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.Beta(self.a, self.b)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.beta(self.a, self.b)


@dataclass(frozen=True)
class Uniform(Prior):
    """Uniform between ``low`` and ``high``."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise LawError(f"prior Uniform: low {self.low:g} must be below high {self.high:g}.")

    @property
    def support(self) -> Support:  # noqa: D102
        return Support(self.low, self.high)

    def log_density(self, x: Any) -> Any:  # noqa: D102
        return 0.0 * x - math.log(self.high - self.low)

    def numpyro(self) -> Any:  # noqa: D102
        from numpyro import distributions as dist

        return dist.Uniform(self.low, self.high)

    def scipy(self) -> Any:  # noqa: D102
        from scipy import stats

        return stats.uniform(self.low, self.high - self.low)
