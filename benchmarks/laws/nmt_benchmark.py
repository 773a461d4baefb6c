"""Translation loss against sentence pairs for five architectures (arXiv:2209.06640).

Run it: ``python -m benchmarks.laws.nmt_benchmark`` (BAYESCALE_DATA names the folder of data sets).

Sizes up to 256M pairs are fitted, 512M pairs are held out, as in the benchmark: 9 or 10 points an
architecture. A plain power law predicts too low a loss there, by .02 to .07 in log by least
squares (SOURCE.md).
"""

import bayescale as bs
from bayescale.data.public import load_dataset
from benchmarks.laws.reporting import errors, parts, say, say_errors

LAWS = {"power law": "power-law-D", "one break": "broken-power-law-D"}
MODELS = ("6enc-6dec", "28enc-6dec", "6enc-28dec", "dec-only", "tenc-lstm")
BREAK = ("E", "c_0", "slope_1", "d_1", "f_1", "sigma")


def main() -> None:
    """Print errors at the held-out size for both laws, and the breaks."""
    found = {}
    for model in MODELS:
        runs = load_dataset(f"nmt-{model}")
        fitted, held = parts(runs, runs.column("split") == "extrapolate", "512M pairs")
        for name, law in LAWS.items():
            fit = bs.fit(law, fitted, draws=2000, warmup=1000, seed=1, progress=False)
            verdict = fit.gate.headline().partition(" (")[0].lower()
            found[f"{model}, {name} ({verdict})"] = errors(fit, held)
            if name == "one break":
                say(fit, dict.fromkeys(BREAK, ""))
    say_errors("512M sentence pairs, predicted from up to 256M", found)


if __name__ == "__main__":
    main()
