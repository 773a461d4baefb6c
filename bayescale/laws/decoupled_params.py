"""Parameters with their priors, and derived quantities, of the decoupled laws."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescale.arrays import namespace, power
from bayescale.law import Coordinate, Derived, Input, Param
from bayescale.laws.common import (
    EXPONENT,
    IRREDUCIBLE,
    TERM,
    WHY_EXPONENT,
    WHY_IRREDUCIBLE,
    WHY_TERM,
)
from bayescale.laws.decoupled_parts import (
    ALPHA,
    BETA,
    DATA_TERM,
    SIZE_TERM,
    Values,
    slope_coordinates,
)
from bayescale.priors import Normal
from bayescale.signature import taking
from bayescale.support import UNIT

OF_EACH, OF_VARYING = ("objective",), ("varying",)
D = Input("D", "tokens of each source", "tokens", ("source",), positive=False, at_least=0.0)
OBJECTIVE = Input("objective", "objective whose loss a row holds", "name", OF_EACH, kind="label")
_OFF = r"(r - r_{0})"
_FRONTIER = (
    r"L = E + a \left(\frac{N}{N_{c}}\right)^{-\gamma/a}"
    r" + (1 - a) \left(\frac{6 N_{c} D}{C_{c}}\right)^{-\gamma/(1 - a)}"
)
_DATA = r"L = E + \frac{B}{D^{\beta}}"
_MOVES = {
    "a_slope": rf"\mathrm{{logit}} a(r) = \mathrm{{logit}} a + \eta_{{1}} {_OFF}",
    "C_c_slope": rf"\ln C_{{c}}(r) = \ln C_{{c}} + C_{{c,1}} {_OFF}",
    "N_c_slope": rf"\ln N_{{c}}(r) = \ln N_{{c}} + N_{{c,1}} {_OFF}",
    "gamma_slope": rf"\ln \gamma(r) = \ln \gamma + \gamma_{{1}} {_OFF}",
    "B_slope": rf"\ln B(r) = \ln B + B_{{1}} {_OFF}",
    "beta_slope": rf"\ln \beta(r) = \ln \beta + \beta_{{1}} {_OFF}",
}


def equation(size: bool, names: Sequence[str]) -> str:
    """The law of one objective's own tokens D, and how its constants move."""
    moves = [move for slope, move in _MOVES.items() if slope in names]
    return r", \quad ".join([_FRONTIER if size else _DATA, *moves])


_E = Param("E", IRREDUCIBLE, "irreducible loss", "nats/token", "E", OF_EACH, why=WHY_IRREDUCIBLE)


def frontier_params(varies: Sequence[str], at: np.ndarray) -> tuple[Param, ...]:
    """E, C_c, gamma, a, N_c of each objective, and slopes of those objectives that vary."""
    constants = (
        _E,
        Param(
            "C_c", TERM, "compute on own tokens at which the optimum's reducible loss is 1", "FLOP",
            r"C_{c}", OF_EACH, coordinate=DATA_TERM, why=WHY_TERM,
        ),
        Param(
            "gamma", EXPONENT, "compute exponent of the reducible loss", "", r"\gamma", OF_EACH,
            coordinate=ALPHA, why=WHY_EXPONENT,
        ),
        Param(
            "a", EXPONENT, "allocation exponent of N", "", "a", OF_EACH, support=UNIT,
            coordinate=BETA, why=WHY_EXPONENT,
        ),
        Param(
            "N_c", TERM, "optimal size where the optimum's reducible loss is 1", "parameters",
            r"N_{c}", OF_EACH, coordinate=SIZE_TERM, why=WHY_TERM,
        ),
    )  # fmt: skip
    return (*constants, *_frontier_slopes(varies, at)) if len(at) else constants


def _frontier_slopes(varies: Sequence[str], at: np.ndarray) -> tuple[Param, ...]:
    coordinates = slope_coordinates(varies, at)
    listed = {
        "a": Param(
            "a_slope", Normal(0.0, 2.0), "change of logit a per unit of composition", "",
            r"\eta_{1}", OF_VARYING, why="published: -1.5 for ratios of .1 to .3; .1 more moves a "
            "by .05 either way at one prior SD",
        ),
        "gamma": Param(
            "gamma_slope", Normal(0.0, 1.0), "change of ln gamma per unit of composition", "",
            r"\gamma_{1}", OF_VARYING, why="exponents of one objective keep their order of size",
        ),
        "K": Param(
            "C_c_slope", Normal(0.0, 1.5), "change of ln C_c per unit of composition", "",
            r"C_{c,1}", OF_VARYING, coordinate=coordinates["K"],
            why="a tenth more of it moves the reducible loss by 15% either way at one prior SD",
        ),
        "N0": Param(
            "N_c_slope", Normal(0.0, 5.0), "change of ln N_c per unit of composition", "",
            r"N_{c,1}", OF_VARYING, coordinate=coordinates["N0"],
            why="a tenth more of it moves the optimal size by a factor 1.6 at one prior SD",
        ),
    }  # fmt: skip
    return tuple(p for name, p in listed.items() if name in varies)


