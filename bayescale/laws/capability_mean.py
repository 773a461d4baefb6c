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
        left = "P" if self.link == "identity" else r"\ln{\left(\frac{P}{1 - P} \right)}"
        return f"{left} = {' + '.join(terms)}"

    def design(self) -> dict[str, Any]:
        """A plain design to simulate on: five checkpoints of each backbone, D0/2 to 2 D0."""
        steps = np.geomspace(0.5, 2.0, 5) * self.centre
        models, tokens = np.repeat(np.arange(len(self.backbones.names)), 5), np.tile(steps, 1)
        columns: dict[str, Any] = {
            "model": [self.backbones.names[m] for m in models],
            "D": np.tile(tokens, len(self.backbones.names)),
        }
        for k, label in enumerate(self.backbones.components):
            columns[f"S_{label}"] = self.backbones.array[models, k]
        if self.backbones.families:
            columns["family"] = [self.backbones.families[m] for m in models]
        return columns | {name: (models % 2).astype(float) for name in self.effects}
