"""Bias of the shapes of IsoFLOP valleys, by least squares on slices without noise.

    python -m benchmarks.answers.isoflop_bias

Slices come from laws whose a and N_opt are known, symmetric about their optimum, or about a guess
that drifts away from it; what a fit without noise gets wrong is bias. The last law is not
Chinchilla's: its slices are of no shape that is fitted.
"""

from collections.abc import Callable

import numpy as np

from bayescale.laws.isoflop import MEANS
from bayescale.tables import Table

BUDGETS = np.geomspace(1e18, 1e21, 7)
SIZES = 9
FAR = 1e24
START = {"parabola": (), "cubic": (0.05,), "powers": (np.log(0.35), np.log(0.35))}
WIDTHS = {  # factor either way of the centre; drift of the centre over all budgets, and its offset
    "x2": (2.0, 0.0, 0.0),
    "x4": (4.0, 0.0, 0.0),
    "x8": (8.0, 0.0, 0.0),
    "x16": (16.0, 0.0, 0.0),
    "x8, drift x4": (8.0, np.log(4.0), 0.0),
    "x8, off x2": (8.0, 0.0, np.log(2.0)),
}
Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def chinchilla(E: float, alpha: float, beta: float, power: float = 1.0) -> Loss:
    """E + (A N^-alpha + B D^-beta)^power, both terms .35 nats at N = 4e8, D = 8e9."""
    A, B = 0.35 * 4e8**alpha, 0.35 * 8e9**beta
    return lambda N, D: E + (A * N**-alpha + B * D**-beta) ** power


LAWS = {  # alpha/beta: as Chinchilla, refitted; as Marin's corpora; steep in tokens; (...)^.6
    ".35/.37": chinchilla(1.82, 0.3473, 0.3672),
    ".65/.38": chinchilla(2.5, 0.65, 0.38),
    ".25/.45": chinchilla(1.8, 0.25, 0.45),
    "coupled": chinchilla(1.8, 0.65, 0.45, 0.6),
}


def optimum(loss: Loss, budgets: np.ndarray) -> np.ndarray:
    """Size with the least loss at each budget."""
    from scipy.optimize import minimize_scalar

    return np.array(
        [
            np.exp(
                minimize_scalar(
                    lambda x, c=c: float(loss(np.exp(x), c / 6 / np.exp(x))),
                    bounds=(np.log(1e6), np.log(1e13)),
                    method="bounded",
                    options={"xatol": 1e-10},
                ).x
            )
            for c in budgets
        ]
    )


def fit(N: np.ndarray, C: np.ndarray, loss: np.ndarray, shape: str) -> Callable[[float], float]:
    """Least squares of log loss: a level and a curvature a budget, minima on a power law."""
    from scipy.optimize import least_squares

    place = np.repeat(np.arange(len(BUDGETS)), SIZES)
    centre, size = np.log(BUDGETS).mean(), np.log(N).mean()
    names = {"parabola": (), "cubic": ("s",), "powers": ("alpha", "beta")}[shape]
    lowest = [loss[place == k].min() for k in range(len(BUDGETS))]
    first = np.concatenate([[0.5, 0.0], lowest, np.full(len(BUDGETS), np.log(0.06)), START[shape]])

    def residuals(p: np.ndarray) -> np.ndarray:
        a, shift = p[:2]
        levels, bends = p[2 : 2 + len(BUDGETS)], np.exp(p[2 + len(BUDGETS) : 2 + 2 * len(BUDGETS)])
        rest = p[2 + 2 * len(BUDGETS) :]
        extra = dict(zip(names, np.exp(rest) if shape == "powers" else rest, strict=True))
        G = np.exp(size + shift - a * (centre - np.log(6)))
        with np.errstate(over="ignore"):  # on the way, exponents get large
            mean = MEANS[shape](L_min=levels[place], G=G, a=a, h=bends[place], N=N, C=C, **extra)
            mean = np.minimum(mean, 1e6)
        return 300 * np.log(np.maximum(mean, 1e-3) / loss)

    a, shift = least_squares(residuals, first, x_scale="jac", max_nfev=600).x[:2]
    return lambda c: float(np.exp(size + shift + a * (np.log(c) - centre)))


def main() -> None:
    """Print errors of a, and of N_opt at the middle budget and far beyond."""
    rows = []
    for name, loss in LAWS.items():
        for width, (factor, drift, offset) in WIDTHS.items():
            best = optimum(loss, BUDGETS)
            guess = best * np.exp(offset + drift * np.linspace(-0.5, 0.5, len(BUDGETS)))
            N = (guess[:, None] * np.geomspace(1 / factor, factor, SIZES)).ravel()
            C = np.repeat(BUDGETS, SIZES)
            row = [name, width]
            for shape in MEANS:
                n_opt = fit(N, C, loss(N, C / 6 / N), shape)
                row += _errors(n_opt, loss)
            rows.append(row)
    columns = ["law", "slices", *(f"{s}: {what}" for s in MEANS for what in ("a", "N", "far"))]
    notes = [
        f"alpha/beta; 7 budgets of {SIZES} sizes, a factor either way of the optimum, of centres "
        "that drift by x4 over all budgets, or twice too large",
        f"errors of a, of N_opt at the middle budget, and at {FAR:.0e} FLOP",
    ]
    print(Table(columns, rows, "Bias of IsoFLOP shapes", notes=notes, text=("law", "slices")))


def _errors(n_opt: Callable[[float], float], loss: Loss) -> list[str]:
    middle = float(BUDGETS[len(BUDGETS) // 2])
    ends = np.array([middle / 3, middle * 3])
    slope = np.log(n_opt(ends[1]) / n_opt(ends[0])) / np.log(9)
    truth = np.log(np.divide(*optimum(loss, ends)[::-1])) / np.log(9)
    found = [n_opt(c) / optimum(loss, np.array([c]))[0] - 1 for c in (middle, FAR)]
    return [f"{slope - truth:+.3f}", *(f"{x:+.1%}" for x in found)]


if __name__ == "__main__":
    main()
