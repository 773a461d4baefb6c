"""GitHub and Pile-CC mixed at five shares, two sizes, checkpoints (arXiv:2403.16952).

Run it: ``python -m benchmarks.laws.mixinglaws_two_domain`` (BAYESCALE_DATA names the folder of
data sets).

Both losses vary with the share, so both objectives may. Checkpoints of a run share an offset, one
for each loss. Two sizes say little of the size exponent: the gate names it. Held out are whole
mixtures (the first, third and fifth share in turn), and the last third of each run. A power of
tokens alone, fitted to each of these runs apart, leaves an SD of .004 to .012 in log loss
(SOURCE.md).
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import bayescale as bs
from bayescale.choosing import choose
from bayescale.law import Law
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "mixinglaws" / "two_domain.csv"
OBJECTIVES = ("github", "pile_cc")
VARIANTS = {
    "own tokens alone": "decoupled:varying=none",
    "K varies": "decoupled:varies=K",
    "a, K, N0 vary": "decoupled",
}
NOISE = bs.student_t(runs="curve", by="objective")


def read(law: str) -> tuple[Law, bs.Runs]:
    """One row a checkpoint and loss; a curve is one loss of one run."""
    law_found, runs = choose(law, FILE, {})
    curve = runs.table["run_id"] + "/" + runs.table["objective"]
    return law_found, replace(runs, table=runs.table.assign(curve=curve))


def fitted(name: str, held: str = "", mask: np.ndarray | None = None) -> tuple[bs.Fit, bs.Runs]:
    """A variant fitted to the runs that aren't held out, and those that are."""
    law, runs = read(VARIANTS[name])
    mine, theirs = (runs, runs) if mask is None else parts(runs, mask, held)
    draws = 1000 if mask is None else 250
    return bs.fit(law, mine, noise=NOISE, seed=1, draws=draws, progress=False), theirs


def main() -> None:
    """Print the posterior, and errors on held-out mixtures and on the end of the runs."""
    full, _ = fitted("a, K, N0 vary")
    each = "SOURCE.md gives none"
    expected = {f"{n}[{o}]": each for n in ("E", "alpha", "beta", "K_slope", "a_slope")
                for o in OBJECTIVES}  # fmt: skip
    expected |= {f"sigma[{o}]": "below .004 to .012, with offsets" for o in OBJECTIVES}
    say(full, expected)
    table = read("decoupled")[1].table
    share = (table["D_github"] / table["D"]).round(3).to_numpy()
    last = (table["step"] > 20_000).to_numpy()
    found = {}
    for name in VARIANTS:
        parts_found = [
            errors(*fitted(name, f"share {s:g}", share == s)) for s in np.unique(share)[::2]
        ]
        mean = {k: float(np.mean([p[k] for p in parts_found])) for k in parts_found[0]}
        found[f"{name}: mixtures in turn"] = mean
        found[f"{name}: steps above 20,000"] = errors(*fitted(name, "steps above 20,000", last))
    say_errors("mixtures held out, and the end of each run (250 draws a chain)", found)


if __name__ == "__main__":
    main()
