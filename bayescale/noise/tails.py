"""Standardised noise: its density, distribution function and random draws, with either tail."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from bayescale.arrays import gammaln, namespace

TailName = Literal["normal", "student_t"]
STUDENT_CONSTANT = "nu_constant"
Values = Mapping[str, Any]  # parameters of the noise, broadcastable to rows


class Tail(ABC):
    """A distribution of scale one around zero."""

    @abstractmethod
    def log_density(self, z: Any, values: Values) -> Any:
        """Log density at z, nats."""

    @abstractmethod
    def probability(self, z: np.ndarray, values: Values) -> np.ndarray:
        """Distribution function at z."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], values: Values) -> np.ndarray:
        """Random numbers."""

    @abstractmethod
    def numpyro(self, location: Any, scale: Any, values: Values) -> Any:
        """The NumPyro distribution, moved and scaled."""


class _Normal(Tail):
    def log_density(self, z: Any, values: Values) -> Any:
        return -0.5 * z * z - 0.5 * math.log(2 * math.pi)

    def probability(self, z: np.ndarray, values: Values) -> np.ndarray:
        from scipy.special import ndtr

        return ndtr(z)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], values: Values) -> np.ndarray:
        return rng.standard_normal(shape)

    def numpyro(self, location: Any, scale: Any, values: Values) -> Any:
        from numpyro import distributions as dist

        return dist.Normal(location, scale)


def student_constant(nu: Any) -> Any:
    """Log density of a standard Student-t at 0."""
    return gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * namespace(nu).log(nu * math.pi)


class _StudentT(Tail):
    def log_density(self, z: Any, values: Values) -> Any:
        nu = values["nu"]
        constant = values.get(STUDENT_CONSTANT)  # of each label, where it was worked out there
        constant = student_constant(nu) if constant is None else constant
        return constant - (nu + 1) / 2 * namespace(z, nu).log1p(z * z / nu)

    def probability(self, z: np.ndarray, values: Values) -> np.ndarray:
        from scipy.special import stdtr

        return stdtr(np.asarray(values["nu"]), z)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], values: Values) -> np.ndarray:
        return rng.standard_t(np.broadcast_to(values["nu"], shape))

    def numpyro(self, location: Any, scale: Any, values: Values) -> Any:
        from numpyro import distributions as dist

        return dist.StudentT(values["nu"], location, scale)


TAILS: dict[str, Tail] = {"normal": _Normal(), "student_t": _StudentT()}
