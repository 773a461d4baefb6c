"""C4 text mixed with Python code: what is a token of code worth? (arXiv:2305.16264)

Run it: ``python -m benchmarks.laws.datablations_code_mix`` (BAYESCALE_DATA names the folder of
data sets).

One 4.2B model at 84B tokens, ten shares of text, only the text loss. One size and one loss: the
additive mixture has no size term, and what is left is E + B/(D_text + tau D_code)^beta, four
parameters and the noise for ten runs. SOURCE.md found by least squares E 2.31, tau .093, beta .745,
SD of log residual .0006. The 10% share is held out: the fewest own tokens, where transfer counts
most.
"""

import os
from pathlib import Path

import bayescale as bs
from bayescale.choosing import choose
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "datablations_code_mix" / "code_mix.csv"
NOISE = bs.log_normal(by="target")  # ten runs say nothing of a tail
EXPECTED = {
    "E[text]": "2.31",
    "beta[text]": ".745",
    "tau[code→text]": ".093",
    "sigma[text]": ".0006",
}


def main() -> None:
    """Print a code token's worth in text tokens, and the run that was held out."""
    law, runs = choose("mixture:transfer=additive", FILE, {})
    none, _ = choose("mixture:transfer=none", FILE, {})
    fit = bs.fit(law, runs, noise=NOISE, seed=1, progress=False)
    say(fit, EXPECTED)
    fitted, held = parts(runs, runs.column("D_text") < 1e10, "a tenth of text")
    found = {
        name: errors(bs.fit(one, fitted, noise=NOISE, seed=1, progress=False), held)
        for name, one in {"additive": law, "own tokens alone": none}.items()
    }
    say_errors("10% text, predicted from 20% to 100%", found)


if __name__ == "__main__":
    main()
