"""Parts of the decoupled laws: composition, means, what is sampled in place of what, the check."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.arrays import namespace, power
from bayescale.errors import DataError
from bayescale.law import Coordinate
from bayescale.signature import taking

Values = Mapping[str, Any]
COMPOSITIONS = ("ratio", "share")
SAME = 1e-6  # compositions that differ by less are equal


@dataclass(frozen=True)
class Parts:
    """What a decoupled law reads, and which of it varies.

    Parameters
    ----------
    objectives, sources : tuple of str
        Objectives, and all that models are trained on; every objective is a source.
    varying : tuple of str
        Objectives whose law varies with the composition.
    composition : {"ratio", "share"}
        ``ratio``: tokens over those of the first source; for the first itself, all others' over
        its own, so that r = D_mm/D_text of either of two. ``share``: tokens over all.
    centre : float
        Composition at which constants hold.
    """

    objectives: tuple[str, ...]
    sources: tuple[str, ...]
    varying: tuple[str, ...]
    composition: str
    centre: float

    @property
    def own(self) -> np.ndarray:
        """Which source is an objective's own: ones and zeros, shape (objective, source)."""
        return np.eye(len(self.sources))[[self.sources.index(o) for o in self.objectives]]

    @property
    def at(self) -> np.ndarray:
        """Positions of the varying among the objectives."""
        return np.array([self.objectives.index(o) for o in self.varying], dtype=int)

    def compositions(self, D: Any) -> Any:
        """Composition as each source sees it, from tokens of shape (..., source)."""
        total = D.sum(-1)[..., None]
        if self.composition == "share":
            return D / total
        first = D[..., :1]
        return D / first + np.eye(len(self.sources))[0] * (total / first - 2)

    def off(self, values: Values) -> Any:
        """Distance from the centre of a varying row's objective, else 0; (..., row, varying)."""
        seen = self.compositions(values["D"]) @ self.own.T
        return ((seen - self.centre) * values["objective"])[..., self.at]

    def own_tokens(self, values: Values) -> Any:
        """Tokens of each row's own objective."""
        return (values["D"] * (values["objective"] @ self.own)).sum(-1)

    def moving(self, values: Values) -> Callable[[Any, str], Any]:
        """``moved(x, slope)``: x of each row's objective, moved by its composition.

        Where ``values`` has no parameter of the slope's name, x stays.
        """
        off = self.off(values) if self.varying else None

        def moved(x: Any, slope: str) -> Any:
            x = (x * values["objective"]).sum(-1)
            return x + (values[slope] * off).sum(-1) if slope in values else x

        return moved


def frontier_mean(parts: Parts) -> Callable[[Values], Any]:
    """The mean of the law of size and tokens, as a function of a mapping."""

    def mean(values: Values) -> Any:
        """L = E + a (N/N_c)^(-gamma/a) + b (6 N_c D/C_c)^(-gamma/b), of each row's objective."""
        moved = parts.moving(values)
        xp = namespace(values["E"], values["N"], values["D"])
        odds = moved(xp.log(values["a"]) - xp.log1p(-values["a"]), "a_slope")
        gamma = xp.exp(moved(xp.log(values["gamma"]), "gamma_slope"))
        size = moved(xp.log(values["N_c"]), "N_c_slope")
        compute = moved(xp.log(values["C_c"]), "C_c_slope")
        a, b = 1 / (1 + xp.exp(-odds)), 1 / (1 + xp.exp(odds))
        more_size = xp.log(values["N"]) - size
        more_data = xp.log(parts.own_tokens(values)) + np.log(6.0) + size - compute
        reducible = a * xp.exp(-gamma / a * more_size) + b * xp.exp(-gamma / b * more_data)
        return moved(values["E"], "") + reducible

    return mean


def data_mean(parts: Parts) -> Callable[[Values], Any]:
    """The mean of the law of tokens alone, as a function of a mapping."""

    def mean(values: Values) -> Any:
        """L = E + B D^-beta, of each row's objective."""
        moved = parts.moving(values)
        xp = namespace(values["E"], values["D"])
        beta = xp.exp(moved(xp.log(values["beta"]), "beta_slope"))
        log_b = moved(xp.log(values["B"]), "B_slope")
        return moved(values["E"], "") + xp.exp(log_b - beta * xp.log(parts.own_tokens(values)))

    return mean


def _budget(N_ref: Any, D_ref: Any) -> Any:
    """Compute at the centre of the data."""
    return 6 * N_ref * D_ref


def _size(size_term: Any, alpha: Any, beta: Any, N_ref: Any) -> Any:
    """N_c, where the size term is a = beta/(alpha + beta), its share of the optimum's 1."""
    return N_ref * power(size_term * (1 + alpha / beta), 1 / alpha)


def _tokens(data_term: Any, alpha: Any, beta: Any, D_ref: Any) -> Any:
    """Tokens at that optimum, where the data term is 1 - a."""
    return D_ref * power(data_term * (1 + beta / alpha), 1 / beta)


