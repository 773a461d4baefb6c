"""The capability law's mean: a plain value that knows the backbones and what was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.laws.backbones import Backbones

GAIN = r"\ln{\left(\frac{D}{D_{0}} \right)}"


@dataclass(frozen=True)
class Mean:
    """P = P0 + A S + B_bar (1 - phi (S - mean)/(max - mean)) ln(D/D0), S = w.s."""

    backbones: Backbones
    link: str
    absorption: str
    effects: tuple[str, ...]
    centre: float

    def __call__(self, v: Mapping[str, Any]) -> Any:
        """Expected accuracy from parameters and inputs by name, shape (..., row)."""
        w = self.backbones.direction(v.get("tilt"))
        capability = (v["S"] * w).sum(-1)
        xp = namespace(v["A"], capability)
        total = v["P0"] + v["A"] * capability
        if self.absorption != "none":
            total = total + self.rate(v, w, capability) * xp.log(v["D"] / self.centre)
        for name in self.effects:
            total = total + v[f"effect_{name}"] * v[name]
        return total if self.link == "identity" else 1 / (1 + xp.exp(-total))

    def rate(self, v: Mapping[str, Any], w: Any, capability: Any) -> Any:
        """Absorption of backbones: B_hat, gain per e-fold of data."""
        if self.absorption == "constant":
            return v["B_bar"] + 0 * capability
        mean, reach = self.backbones.spread(w, v.get("family"))
        return v["B_bar"] * (1 - v["phi"] * (capability - mean) / reach)

    @property
    def unit(self) -> str:
        """Unit of P0 and the terms beside it."""
        return "accuracy" if self.link == "identity" else "log odds"

    @property
    def falls(self) -> bool:
        """Whether absorption depends on capability."""
        return self.absorption in ("falling", "free")

    def equation(self) -> str:
        """The equation in LaTeX, as it stands with these choices."""
        terms = [r"P_{0} + A S"]
        if self.falls:
            share = r"\frac{S - S_{mean}}{S_{max} - S_{mean}}"
            terms.append(rf"B_{{mean}} \left(1 - \phi {share}\right) {GAIN}")
        elif self.absorption == "constant":
            terms.append(rf"B_{{mean}} {GAIN}")
        terms += [rf"\delta_{{{name}}} {name}" for name in self.effects]
        odds = " + ".join(terms)
        return f"P = {odds}" if self.link == "identity" else rf"P = \sigma\left({odds}\right)"

    def design(self) -> dict[str, Any]:
        """A plain design to simulate on: checkpoints of each backbone around D0."""
        columns = self.backbones.design(self.centre)
        count = len(columns["model"])
        return columns | {name: np.arange(count) // 5 % 2.0 for name in self.effects}