def frontier_derived(
    where: Sequence[float], centre: float, at: np.ndarray, slope: bool
) -> tuple[Derived, ...]:
    """Exponents and coefficients at the centre, and a, b at other compositions."""
    held = f"at composition {centre:g}" if len(at) else ""
    found = [
        Derived("b", lambda a: 1 - a,
                f"allocation exponent of D {held}", "", "b", OF_EACH),
        Derived("A", lambda a, gamma, N_c: a * power(N_c, gamma / a),
                f"size term at N = 1 {held}", "nats/token", "A", OF_EACH),
        Derived("B", lambda a, gamma, N_c, C_c: (1 - a) * power(C_c / (6 * N_c), gamma / (1 - a)),
                f"data term at D = 1 {held}", "nats/token", "B", OF_EACH),
        Derived("K", lambda gamma, C_c, N_ref, D_ref: power(C_c / (6 * N_ref * D_ref), gamma),
                f"reducible loss of the optimum at the reference budget {held}", "nats/token", "K",
                OF_EACH),
        Derived("N0", lambda a, N_c, C_c, N_ref, D_ref: N_c * power(6 * N_ref * D_ref / C_c, a),
                f"optimal size at the reference budget {held}", "parameters", r"N_{0}", OF_EACH),
    ]  # fmt: skip
    if slope and len(where):
        off = np.asarray(where) - centre

        def larger(v: Values) -> Any:
            """Of a: shape (..., varying, composition)."""
            a = v["a"][..., at]
            odds = (a / (1 - a))[..., None]
            return 1 / (1 + namespace(a).exp(-v["a_slope"][..., None] * off) / odds)

        axes = (*OF_VARYING, "composition")
        found += [
            Derived("a_at", taking(("a", "a_slope"), larger),
                    "allocation exponent of N by composition", "", "a(r)", axes),
            Derived("b_at", taking(("a", "a_slope"), lambda v: 1 - larger(v)),
                    "allocation exponent of D by composition", "", "b(r)", axes),
        ]  # fmt: skip
    return tuple(found)


def data_params(varies: Sequence[str], at: np.ndarray) -> tuple[Param, ...]:
    """E, B and beta of each objective, and slopes of those objectives that vary."""
    term = Coordinate(
        "data_term",
        lambda data_term, beta, D_ref: data_term * power(D_ref, beta),
        lambda B, beta, D_ref: B * power(D_ref, -beta),
        "loss due to finite data at the data's geometric mean of tokens",
        "nats/token",
    )
    constants = (
        _E,
        Param("B", TERM, "data term at D = 1", "nats/token", "B", OF_EACH, coordinate=term,
              why=WHY_TERM),
        Param("beta", EXPONENT, "data exponent", "", r"\beta", OF_EACH, why=WHY_EXPONENT),
    )  # fmt: skip
    return (*constants, *_data_slopes(varies, at)) if len(at) else constants


def _data_slopes(varies: Sequence[str], at: np.ndarray) -> tuple[Param, ...]:
    turns = ("beta", *(("beta_slope",) if "beta" in varies else ()))

    def turn(v: Values) -> Any:
        """What beta(r) does to ln B for one data term at the data's centre."""
        log_tokens = namespace(v["beta"]).log(v["D_ref"])
        return v["beta"][..., at] * v.get("beta_slope", 0.0) * log_tokens

    slope = Coordinate(
        "data_term_slope",
        taking(("data_term_slope", "D_ref", *turns), lambda v: v["data_term_slope"] + turn(v)),
        taking(("B_slope", "D_ref", *turns), lambda v: v["B_slope"] - turn(v)),
        "change of the log data term per unit of composition",
    )
    listed = {
        "beta": Param(
            "beta_slope", Normal(0.0, 1.0), "change of ln beta per unit of composition", "",
            r"\beta_{1}", OF_VARYING, why="exponents of one objective keep their order of size",
        ),
        "B": Param(
            "B_slope", Normal(0.0, 1.5), "change of ln B per unit of composition", "", r"B_{1}",
            OF_VARYING, coordinate=slope,
            why="a tenth more of it moves the data term by 15% either way at one prior SD",
        ),
    }  # fmt: skip
    return tuple(p for name, p in listed.items() if name in varies)


def data_derived(varies: Sequence[str], at: np.ndarray) -> tuple[Derived, ...]:
    """What a unit of composition is worth in tokens, where B alone varies."""
    if tuple(varies) != ("B",) or not len(at):
        return ()
    worth = taking(("B_slope", "beta"), lambda v: -v["B_slope"] / v["beta"][..., at])
    meaning = "change of ln effective tokens per unit of composition"
    return (Derived("tokens_slope", worth, meaning, "", r"t_{1}", OF_VARYING),)
