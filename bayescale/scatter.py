"""Scales on which a response scatters: its logarithm, its log odds, or itself."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayescale.arrays import namespace

ScaleName = Literal["log", "logit", "response"]
LARGEST = 85.0  # of a drawn log response: a Student-t draw with nu near 1 can pass any number
NEAREST = 36.0  # of drawn log odds: double precision tells e^-36 from 0 beside 1


@dataclass(frozen=True)
class Scale(ABC):
    """A monotone map from the response to the scale on which the noise is added.

    Parameters
    ----------
    unit : str
        What the noise's scale is measured in.
    lower, upper : float
        Open range of the response.
    """

    unit: str
    lower: float
    upper: float

    @abstractmethod
    def forward(self, y: Any) -> Any:
        """The response on this scale."""

    @abstractmethod
    def slope(self, y: Any) -> Any:
        """Derivative of `forward`, positive."""

    @abstractmethod
    def log_slope(self, y: Any, u: Any) -> Any:
        """Log of `slope` at y, where u is `forward` of y."""

    @abstractmethod
    def backward(self, u: np.ndarray) -> np.ndarray:
        """The response of drawn values on this scale, inside its range."""

    @abstractmethod
    def moved(self, y: Any, by: Any) -> Any:
        """The response that lies further by so much on this scale."""

    @abstractmethod
    def numpyro(self) -> Any:
        """The backward map as a NumPyro transform; None where it is the identity."""


class _Log(Scale):
    def forward(self, y: Any) -> Any:
        return namespace(y).log(y)

    def slope(self, y: Any) -> Any:
        return 1 / y

    def log_slope(self, y: Any, u: Any) -> Any:
        return -u

    def backward(self, u: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(u, -LARGEST, LARGEST))

    def moved(self, y: Any, by: Any) -> Any:
        return y * namespace(by).exp(by)

    def numpyro(self) -> Any:
        from numpyro import distributions as dist

        return dist.transforms.ExpTransform()


class _Logit(Scale):
    def forward(self, y: Any) -> Any:
        xp = namespace(y)
        return xp.log(y) - xp.log1p(-y)

    def slope(self, y: Any) -> Any:
        return 1 / (y * (1 - y))

    def log_slope(self, y: Any, u: Any) -> Any:
        return -u - 2 * namespace(y).log1p(-y)  # u = ln y - ln(1 - y)

    def backward(self, u: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-np.clip(u, -NEAREST, NEAREST)))

    def moved(self, y: Any, by: Any) -> Any:
        xp = namespace(y, by)
        return y / (y + (1 - y) * xp.exp(-by))

    def numpyro(self) -> Any:
        from numpyro import distributions as dist

        return dist.transforms.SigmoidTransform()


class _Identity(Scale):
    def forward(self, y: Any) -> Any:
        return y

    def slope(self, y: Any) -> Any:
        return 1.0

    def log_slope(self, y: Any, u: Any) -> Any:
        return 0.0

    def backward(self, u: np.ndarray) -> np.ndarray:
        return u

    def moved(self, y: Any, by: Any) -> Any:
        return y + by

    def numpyro(self) -> Any:
        return None


SCALES: dict[str, Scale] = {
    "log": _Log("log loss", 0.0, float("inf")),
    "logit": _Logit("log odds", 0.0, 1.0),
    "response": _Identity("response", float("-inf"), float("inf")),
}
