"""Four-digit addition: loss against training examples, with a sharp fall (arXiv:2210.14891).

Run it: ``python -m benchmarks.laws.bnsl_addition`` (BAYESCALE_DATA names the folder of data sets).

The authors fit 14 points, the last of them in the middle of the fall, and predict three behind it;
least squares with one break misses those by an RMSE of .011 in log loss (SOURCE.md).
"""

import bayescale as bs
from bayescale.data.public import load_dataset
from benchmarks.laws.reporting import errors, parts, say, say_errors

LAWS = {"power law": "power-law-D", "one break": "broken-power-law-D"}
EXPECTED = {
    "E": "",
    "c_0": "",
    "c_1": "",
    "d_1": "in the fall, between 512 and 736 examples",
    "f_1": "sharp: far below 1",
    "sigma": ".0006 (SD of least squares)",
}


def main() -> None:
    """Print the posterior, and the errors on the three held-out points."""
    runs = load_dataset("addition")
    fitted, held = parts(runs, runs.column("split") == "extrapolate", "held out by the authors")
    fits = {
        name: bs.fit(law, fitted, draws=4000, seed=1, progress=False) for name, law in LAWS.items()
    }
    say(fits["one break"], EXPECTED)
    for problem in fits["power law"].gate.problems:
        print(f"power law: {problem}")
    say_errors("three held-out points", {name: errors(fit, held) for name, fit in fits.items()})


if __name__ == "__main__":
    main()
