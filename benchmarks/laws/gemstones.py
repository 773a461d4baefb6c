"""Width and depth of 20 shapes of model, 48M to 2B parameters (arXiv:2502.06857).

Run it: ``python -m benchmarks.laws.gemstones`` (BAYESCALE_DATA names the folder of data sets).

The cooled-down checkpoints: about ten a run, so runs are left out whole where laws are compared.
Beside the law of the package stands the one that the authors fit, with a term each for width,
depth and tokens, as a law of a user's own.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.arrays import power
from bayescale.law import Law
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import coefficient, exponent
from bayescale.laws.width_depth import DEPTH, WIDTH, WIDTH_DEPTH
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "gemstones" / "gemstones_cooldown.csv"
LARGEST = 8e8  # held out: the seven shapes of 1B and 2B


def three_terms(
    E: Any, W: Any, V: Any, B: Any, w: Any, v: Any, beta: Any, D: Any, width: Any, depth: Any
) -> Any:
    """L = E + W width^-w + V depth^-v + B D^-beta."""
    shape = W * power(width, -w) + V * power(depth, -v)
    return E + shape + B * power(D, -beta)


def authors_law() -> Law:
    """A term each for width, depth and tokens."""
    E, _, B, _, beta = CHINCHILLA.params
    return Law(
        "width + depth",
        inputs=(CHINCHILLA.inputs[1], WIDTH, DEPTH),
        params=(
            E,
            coefficient("W", "width_term", "w", "width", "width term at 1", "loss by width"),
            coefficient("V", "depth_term", "v", "depth", "depth term at 1", "loss by depth"),
            B,
            exponent("w", "width exponent", "w"),
            exponent("v", "depth exponent", "v"),
            beta,
        ),
        terms=("E", "width_term", "depth_term", "data_term"),
        slopes=(("w", "width_term"), ("v", "depth_term"), ("beta", "data_term")),
        mean=three_terms,
    )


def main() -> None:
    """Posteriors, leave-one-run-out, and the largest sizes held out."""
    runs = bs.read_runs(FILE)
    laws = {"chinchilla": CHINCHILLA, "width-depth": WIDTH_DEPTH, "width + depth": authors_law()}
    fits = {name: bs.fit(law, runs) for name, law in laws.items()}
    quick = {"E": "2.07 (SOURCE.md)", "alpha": "0.300", "beta": "0.580"}
    say(fits["chinchilla"], quick | {"sigma": "0.016 (SD)"})
    shape = {"kappa": "", "best_shape": "", "rho": "0: one shape for all sizes"}
    say(fits["width-depth"], quick | shape | {"sigma": ""})
    say(fits["width + depth"], {"E": "", "w": "", "v": "", "beta": "", "sigma": ""})
    held = runs.column("N") > LARGEST
    train, test = parts(runs, held, "1B and 2B")
    found = {name: errors(bs.fit(law, train), test) for name, law in laws.items()}
    say_errors("1B and 2B held out", found)
    print(bs.compare(fits, by="run_id"), flush=True)
    rho = fits["width-depth"].tree.posterior["rho"].to_numpy()
    print(f"P(rho > 0) = {np.mean(rho > 0):.3f}")


if __name__ == "__main__":
    main()
