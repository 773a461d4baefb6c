"""Two losses of one vision-language model, MaMMUT: contrastive and caption (arXiv:2506.04598).

Run it: ``python -m benchmarks.laws.laion_clip_mammut`` (BAYESCALE_DATA names the folder of data
sets).

The best run of each size and number of pairs seen. The contrastive loss depends on the batch, so of
it only runs of one batch are taken, 16,384 pairs, which span a factor four in pairs: the gate says
that they can't tell its exponents apart. Both objectives read the same pairs, and no composition
varies. SOURCE.md fits the caption loss: E 1.07, alpha .168, beta .242, SD .040. Held out are the
three largest architectures.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.laws.decoupled import decoupled
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "laion_clip_mammut" / "clip_mammut_runs.csv"
OBJECTIVES = ("caption", "contrastive")
BATCH = 16_384
LARGE = 5e8
EXPECTED = {
    "E[caption]": "1.07",
    "alpha[caption]": ".168",
    "beta[caption]": ".242",
    "a[caption]": ".59 by these exponents",
    "E[contrastive]": "",
    "alpha[contrastive]": "",
    "beta[contrastive]": "",
    "a[contrastive]": "",
    "sigma[caption]": ".040",
    "sigma[contrastive]": "",
}


def read() -> bs.Runs:
    """One row a loss, the best run of each cell; D counts image-text pairs."""
    table = pd.read_csv(FILE)
    table = table[table["objective"] != "contrastive"].sort_values("loss_caption")
    rows = []
    for objective in OBJECTIVES:
        own = table if objective == "caption" else table[table["global_batch"] == BATCH]
        best = own.groupby(["arch", "samples_seen"]).head(1)
        columns = {"N": best["n_params"], "loss": best[f"loss_{objective}"], "run": best["run_id"]}
        columns |= {f"D_{o}": best["samples_seen"] for o in OBJECTIVES}
        rows.append(pd.DataFrame({**columns, "objective": objective}))
    return bs.read_runs(pd.concat(rows), columns={"D": ""})


def main() -> None:
    """Print the posterior, the chance that one objective favours size more, and held-out errors."""
    law, runs = decoupled(objectives=OBJECTIVES, varying=()), read()
    fit = bs.fit(law, runs, seed=1, progress=False)
    differ = fit.draws("a")[:, 1] - fit.draws("a")[:, 0]
    say(
        fit, EXPECTED | {"a[contrastive] - a[caption]": ""}, {"a[contrastive] - a[caption]": differ}
    )
    largest = runs.column("N") > LARGE
    mine, theirs = parts(runs, largest, "the largest architectures")
    held = bs.fit(law, mine, seed=1, progress=False)
    found = {}
    for objective in OBJECTIVES:
        of_it = np.asarray(theirs.table["objective"] == objective)
        found[objective] = errors(held, theirs.select(of_it, objective))
    say_errors("the largest architectures, predicted from the others", found)


if __name__ == "__main__":
    main()
