"""Is the exponent the same in all mixtures, and are size and data exponent equal?

Run it: ``python -m benchmarks.answers.invariance`` (BAYESCALE_DATA names the folder of data sets).

The text/multimodal grid is simulated with the published exponents (arXiv:2607.22043: text the same
in all mixtures, multimodal a from .709 at r = .1 to .643 at .3). Equal exponents are asked of the
replicated Chinchilla runs (arXiv:2404.10102: alpha .348, beta .366), of a corpus whose exponents
SOURCE.md finds far apart (marin dclm: .686 and .405), and of repeated data on C4, where
arXiv:2305.16264 ties them.
"""

import bayescale as bs
from bayescale.data.designs import simulate_text_multimodal
from bayescale.data.overrepetition import harmed
from bayescale.data.public import load_dataset

OPTIONS = {"refit": "never", "progress": False}


def main() -> None:
    """Print the tests, each with what is expected of it."""
    fit = bs.fit("decoupled", simulate_text_multimodal(0), seed=1, progress=False)
    print("\ntext/multimodal design; expected: falls by .066, tied exponents worse, text alike")
    print(bs.invariance(fit, **OPTIONS), flush=True)
    both = bs.fit(
        "decoupled:varying=text+multimodal", simulate_text_multimodal(0), seed=1, progress=False
    )
    print("\nboth objectives let vary; expected: 0 for text, -.066 for multimodal")
    print(bs.invariance(both, loo=False), flush=True)
    runs = load_dataset("datablations-repetition")
    sound = bs.read_runs(runs.select(~harmed(runs), "not harmed"), where="D <= 40 * U")
    cases = {
        "chinchilla-epoch; expected: not told apart": ("chinchilla", "chinchilla-epoch"),
        "marin-dclm; expected: apart, by .28": ("chinchilla", "marin-dclm"),
        "datablations, up to 40 epochs; the paper ties them": ("repetition", sound),
    }
    for title, (law, data) in cases.items():
        print(f"\n{title}")
        one = bs.fit(law, data, seed=1, progress=False)
        print(bs.equal_exponents(one, **OPTIONS), flush=True)


if __name__ == "__main__":
    main()
