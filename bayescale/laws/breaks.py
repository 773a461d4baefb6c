"""Parameters of a broken power law, sampled where the data see them."""

from collections.abc import Mapping
from typing import Any

from bayescale.arrays import namespace, softplus
from bayescale.law import Coordinate, Input, Param
from bayescale.laws.common import TERM, WHY_TERM
from bayescale.priors import LogNormal, Normal, Prior
from bayescale.signature import taking
from bayescale.support import POSITIVE, REAL

EXPONENT = LogNormal(0.35, 1.0)
WHY_EXPONENT = (
    "segments are nearly flat before a task is learnt and steep while it is; sweeps of text lie "
    "between, at .1 to .7: two prior SDs .05 to 2.6"
)
GAP = LogNormal(2.0, 0.7)  # e-folds between breaks; two prior SDs: 0.5 to 8
WIDTH = LogNormal(0.3, 1.0)
WHY_WIDTH = "e-folds over which the exponent changes; two prior SDs: .04 (sharp) to 2.2 (gradual)"


def steps(log_x: Any, values: Mapping[str, Any], breaks: int) -> Any:
    """Logarithm of x^c_0 prod (1 + (x/d_i)^(1/f_i))^(c_i f_i), however sharp the breaks."""
    total = values["c_0"] * log_x
    for i in range(1, breaks + 1):
        place, width = values[f"d_{i}"], values[f"f_{i}"]
        beyond = (log_x - namespace(place).log(place)) / width
        total = total + values[f"c_{i}"] * width * softplus(beyond)
    return total


def height_param(x: Input, shape: list[str], breaks: int) -> Param:
    """A, sampled as the reducible loss at the data's centre."""
    ref = f"{x.name}_ref"

    def height(values: Mapping[str, Any]) -> Any:
        xp = namespace(values["c_0"])
        return xp.exp(steps(xp.log(values[ref]), values, breaks))

    centred = Coordinate(
        "term",
        to_param=taking(["term", ref, *shape], lambda v: v["term"] * height(v)),
        from_param=taking(["A", ref, *shape], lambda v: v["A"] / height(v)),
        meaning=f"reducible loss at the data's geometric mean of {x.name}",
        unit="nats/token",
    )
    meaning = f"reducible loss at {x.name} = 1"
    return Param("A", TERM, meaning, "nats/token", "A", coordinate=centred, why=WHY_TERM)


def break_params(x: Input, i: int, breaks: int) -> tuple[Param, Param, Param]:
    """Change of exponent, place and width of break i."""
    before = f"slope_{i - 1}" if i > 1 else "c_0"
    steeper = Coordinate(
        f"slope_{i}",
        to_param=taking([f"slope_{i}", before], lambda v: v[f"slope_{i}"] - v[before]),
        from_param=taking([f"c_{k}" for k in range(i + 1)], lambda v: sum(v.values())),
        meaning=f"exponent beyond break {i}",
    )
    where, prior, why = _place(x, i, breaks)
    return (
        Param(
            f"c_{i}", EXPONENT, f"change of exponent at break {i}", "", f"c_{{{i}}}",
            support=REAL, coordinate=steeper, why=WHY_EXPONENT,
        ),
        Param(
            f"d_{i}", prior, f"place of break {i}", x.unit, f"d_{{{i}}}",
            support=POSITIVE, coordinate=where, why=why,
        ),
        Param(f"f_{i}", WIDTH, f"width of break {i}", "e-folds", f"f_{{{i}}}", why=WHY_WIDTH),
    )  # fmt: skip


def _place(x: Input, i: int, breaks: int) -> tuple[Coordinate, Prior, str]:
    """Where a break lies: the first around the data's centre, the others behind it."""
    name, origin = ("shift_1", f"{x.name}_ref") if i == 1 else (f"gap_{i}", f"d_{i - 1}")

    def after(values: Mapping[str, Any]) -> Any:
        return values[origin] * namespace(values[name]).exp(values[name])

    def distance(values: Mapping[str, Any]) -> Any:
        return namespace(values[f"d_{i}"]).log(values[f"d_{i}"] / values[origin])

    of = f"the data's geometric mean of {x.name}" if i == 1 else f"break {i - 1}"
    coordinate = Coordinate(
        name,
        to_param=taking([name, origin], after),
        from_param=taking([f"d_{i}", origin], distance),
        meaning=f"ln of break {i} over {of}",
        unit="e-folds",
    )
    if i > 1:
        return coordinate, GAP, "breaks lie a factor of 1.6 to 3,000 apart (two prior SDs)"
    first = Normal(-0.5 * GAP.middle() * (breaks - 1), 2.0)
    return (
        coordinate,
        first,
        "breaks are sought inside the data: a factor of 50 around their centre",
    )