# Chinchilla's own coordinates: exponents, and the terms at the centre of the data. With the
# optimum's K and N0 there in place of the terms, a sweep that lies a factor ten off its optimum,
# where one term is too small to see, costs ten times the gradients.
ALPHA = Coordinate(
    "alpha",
    to_param=lambda alpha, beta: alpha * beta / (alpha + beta),
    from_param=lambda a, gamma: gamma / a,
    meaning="size exponent",
)
BETA = Coordinate(
    "beta",
    to_param=lambda alpha, beta: beta / (alpha + beta),
    from_param=lambda a, gamma: gamma / (1 - a),
    meaning="data exponent",
)
SIZE_TERM = Coordinate(
    "size_term",
    to_param=_size,
    from_param=lambda N_c, a, gamma, N_ref: a * power(N_c / N_ref, gamma / a),
    meaning="loss due to finite size at the data's geometric mean of N",
    unit="nats/token",
)
DATA_TERM = Coordinate(
    "data_term",
    to_param=lambda size_term, data_term, alpha, beta, N_ref, D_ref: (
        6 * _size(size_term, alpha, beta, N_ref) * _tokens(data_term, alpha, beta, D_ref)
    ),
    from_param=lambda C_c, N_c, a, gamma, D_ref: (
        (1 - a) * power(C_c / (6 * N_c * D_ref), gamma / (1 - a))
    ),
    meaning="loss due to finite data at the data's geometric mean of tokens",
    unit="nats/token",
)


def slope_coordinates(varies: Sequence[str], at: np.ndarray) -> dict[str, Coordinate]:
    """Slopes of ln K and ln N0 at the reference budget, in place of those of ln C_c and ln N_c.

    With ln K = gamma (ln C_c - ln C0) and ln N0 = ln N_c + a (ln C0 - ln C_c), each pair is the
    other's derivative in the composition at its centre.
    """

    def far(v: Values) -> Any:
        """How far ln C_c lies above the reference budget."""
        log = namespace(v["C_c"]).log
        return log(v["C_c"][..., at]) - log(_budget(v["N_ref"], v["D_ref"]))

    def turn(v: Values) -> Any:
        """What a(r) and C_c(r) do to ln N_c at a fixed budget."""
        a = v["a"][..., at]
        return a * (1 - a) * v.get("a_slope", 0.0) * far(v) + a * v.get("C_c_slope", 0.0)

    def tilt(v: Values) -> Any:
        """What gamma(r) does to ln C_c at a fixed reducible loss."""
        return v.get("gamma_slope", 0.0) * far(v)

    needs = ("C_c", "N_ref", "D_ref")
    tilts = (*needs, "gamma", *(("gamma_slope",) if "gamma" in varies else ()))
    turns = (*needs, "a", *(("a_slope",) if "a" in varies else ()))
    turns += ("C_c_slope",) if "K" in varies else ()
    of_k = Coordinate(
        "K_slope",
        taking(("K_slope", *tilts), lambda v: v["K_slope"] / v["gamma"][..., at] - tilt(v)),
        taking(("C_c_slope", *tilts), lambda v: v["gamma"][..., at] * (v["C_c_slope"] + tilt(v))),
        "change of ln K per unit of composition",
    )
    of_n = Coordinate(
        "N0_slope",
        taking(("N0_slope", *turns), lambda v: v["N0_slope"] + turn(v)),
        taking(("N_c_slope", *turns), lambda v: v["N_c_slope"] - turn(v)),
        "change of ln N_opt at the reference budget per unit of composition",
    )
    return {"K": of_k, "N0": of_n}


def table_check(parts: Parts) -> Callable[[Mapping[str, np.ndarray], np.ndarray], None]:
    """What a table must hold for these laws: own tokens, and more than one composition."""

    def check(columns: Mapping[str, np.ndarray], row_numbers: np.ndarray) -> None:
        D, own = columns["D"], columns["objective"].astype(bool)
        for k, name in enumerate(parts.sources):
            if not (D[:, k] > 0).any():
                raise DataError(
                    f"column 'D_{name}' is 0 in every row: no run was trained on '{name}'; leave "
                    "it out of the law."
                )
        bare = ~(parts.own_tokens({"D": D, "objective": own.astype(float)}) > 0)
        if bare.any():
            first = int(np.argmax(bare))
            name = parts.objectives[int(np.argmax(own[first]))]
            raise DataError(
                f"row {int(row_numbers[first])} holds the loss of '{name}' but D_{name} is 0; this "
                "law reads an objective's own tokens: leave the row out, or fit a mixture with "
                "additive transfer."
            )
        ratios = bool(parts.varying) and parts.composition == "ratio"
        if ratios and (no_base := ~(D[:, 0] > 0)).any():
            raise DataError(
                f"column 'D_{parts.sources[0]}' is 0 in row {int(row_numbers[np.argmax(no_base)])}"
                ", and ratios are to it: take composition='share' or leave the row out."
            )
        seen = parts.compositions(D) @ parts.own.T if parts.varying else None
        for k in parts.at:
            assert seen is not None
            _check_varies(seen[own[:, k], k], parts.objectives[k], parts.composition)

    return check


def _check_varies(found: np.ndarray, name: str, kind: str) -> None:
    if np.ptp(found) <= SAME * max(1.0, float(np.abs(found).max())):
        raise DataError(
            f"the {kind} of '{name}' is {found[0]:g} in every row with its loss, so that nothing "
            "tells how its law varies with it: add runs at another, or fit the law without "
            "variation (varying=())."
        )
