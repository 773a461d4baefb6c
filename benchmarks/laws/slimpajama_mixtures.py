"""SlimPajama: 61 mixtures of seven domains, 122M to 2.7B parameters, eight losses each.

Run it: ``python -m benchmarks.laws.slimpajama_mixtures`` (BAYESCALE_DATA names the folder of data
sets). Design and file name match arXiv:2507.09404.

Last checkpoints only: rows of a run are correlated, and early ones sit at a high learning rate.
Fitted are additive transfer (7 x 8 transfers, 152 quantities in all), the same under a horseshoe,
and exponential transfer with capacity. SOURCE.md found by least squares, one target at a time, own
domain = 1: c4 from commoncrawl .43, commoncrawl from c4 .57, github from stackexchange .36, book
from c4 .23 and from commoncrawl .28, wikipedia almost none; SD of log residual .003 to .009,
openhermes (no training domain) .011. LOO leaves whole runs out. Held out are the two largest sizes
(1.2B and 2.7B), and the largest alone.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data.mixtures import read_mixtures
from bayescale.fitted import Fit
from bayescale.law import Law
from bayescale.laws.mixture import mixture
from bayescale.tables import Table
from benchmarks.laws.reporting import errors, parts, say, say_errors, timed_fit

FILE = Path(os.environ["BAYESCALE_DATA"]) / "slimpajama_mixtures" / "dmsl_llm_slimpajama.csv"
LARGE, LARGEST = 1e9, 2e9
DRAWS = 1000  # a chain: with 500, E of openhermes lacks ESS
OPTIONS: dict[str, dict[str, Any]] = {
    "additive": {"transfer": "additive"},
    "sparse": {"transfer": "additive", "sparse": True},
    "exponential": {"transfer": "exponential"},
}
EXPECTED = {
    "tau[commoncrawl→c4]": ".43",
    "tau[c4→commoncrawl]": ".57",
    "tau[stackexchange→github]": ".36",
    "tau[c4→book]": ".23",
    "tau[commoncrawl→book]": ".28",
    "tau[book→wikipedia]": "almost none",
    "tau[c4→wikipedia]": "almost none",
    "tau[commoncrawl→wikipedia]": "almost none",
    "w[c4→openhermes]": "mean over the sources is 1",
    "w[wikipedia→openhermes]": "",
}


def last_checkpoints() -> bs.Runs:
    """The last checkpoint of each mixture and size, one row a target."""
    table: Any = pd.read_csv(FILE)
    shares = [c for c in table if c.startswith("weight_")]
    key = [table[c].round(6) for c in shares] + [table["model_size"]]
    last = table.groupby(key)["n_tokens"].transform("max") == table["n_tokens"]
    return read_mixtures(table[last])


def residuals(fit: Fit) -> dict[str, float]:
    """SD of log residuals by target, around the posterior median of the mean."""
    there = at_runs(fit, fit.runs)
    error = np.log(there.observed / np.median(there.mean, axis=0))
    target = fit.runs.column("target")
    return {str(t): float(error[target == t].std()) for t in fit.law.axes["target"]}


def main() -> None:
    """Print transfers beside SOURCE.md's, residuals, the comparison by LOO, and held-out sizes."""
    runs = last_checkpoints()
    targets = tuple(dict.fromkeys(runs.column("target")))
    plain: dict[str, Any] = {"sources": targets[:7], "targets": targets, "repetition": False}
    laws = {name: mixture(**plain, **options) for name, options in OPTIONS.items()}
    fits = {name: timed_fit(law, runs, draws=DRAWS) for name, law in laws.items()}
    for name in ("additive", "sparse"):
        print(name)
        say(fits[name], EXPECTED)
    seen = {name: residuals(fit) for name, fit in fits.items()}
    rows = [[t, *(f"{seen[n][t]:.4f}" for n in seen)] for t in targets]
    print(Table(["target", *seen], rows, "SD of log residual (SOURCE.md: .003 to .011)"))
    capacities(fits["exponential"])
    print(bs.compare(fits, by="run", refit="never", progress=False), flush=True)
    del fits
    hold_out(laws, runs)


def hold_out(laws: dict[str, Law], runs: bs.Runs) -> None:
    """Print errors on the largest sizes, and on the one above all others by target."""
    names = next(iter(laws.values())).axes["source"]
    none = mixture(names, transfer="none", capacity="none", repetition=False)
    laws = laws | {"own tokens alone": none}
    small, large = parts(runs, runs.column("N") > LARGE, "1.2B and 2.7B")
    found = {}
    for name, law in laws.items():
        there = [np.isin(part.column("target"), law.axes["target"]) for part in (small, large)]
        mine = small.select(there[0], "the law's targets")
        held = large.select(there[1], "the law's targets")
        fit = bs.fit(law, mine, seed=1, draws=500, progress=False)
        found[name] = errors(fit, held)
        most = held.select(held.column("N") > LARGEST, "2.7B")
        found[f"{name}: 2.7B alone"] = errors(fit, most)
        found |= {f"{name}: {t}": e for t, e in each_target(fit, held).items()}
    say_errors("1.2B and 2.7B, predicted from 122M to 937M (500 draws a chain)", found)


def each_target(fit: Fit, held: bs.Runs) -> dict[str, dict[str, float]]:
    """Errors of held-out runs, by target."""
    target = held.column("target")
    return {str(t): errors(fit, held.select(target == t, str(t))) for t in dict.fromkeys(target)}


def capacities(fit: Fit) -> None:
    """Print c of each target, the spread of its transfers, and how they are correlated."""
    c, v = fit.draws("c"), fit.draws("v")
    rows = []
    for k, target in enumerate(fit.law.axes["diluted"]):
        mine = [i for i, x in enumerate(fit.law.axes["transfer"]) if x.endswith(f"→{target}")]
        common = v[:, mine].mean(axis=1)
        low, middle, high = np.quantile(c[:, k], [0.05, 0.5, 0.95])
        rows.append(
            [
                target,
                f"{middle:.2f}",
                f"{low:.2f} to {high:.2f}",
                f"{common.mean():.2f} ± {common.std():.2f}",
                f"{np.corrcoef(c[:, k], common)[0, 1]:.2f}",
            ]
        )
    columns = ["target", "c", "90%", "mean of its v's", "correlation"]
    print(Table(columns, rows, f"exponential transfer: {fit.gate.headline()}"), flush=True)


if __name__ == "__main__":
    main()
