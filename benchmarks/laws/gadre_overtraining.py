"""Over-trained runs on three corpora, losses on C4 (arXiv:2403.08540).

Run it: ``python -m benchmarks.laws.gadre_overtraining`` (BAYESCALE_DATA names the folder of data
sets).

The paper predicts the largest runs (1.4B parameters over-trained up to 32-fold, 6.9B parameters)
from small ones within 1%. Point fits of Chinchilla's law to all runs have alpha .253, .243, .223
and beta .262, .273, .290 on C4, RedPajama and RefinedWeb (SOURCE.md).
"""

import bayescale as bs
from bayescale.data.public import load_dataset
from benchmarks.laws.reporting import errors, parts, say, say_errors

CORPORA = {"c4": (0.253, 0.262), "rpj": (0.243, 0.273), "rw": (0.223, 0.290)}
LARGE = 1e9  # parameters of the runs that are held out


def main() -> None:
    """Print the posterior of each corpus, and errors on the largest runs."""
    found = {}
    for corpus, (alpha, beta) in CORPORA.items():
        runs = load_dataset(f"gadre-{corpus}")
        expected = {"E": "", "eta": f"{(alpha + beta) / 4:.3f}, half the mean of alpha and beta"}
        expected |= {"alpha": f"between {alpha} and {beta}", "a_M": "", "b_M": "", "M_opt": ""}
        say(bs.fit("overtraining", runs, seed=1, progress=False), expected | {"sigma": ""})
        fitted, held = parts(runs, runs.column("N") > LARGE, "above 1B parameters")
        for law in ("overtraining", "chinchilla"):
            fit = bs.fit(law, fitted, seed=1, progress=False)
            found[f"{corpus}, {law}"] = errors(fit, held)
    say_errors("runs above 1B parameters, predicted from smaller ones", found)


if __name__ == "__main__":
    main()
