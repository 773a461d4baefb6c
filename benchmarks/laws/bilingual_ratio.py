"""Two languages at several ratios, one model size (arXiv:2404.07982).

Run it: ``python -m benchmarks.laws.bilingual_ratio`` (BAYESCALE_DATA names the folder of data
sets).

English with a clone of itself, and English with French (vocabularies apart or with shared
sub-words). One size says nothing of a size term: the decoupled law is fitted without it. With a
share's slope, tokens_slope says by how many e-folds one's own tokens gain from a share of 0 to one
of 1 (below 0: the other language's tokens help); the additive mixture says what a token of the
other language is worth beside one's own. SOURCE.md: clones at half and half reach 3.263 at .6B
tokens each, English alone 3.231 at .6B: no transfer, a slight dilution. At 90 to 10 the rarer clone
has 3.491 at .12B against 3.879 alone: much transfer, so that neither form fits all ratios. French
with shared sub-words gains .02 to .09 over one without.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.choosing import choose
from bayescale.data.mixtures import read_mixtures
from bayescale.laws.mixture import mixture
from bayescale.tables import Table
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "bilingual_ratio" / "bilingual_ratio.csv"
PLAIN = "schedule == 'constant' and n_languages <= 2"
FRENCH = "experiment != 'english_clone'"
SETS = {
    "English + clone": "experiment == 'english_only' or experiment == 'english_clone'",
    "English + French, shared sub-words": f"{FRENCH} and vocabulary != 'disjoint'",
    "English + French, apart": f"{FRENCH} and vocabulary != 'anchored'",
}
NOISE = bs.log_normal()  # a dozen or two runs say nothing of a tail


def rows(law: str, where: str) -> tuple[Any, bs.Runs]:
    """Runs at a constant ratio with one or two languages."""
    return choose(law, FILE, {"where": f"({PLAIN}) and ({where})"})


def main() -> None:
    """Print what the share does, what a token of the other language is worth, and held-out runs."""
    found = {}
    for name, where in SETS.items():
        print(f"\n{name}")
        law, runs = rows("decoupled", where)
        fit = bs.fit(law, runs, noise=NOISE, seed=1, progress=False)
        expected = {f"{n}[{o}]": "" for n in ("E", "beta") for o in ("first", "second")}
        say(fit, expected | {f"tokens_slope[{o}]": SAID[name] for o in ("first", "second")})
        worth(where)
        half = np.isclose(runs.column("D_first"), runs.column("D_second"), rtol=1e-3)
        none, _ = rows("decoupled:varying=none", where)
        for which, variant in (("share varies", law), ("own tokens alone", none)):
            mine, theirs = parts(runs, half, "half and half")
            found[f"{name}: {which}"] = errors(
                bs.fit(variant, mine, noise=NOISE, seed=1, progress=False), theirs
            )
    say_errors("runs at half and half, predicted from other ratios", found)


SAID = {
    "English + clone": "0 at half and half, below 0 with 90 to 10",
    "English + French, shared sub-words": "below that of apart: shared sub-words help",
    "English + French, apart": "",
}


def worth(where: str) -> None:
    """What a token of the other language is worth beside one's own, by the additive mixture."""
    law = mixture(("first", "second"), transfer="additive", repetition=False, size=False)
    runs = read_mixtures(FILE, shares={}, where=f"({PLAIN}) and ({where})")
    fit = bs.fit(law, runs, noise=NOISE, seed=1, progress=False)
    lines = []
    for k, label in enumerate(fit.law.axes["transfer"]):
        low, middle, high = np.quantile(fit.draws("tau")[:, k], [0.05, 0.5, 0.95])
        lines.append([label, f"{middle:.3f}", f"{low:.3f} to {high:.3f}"])
    print(
        Table(["a token of", "is worth", "90%"], lines, f"additive mixture: {fit.gate.headline()}")
    )


if __name__ == "__main__":
    main()
