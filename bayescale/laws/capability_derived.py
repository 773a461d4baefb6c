"""Quantities that a capability law gives beside its parameters."""

import math
from typing import Any

from bayescale.law import Derived
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability_mean import Mean
from bayescale.signature import taking
from bayescale.tables import quantity


def direction_quantities(backbones: Backbones) -> tuple[Derived, ...]:
    """w, and with known benchmarks their transfer coefficients lambda = w . loadings."""
    if backbones.count == 1:
        return ()

    def weights(tilt: Any) -> Any:
        return backbones.direction(tilt)

    found = [Derived("w", weights, "direction of capability", "", "w", ("component",))]
    if backbones.scores:
        loadings = backbones.scores.loading_array

        def transfer(tilt: Any) -> Any:
            return backbones.direction(tilt) @ loadings

        meaning = "transfer coefficient of a benchmark; the squares sum to 1"
        found.append(Derived("lambda", transfer, meaning, "", r"\lambda", ("benchmark",)))
    return tuple(found)


def derived_quantities(mean: Mean, reference: float) -> tuple[Derived, ...]:
    """What a fit reports: w, lambda, Bm, B0, A at a reference, B_hat of each backbone.

    With families Bm, B0 and A are of a family, whose mean and reach of capability are its own.
    """
    found = list(direction_quantities(mean.backbones))
    if not mean.falls:
        return tuple(found)
    known, by = mean.backbones, "family" if mean.backbones.families else ""
    tilted = ("tilt",) if known.count > 1 else ()
    asked = ("A", "B_bar", "phi", *tilted, *([by] if by else []))

    def spread(v: Any) -> tuple[Any, Any]:
        return known.spread(known.direction(v.get("tilt")), v.get("family"))

    def decay(v: Any) -> Any:
        return v["B_bar"] * v["phi"] / spread(v)[1]

    def base(v: Any) -> Any:
        return v["B_bar"] + decay(v) * spread(v)[0]

    def transfer(v: Any) -> Any:
        return v["A"] - decay(v) * math.log(reference / mean.centre)

    def rates(v: Any) -> Any:
        w = known.direction(v.get("tilt"))
        each = {name: value[..., None] for name, value in v.items() if name != "tilt"}
        return mean.rate(each, w[..., None, :], w @ known.array.T)

    at = f"transfer at D = {quantity(reference)} tokens"
    falling = "decay of absorption with S"
    found += [
        Derived("A_ref", taking(asked, transfer), at, mean.unit, r"\hat{A}", by=by),
        Derived("B0", taking(asked, base), "absorption at S = 0", mean.unit, "B_{0}", by=by),
        Derived("Bm", taking(asked, decay), falling, mean.unit, "B_{m}", by=by),
    ]
    if by:
        return tuple(found)  # B_hat of a backbone: see `bayescale.answers.backbones`
    return (
        *found,
        Derived(
            "B_hat",
            taking(asked, rates),
            "absorption of a backbone, gain per e-fold of D",
            mean.unit,
            r"\hat{B}",
            ("backbone",),
        ),
    )
