"""Data Mixing Laws: five and seven training domains, 70M to 1B parameters (arXiv:2403.16952).

Run it: ``python -m benchmarks.laws.mixinglaws`` (BAYESCALE_DATA names the folder of data sets).

Runs at 30,000 steps, so all have seen 31B tokens and the data term is known by the shares alone.
The five domains (academic, prose, dialogue, symbolic, internet) are none of the validation sets:
each token's worth w is beside one drawn evenly from all five. Of the seven RedPajama domains
github, arxiv and stackexchange are validation sets too, so additive transfer counts in own tokens.
SOURCE.md: an exponential law of the shares for each size and set leaves an SD of log residual of
.007 to .011 (github), .014 (arxiv), .003 to .004 (pile_cc), .003 (pg19), .007 to .012 (europarl).
One mixture of RedPajama (run 999) sums to 1.0199 and is an error unless it is divided by its sum.
Held out: the size of 1B, and a quarter of the mixtures at all sizes.
"""

import os
from pathlib import Path

import numpy as np

import bayescale as bs
from bayescale.choosing import choose
from bayescale.errors import DataError
from bayescale.law import Law
from bayescale.tables import Table
from benchmarks.laws.reporting import errors, parts, say, say_errors
from benchmarks.laws.slimpajama_mixtures import residuals

FOLDER = Path(os.environ["BAYESCALE_DATA"]) / "mixinglaws"
AT = {"where": "step == 30000"}
SETS = {
    "five domains": ("five_domain.csv", "github+arxiv+pile_cc+pg19+europarl", ""),
    "RedPajama": (
        "redpajama_seven_domain.csv",
        "github+arxiv+stackexchange+pile_cc+wikipedia_en",
        ",normalise=yes",
    ),
}
EXPECTED = {
    "five domains": {
        "w[symbolic→github]": "largest",
        "w[academic→arxiv]": "largest",
        "w[internet→pile_cc]": "largest",
        "w[prose→pg19]": "largest",
        "w[dialogue→europarl]": "largest",
    },
    "RedPajama": {
        "tau[stackexchange→github]": "",
        "tau[github→stackexchange]": "",
        "w[commoncrawl→pile_cc]": "largest, with c4",
        "w[wikipedia→wikipedia_en]": "largest",
    },
}


def main() -> None:
    """Print worths of tokens, residuals beside SOURCE.md's, and held-out sizes and mixtures."""
    try:
        choose("mixture:transfer=additive", FOLDER / "redpajama_seven_domain.csv", AT)
    except DataError as problem:
        print(problem)
    for name, (file, targets, more) in SETS.items():
        text = f"mixture:transfer=additive,targets={targets}{more}"
        law, runs = choose(text, FOLDER / file, AT)
        print(f"\n{name}")
        fit = bs.fit(law, runs, seed=1, progress=False)
        exponents = {f"{n}[{t}]": "" for t in law.axes["target"] for n in ("E", "alpha")}
        say(fit, EXPECTED[name] | exponents)
        rows = [[t, f"{sd:.4f}"] for t, sd in residuals(fit).items()]
        print(Table(["target", "SD of log residual"], rows), flush=True)
        hold_out(name, law, runs)


def hold_out(name: str, law: Law, runs: bs.Runs) -> None:
    """Print errors on the largest size, and on mixtures that no run had."""
    mixture = np.round(np.stack([runs.column(f"D_{s}") for s in law.axes["source"]], 1) / 1e6)
    _, which = np.unique(mixture, axis=0, return_inverse=True)
    some = np.random.default_rng(5).permutation(which.max() + 1) < (which.max() + 1) / 4
    held = {"1B": runs.column("N") > 6e8, "a quarter of the mixtures": some[which.ravel()]}
    found = {}
    for what, mask in held.items():
        mine, theirs = parts(runs, mask, what)
        found[what] = errors(bs.fit(law, mine, seed=1, progress=False), theirs)
    say_errors(f"{name}: held out", found)


if __name__ == "__main__":
    main()
