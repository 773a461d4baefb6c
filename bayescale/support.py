"""Where a parameter may lie, and the bijection from the real line onto it."""

import math
from dataclasses import dataclass
from typing import Any

from bayescale.arrays import namespace, softplus


@dataclass(frozen=True)
class Support:
    """An open interval, and the bijection from the real line onto it.

    ``exp`` for a half line, a scaled logistic function for a finite interval (the same
    bijections as ``numpyro.distributions.biject_to``).

    Parameters
    ----------
    lower, upper : float
        Ends of the interval; infinite where there is none.
    """

    lower: float = -math.inf
    upper: float = math.inf

    def constrain(self, u: Any) -> Any:
        """Map the real line onto the support."""
        xp = namespace(u)
        if math.isinf(self.lower):
            return u
        if math.isinf(self.upper):
            return self.lower + xp.exp(u)
        return self.lower + (self.upper - self.lower) * xp.exp(-softplus(-u))

    def unconstrain(self, x: Any) -> Any:
        """Inverse of `constrain`."""
        xp = namespace(x)
        if math.isinf(self.lower):
            return x
        if math.isinf(self.upper):
            return xp.log(x - self.lower)
        return xp.log((x - self.lower) / (self.upper - x))

    def log_jacobian(self, u: Any) -> Any:
        """Log of the derivative of `constrain` at ``u``."""
        if math.isinf(self.lower):
            return 0.0 * u
        if math.isinf(self.upper):
            return u
        return math.log(self.upper - self.lower) - softplus(u) - softplus(-u)

    def contains(self, other: "Support") -> bool:
        """Whether every point of ``other`` lies in this support."""
        return self.lower <= other.lower and other.upper <= self.upper

    def __str__(self) -> str:
        if math.isinf(self.lower):
            return "real"
        if math.isinf(self.upper):
            return "positive" if self.lower == 0 else f"above {self.lower:g}"
        return f"between {self.lower:g} and {self.upper:g}"


REAL = Support()
POSITIVE = Support(0.0)
UNIT = Support(0.0, 1.0)
