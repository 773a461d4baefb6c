"""One 100M model under three learning-rate schedules: what a half-seen curve says of its end.

Run it: ``python -m benchmarks.laws.lr_schedule_curves`` (BAYESCALE_DATA names the folder).

A power law in tokens is fitted to the first half of each curve and predicts its last twentieth.
The learning rate falls behind the first half, which no law of tokens knows: the loss falls faster
than the law says. SOURCE.md has the means of the last 200 steps: 2.661 for 811 (step decay), 2.656
for wsd and 2.664 for cosine.
"""

import os

import numpy as np

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.tables import Table

FILE = "lr_schedule_curves/lr_schedule_curves.csv"
CURVES = bs.Curves(run="run_id", drop_before="step=2000", smooth=5)
NOISES = {
    "independent": bs.Noise(),
    "AR(1) in ln D": bs.Noise(runs="run_id", along="D", offset=False),
}
EXPECTED = {"811": 2.661, "wsd": 2.656, "cosine": 2.664}
HALF, END = 10e9, 19e9  # tokens


def main() -> None:
    """Print predicted and observed ends of the three curves."""
    path = f"{os.environ['BAYESCALE_DATA']}/{FILE}"
    columns = [
        "schedule", "noise", "E", "exponent", "predicted end", "90%", "observed",
        "SOURCE.md", "rows", "verdict",
    ]  # fmt: skip
    rows = []
    for schedule, expected in EXPECTED.items():
        runs = bs.read_runs(path, loss="loss", where=f"schedule == '{schedule}'", curves=CURVES)
        tokens = runs.column("D")
        first = runs.select(tokens < HALF, "first half")
        end = runs.select(tokens > END, "last twentieth")
        for name, noise in NOISES.items():
            fit = bs.fit("power-law-D", first, noise=noise, draws=2000, progress=False)
            rows.append([schedule, name, *cells(fit, end), f"{expected:.3f}"])
            rows[-1] += [str(len(first)), fit.gate.headline().split(" (")[0]]
    print(Table(columns, rows, "Ends of curves predicted from their first half"))


def cells(fit: bs.Fit, end: bs.Runs) -> list[str]:
    """E, exponent, the predicted mean loss of the end with its interval, and the observed one."""
    there = at_runs(fit, end)
    mean = there.replicate.mean(axis=1)  # of the end's checkpoints together
    low, middle, high = np.quantile(mean, [0.05, 0.5, 0.95])
    summary = fit.summary
    return [
        *(f"{summary.loc[n, 'median']:.2f} ± {summary.loc[n, 'sd']:.2f}" for n in ("E", "alpha")),
        f"{middle:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{there.observed.mean():.3f}",
    ]


if __name__ == "__main__":
    main()
