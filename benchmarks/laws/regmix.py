"""RegMix: 512 mixtures of 17 domains at 1M parameters, 256 others held out (arXiv:2407.01492).

Run it: ``python -m benchmarks.laws.regmix`` (BAYESCALE_DATA names the folder of data sets).

Only shares, one size, and the same (unstated) tokens for all: tokens are counted in units of a run,
and the table says that the law has no size term. Shares are rounded, many are 0, so only additive
transfer is defined. Four of the 13 validation domains, each with its own tokens. 17 domains, most
of which don't act on each other: beside it the regularised horseshoe. SOURCE.md: an exponential law
of all shares leaves an SD of log residual of .016 (pile_cc), .070 (github), .072 (arxiv), .026
(wikipedia); raw spread .056, .194, .193, .092. The models are tiny and noisy. The set is for rank
transfer: the order of mixtures at 1M against that at 60M (the same 256) and 1B (64 others).
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.choosing import choose
from bayescale.tables import Table
from benchmarks.laws.reporting import errors, say, say_errors, timed_fit
from benchmarks.laws.slimpajama_mixtures import residuals

FOLDER = Path(os.environ["BAYESCALE_DATA"]) / "regmix"
TARGETS = "pile_cc+github+arxiv+wikipedia_en"
SAID = {"pile_cc": ".016", "github": ".070", "arxiv": ".072", "wikipedia_en": ".026"}
PARTS = ("test_1m", "test_60m", "test_1B")
DRAWS = 2000  # a chain: one transfer of the sparse law is either .3 or next to nothing
EXPECTED = {
    "tau[stackexchange→github]": "close",
    "tau[pile_cc→wikipedia_en]": "",
    "tau[wikipedia_en→pile_cc]": "",
    "tau[dm_mathematics→pile_cc]": "far",
}


def table(part: str) -> pd.DataFrame:
    """Mixtures and losses of one part, run by run."""
    mixture = pd.read_csv(FOLDER / f"{part.replace('_', '_mixture_')}.csv")
    return mixture.merge(
        pd.read_csv(FOLDER / f"{part.replace('_', '_pile_loss_')}.csv"), on="index"
    )


def main() -> None:
    """Print transfers, residuals beside SOURCE.md's, and errors on mixtures that were held out."""
    found, seen, ranks = {}, {}, []
    for name, options in {"additive": "", "additive, sparse": ",sparse=yes"}.items():
        text = f"mixture:transfer=additive,targets={TARGETS}{options}"
        law, runs = choose(text, table("train_1m"), {})
        fit = timed_fit(law, runs, draws=DRAWS)
        say(fit, EXPECTED)
        seen[name] = residuals(fit)
        _, held = choose(text, table("test_1m"), {})
        found[name] = errors(fit, held)
        ranks += [[name, part, *_ranks(fit, text, part)] for part in PARTS]
    print(next(f.message for f in runs.flags if "no size term" in f.message))
    rows = [[t, *(f"{seen[n][t]:.4f}" for n in seen), SAID[t]] for t in SAID]
    print(Table(["target", *seen, "SOURCE.md"], rows, "SD of log residual"), flush=True)
    raw = {t: float(np.std(np.log(runs.column("loss")[runs.column("target") == t]))) for t in SAID}
    print("raw spread: " + ", ".join(f"{t} {s:.3f}" for t, s in raw.items()))
    say_errors("256 other mixtures at 1M", found)
    ranks.append(["the losses at 1M themselves", "test_60m", *_between("test_1m", "test_60m")])
    title = "rank correlation of predictions from 1M with losses (SOURCE.md gives none)"
    print(Table(["", "of", *SAID], ranks, title), flush=True)


def _ranks(fit: bs.Fit, text: str, part: str) -> list[str]:
    """Spearman's correlation of predicted and observed losses, by target."""
    from scipy.stats import spearmanr

    _, held = choose(text, table(part), {})
    there, target = at_runs(fit, held, draws=400), held.column("target")
    middle = np.median(there.mean, axis=0)
    return [f"{spearmanr(middle[target == t], there.observed[target == t])[0]:.3f}" for t in SAID]


def _between(one: str, other: str) -> list[str]:
    """Spearman's correlation of the losses of the same mixtures at two sizes, by target."""
    from scipy.stats import spearmanr

    both = [table(part).set_index("index") for part in (one, other)]
    columns = [f"metric/the_pile_{t}_val_loss" for t in SAID]
    return [f"{spearmanr(both[0][c], both[1][c])[0]:.3f}" for c in columns]


if __name__ == "__main__":
    main()
