"""13 vision representations in one recipe: do alignment and correspondence foretell the scores?

Run it: ``python -m benchmarks.laws.vision_encoder_law`` (BAYESCALE_DATA names the folder of data
sets). The table is that of arXiv:2408.16357.

The capability law on the vision side: S is alignment (A, measured on each benchmark) and
correspondence (C), each from 0 to 1 over the 13, in place of text scores; no data term. The paper
says that a combination of A and C is linearly related to performance (SOURCE.md: it fits a
quadratic of min-max scaled A and C; nothing was fitted there). 13 rows and five quantities: each
encoder is left out in turn, beside the mean of the others and A or C alone.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability import capability
from bayescale.tables import Table, render

FILE = Path(os.environ["BAYESCALE_DATA"]) / "vision_encoder_law" / "ablations_t.csv"
FULL_MARKS = {"mmbench_en": 100, "mme": 2000, "mmmu_val": 100, "ok_vqa": 100, "textvqa_val": 100,
              "vizwiz_vqa_val": 100, "scienceqa_img": 100, "seed_image": 100}  # fmt: skip
NO_ROLES = {"loss": "", "N": "", "D": "", "C": ""}
READ = {"A and C": ("A", "C"), "A": ("A",), "C": ("C",)}
LEFT_OUT = ("mmbench_en", "mme", "textvqa_val", "seed_image")  # where encoders differ most


def models() -> pd.DataFrame:
    """The table."""
    return pd.read_csv(FILE)


def factors(frame: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """A of this benchmark and C, each from 0 to 1 less its mean."""
    both = pd.DataFrame({"A": frame[f"{benchmark}_average"], "C": frame["corres"]})
    scaled = (both - both.min()) / (both.max() - both.min())
    return scaled - scaled.mean()


def read(frame: pd.DataFrame, benchmark: str, names: tuple[str, ...]) -> tuple:
    """The law for some factors, and the table as it reads it."""
    chosen = factors(frame, benchmark)[list(names)]
    points = tuple(tuple(float(x) for x in row) for row in chosen.to_numpy())
    law = capability(Backbones(tuple(frame["model"]), points), absorption="none", offsets=False)
    columns = {f"S_{k + 1}": chosen[n] for k, n in enumerate(names)}
    return law, pd.DataFrame(columns).assign(accuracy=frame[benchmark] / FULL_MARKS[benchmark])


def left_out(law: bs.Law, table: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Absolute error on each encoder from the others, and how many lie in their 90% interval."""
    errors, inside = [], 0
    for k in range(len(table)):
        fit = bs.fit(law, table.drop(index=k), columns=NO_ROLES, draws=250, progress=False)
        there = at_runs(fit, bs.read_runs(table.loc[[k]], columns=NO_ROLES))
        low, middle, high = np.quantile(there.replicate[:, 0], [0.05, 0.5, 0.95])
        errors.append(abs(middle - there.observed[0]))
        inside += int(low <= there.observed[0] <= high)
    return np.array(errors), inside


def main() -> None:
    """Print, for each benchmark, weights of A and C, and errors on encoders left out."""
    frame, weights, rows = models(), [], []
    for benchmark in FULL_MARKS:
        for name, names in READ.items():
            law, table = read(frame, benchmark, names)
            fit = bs.fit(law, table, columns=NO_ROLES, progress=False)
            there = at_runs(fit, fit.runs)
            left = there.observed - np.median(there.mean, axis=0)
            share = 1 - left.var() / there.observed.var()
            row = [benchmark, name, f"{share:.2f}", f"{100 * np.median(fit.draws('sigma')):.1f}"]
            if name == "A and C":
                weights.append(_weights(benchmark, fit))
            if name == "A and C" and benchmark in LEFT_OUT:
                errors, inside = left_out(law, table)
                others = table["accuracy"].to_numpy()
                flat = np.abs(others - (others.sum() - others) / (len(others) - 1))
                row += [f"{100 * x.mean():.2f}" for x in (errors, flat)]
                row += [f"{inside} of {len(frame)}"]
            rows.append(row + ["–"] * (7 - len(row)))
    columns = ["benchmark", "A (transfer)", "90%", "w of A", "90%", "w of C", "90%", "gate"]
    print(render(Table(columns, weights, "P = P0 + A (w . (A, C))", text=columns[:1]), 130))
    columns = ["benchmark", "from", "R2", "sigma %", "MAE %", "MAE % of the mean", "in 90%"]
    title = "errors: each of the 13 encoders left out in turn (250 draws a chain)"
    print(render(Table(columns, rows, title, text=columns[:2]), 110), flush=True)


def _weights(benchmark: str, fit: bs.Fit) -> list[str]:
    row = [benchmark]
    for draws in (fit.draws("A"), *fit.draws("w").T):
        low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
        row += [f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
    return [*row, fit.gate.headline().partition(" (")[0].lower()]


if __name__ == "__main__":
    main()
