"""The true frontier of the simulated text/multimodal grid, from Chinchilla's formula alone."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from bayescale.data.designs.text_multimodal import (
    CENTRE,
    OBJECTIVES,
    RATIOS,
    chinchilla_at,
    design,
    truth,
)
from bayescale.data.designs.truth import Known, Truth
from bayescale.data.simulate import simulate
from bayescale.noise import log_normal

MIXES = (0.1, 0.2, 0.3)
TEXT_A = {0.0: 0.697, 0.1: 0.684, 0.2: 0.667, 0.3: 0.663}  # arXiv:2607.22043, IsoFLOP, by ratio
Laws = Callable[[float], Mapping[str, Mapping[str, float]]]


def invariant(r: float) -> dict[str, dict[str, float]]:
    """Chinchilla's parameters of both objectives at a ratio, text's the same at all."""
    return _laws(r, truth()["a[text]"])


def by_ratio(r: float) -> dict[str, dict[str, float]]:
    """The same with text's published a at each ratio."""
    return _laws(r, _between(r, [TEXT_A[x] for x in MIXES]))


def _laws(r: float, a_text: float) -> dict[str, dict[str, float]]:
    a = _between(r, [truth()[f"a[multimodal,{x:g}]"] for x in MIXES])
    known = _changed({"a[text]": a_text, f"a[multimodal,{r:g}]": a})
    return {o: chinchilla_at(known, o, r) for o in OBJECTIVES}


def _changed(values: Mapping[str, float]) -> Truth:
    """The truth with some values replaced or added."""
    known = truth()
    kept = tuple((name, k) for name, k in known.values if name not in values)
    return Truth(known.title, kept + tuple((n, Known(v, "changed")) for n, v in values.items()))


def _between(r: float, values: list[float]) -> float:
    """A parabola through values at the three ratios."""
    return float(np.polyval(np.polyfit(np.array(MIXES) - CENTRE, values, 2), r - CENTRE))


def true_losses(laws: Laws, C: float, log_n: float, log_r: float) -> np.ndarray:
    """Both losses of a size and ratio under C = 6 N (D_text + D_multimodal)."""
    r, N = float(np.exp(log_r)), float(np.exp(log_n))
    tokens = C / (6 * N)
    found = []
    for o, share in zip(OBJECTIVES, (1 / (1 + r), r / (1 + r)), strict=True):
        p = laws(r)[o]
        found.append(p["E"] + p["A"] * N ** -p["alpha"] + p["B"] * (tokens * share) ** -p["beta"])
    return np.array(found)


def true_size(laws: Laws, C: float, r: float) -> float:
    """The efficient size: where no small move of N and r betters both losses."""
    h = 1e-4

    def excess(x: float) -> float:
        def slope(dx: float, dr: float) -> np.ndarray:
            up = true_losses(laws, C, x + dx, np.log(r) + dr)
            return up - true_losses(laws, C, x - dx, np.log(r) - dr)

        by_n, by_r = slope(h, 0.0), slope(0.0, h)
        return (by_n[0] * by_r[1] - by_n[1] * by_r[0]) / h**2

    solve: Any = brentq
    return float(np.exp(solve(excess, np.log(1e8), np.log(1e14), xtol=1e-10)))


def true_exponent(laws: Laws, C: float, r: float) -> float:
    """Of the efficient size in total compute at a fixed ratio."""
    up, down = (np.log(true_size(laws, C * np.exp(s), r)) for s in (0.25, -0.25))
    return float((up - down) / 0.5)


def simulate_by_ratio(seed: int) -> pd.DataFrame:
    """The grid with text's published a at each ratio."""
    table = design()
    table["loss"] = np.nan
    cells = [(o, r) for o in OBJECTIVES for r in RATIOS if o == "text" or r > 0]
    for place, (objective, ratio) in enumerate(cells):
        rows = table[(table["objective"] == objective) & (table["r"] == ratio)]
        known = _changed({"a[text]": TEXT_A[ratio]})
        params = chinchilla_at(known, objective, ratio)
        inputs = {"N": np.asarray(rows["N"]), "D": np.asarray(rows[f"D_{objective}"])}
        own = int(np.random.SeedSequence([seed, 99, place]).generate_state(1)[0])
        noisy = params | {"sigma": known["sigma"]}
        drawn = simulate("chinchilla", noisy, inputs, noise=log_normal(), seed=own)
        table.loc[rows.index, "loss"] = np.asarray(drawn["loss"])
    return table
