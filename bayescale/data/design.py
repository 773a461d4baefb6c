"""What a set of runs can't tell, whatever the fit: exponents that the design leaves tied."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayescale.errors import DataError

SAME = 1.02  # values within a factor of this are one value
ONE_BUDGET = 1.1
NARROW = 3.0
TIED = 0.05
PARAMETERS = 5  # E, A, B, alpha, beta


@dataclass(frozen=True)
class DesignFlag:
    """One thing that the runs can't separate.

    Parameters
    ----------
    kind
        Short name: "one-size", "one-data-size", "two-sizes", "two-data-sizes", "one-budget",
        "tied", "few-cells", "narrow-N", "narrow-D".
    message
        One line for people, with the measured number.
    parameters
        Parameters of a law in N and D that are affected.
    remedy
        Which runs would help.
    """

    kind: str
    message: str
    parameters: tuple[str, ...]
    remedy: str


def design_report(N: ArrayLike, D: ArrayLike, C: ArrayLike | None = None) -> tuple[DesignFlag, ...]:
    """Tell what the design of the runs can't separate.

    Looks at the distinct (N, D) cells only, not at losses.

    Parameters
    ----------
    N, D
        Parameters and tokens of the runs, shape (runs,).
    C
        FLOP, shape (runs,); 6 N D by default.

    Returns
    -------
    tuple of DesignFlag
        Empty for a design that can carry L(N, D) = E + A N^-alpha + B D^-beta.

    Raises
    ------
    DataError
        Where the arrays differ in length or hold anything but positive numbers.
    """
    size, tokens = (np.asarray(x, dtype=np.float64).ravel() for x in (N, D))
    compute = 6.0 * size * tokens if C is None else np.asarray(C, dtype=np.float64).ravel()
    if not len(size) == len(tokens) == len(compute) > 0:
        raise DataError("design_report: N, D and C must be of one length above zero.")
    if not all(np.all(np.isfinite(x) & (x > 0)) for x in (size, tokens, compute)):
        raise DataError("design_report: N, D and C must be finite numbers above zero.")
    cells, first = np.unique(np.column_stack([size, tokens]), axis=0, return_index=True)
    found = _few_cells(len(cells))
    single = _one_value("N", size) + _one_value("D", tokens)
    if single:
        return (*found, *single)
    budget = _one_budget(compute[first])
    found += budget or _tied(cells[:, 0], cells[:, 1])
    found += _two_values("N", size) + _two_values("D", tokens)
    return (*found, *_narrow("N", size), *_narrow("D", tokens))


def _few_cells(cells: int) -> list[DesignFlag]:
    if cells >= PARAMETERS:
        return []
    return [
        DesignFlag(
            "few-cells",
            f"{cells} distinct pairs of N and D for {PARAMETERS} parameters.",
            ("E", "A", "B", "alpha", "beta"),
            "add runs at other sizes and other numbers of tokens, or use a law in one variable.",
        )
    ]


def _one_value(name: str, values: np.ndarray) -> list[DesignFlag]:
    if _spread(values) > SAME:
        return []
    typical = float(np.median(values))
    if name == "N":
        return [
            DesignFlag(
                "one-size",
                f"all runs have one model size (N = {typical:.3g}), so nothing is known about how "
                "loss depends on N.",
                ("alpha", "A", "E"),
                "add runs at two or more other sizes, or fit a power law in D.",
            )
        ]
    return [
        DesignFlag(
            "one-data-size",
            f"all runs have one data size (D = {typical:.3g}), so nothing is known about how loss "
            "depends on D.",
            ("beta", "B", "E"),
            "add runs on two or more other numbers of tokens, or fit a power law in N.",
        )
    ]


def _two_values(name: str, values: np.ndarray) -> list[DesignFlag]:
    """Flag two levels: E plus two unknown losses always fit them, whatever the exponent."""
    levels, start = 0, 0.0
    for value in np.unique(values):
        if value > SAME * start:
            levels, start = levels + 1, value
        if levels > 2:
            return []
    size, affected = ("model", ("alpha", "A", "E")) if name == "N" else ("data", ("beta", "B", "E"))
    return [
        DesignFlag(
            "two-sizes" if name == "N" else "two-data-sizes",
            f"there are only two {size} sizes ({name} = {np.min(values):.3g} and "
            f"{np.max(values):.3g}), through which a power law of any exponent {affected[0]} fits.",
            affected,
            f"add runs at a third value of {name}, far from both.",
        )
    ]


def _one_budget(compute: np.ndarray) -> list[DesignFlag]:
    if _spread(compute) > ONE_BUDGET:
        return []
    return [
        DesignFlag(
            "one-budget",
            f"all runs have one compute budget (C = {float(np.median(compute)):.3g} FLOP, within "
            f"a factor {_spread(compute):.3g}), so nothing is known about how loss and the best "
            "allocation change with compute.",
            ("E", "alpha", "beta", "A", "B"),
            "add an IsoFLOP sweep at a budget ten times smaller or larger.",
        )
    ]


def _tied(size: np.ndarray, tokens: np.ndarray) -> list[DesignFlag]:
    """Flag runs along one line in (ln N, ln D), on which the two power laws look alike.

    The measure is the SD of ln D around its least-squares line in ln N, over the range of ln D:
    0 for D = k N^p, about 0.3 for a full grid.
    """
    x, y = np.log(size), np.log(tokens)
    slope, constant = np.polyfit(x, y, 1)
    measure = float(np.std(y - slope * x - constant) / np.ptp(y))
    if measure >= TIED:
        return []
    ratio = tokens / size
    if _spread(ratio) <= ONE_BUDGET:
        line = f"D = {float(np.median(ratio)):.3g} N"
    else:
        line = f"D = {np.exp(constant):.3g} N^{slope:.2f}"
    return [
        DesignFlag(
            "tied",
            f"N and D are tied: all runs lie near {line} (ln D scatters around that line by "
            f"{100 * measure:.1f}% of its range), so the exponents of N and D can't be told apart.",
            ("alpha", "beta", "A", "B"),
            "add runs with several times more and fewer tokens at the same sizes.",
        )
    ]


def _narrow(name: str, values: np.ndarray) -> list[DesignFlag]:
    if _spread(values) >= NARROW:
        return []
    affected = ("alpha", "A") if name == "N" else ("beta", "B")
    return [
        DesignFlag(
            f"narrow-{name}",
            f"{name} spans only a factor {_spread(values):.2g}, so {affected[0]} rests on little.",
            affected,
            f"widen the range of {name} to a factor of ten or more.",
        )
    ]


def _spread(values: np.ndarray) -> float:
    return float(np.max(values) / np.min(values))
