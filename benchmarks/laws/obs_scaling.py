"""Observational laws: capability from compute by family, and tasks from capability.

148 base models (obs_scaling); the tasks of 84 of them. Models below a compute are fitted, those
above it predicted, from capability scores and from log compute alone, as in arXiv:2405.10938 (cut
at 8.4e22 FLOP). Few models below the cut do the tasks at all: least squares of the same curves
errs above it by 2 to 48 points too, whether from scores or from compute.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.data import read_runs
from bayescale.data.scores import capability_scores
from bayescale.laws.observational import observational
from bayescale.tables import Table, render
from benchmarks.laws.reporting import say
from benchmarks.laws.vlm_capability import BENCHMARKS

CUT = 84.0  # 1e21 FLOP
TASKS = (
    "word_unscrambling_2_exact_match",
    *(f"arithmetic_{k}_2_acc" for k in ("3ds", "2dm", "2da")),
)
NO_ROLES = {"loss": "", "N": "", "D": "", "C": ""}
LEVELS = bs.partial("family", bs.priors.HalfNormal(0.15))


def models() -> pd.DataFrame:
    """One row a model: family, compute, scores, and log compute on their scale."""
    base = read_runs("obs-scaling").table
    made = capability_scores(base, model="Model", benchmarks=BENCHMARKS).to_frame()
    made["family"], made["compute"] = base["Model Family"], base["FLOPs (1E21)"].astype(float)
    made["log_c"] = 0.15 * np.log(made["compute"] / 20)
    return made


def by_family(frame: pd.DataFrame) -> None:
    """The first component against compute, with families' slopes and levels partially pooled."""
    known = frame.dropna(subset="compute")
    known = known[known.groupby("family")["family"].transform("size") >= 3]
    runs = pd.DataFrame({"C": known["compute"] * 1e21, "score": known["S_1"]})
    runs["family"] = known["family"]
    fit = bs.fit(
        "observational-compute",
        runs,
        pooling={"theta": bs.partial("family"), "level": LEVELS},
        columns={"loss": "", "N": "", "D": ""},
        progress=False,
    )
    say(fit, {"theta_pop": "above 0; families differ", "theta_sd": "", "level_sd": "", "sigma": ""})


def errors(frame: pd.DataFrame, task: str) -> list[list[str]]:
    """Errors above the cut, from scores and from compute."""
    small, rows = frame["compute"] < CUT, []
    for name, columns in (("scores", ["S_1", "S_2", "S_3"]), ("log C", ["log_c"])):
        read = frame[columns].set_axis([f"S_{k + 1}" for k in range(len(columns))], axis=1)
        law = observational(tuple(str(k + 1) for k in range(len(columns))))
        runs = read.assign(accuracy=frame[task])
        fit = bs.fit(law, runs[small], columns=NO_ROLES, progress=False)
        held = read[~small]
        found = fit.predict(**{c: held[c].tolist() for c in held})
        low, middle, high = np.quantile(found.new_run, [0.05, 0.5, 0.95], axis=0)
        actual = frame[task][~small].to_numpy()
        inside = ((low <= actual) & (actual <= high)).sum()
        mae = 100 * np.abs(middle - actual).mean()
        steps = f"{fit.record['gradients_per_draw']:.0f}"
        gate = fit.gate.headline().partition(" (")[0]
        spread = f"{100 * np.median(fit.draws('sigma')):.1f}"
        rows.append([task, name, spread, f"{mae:.1f}", f"{inside} of {len(held)}", steps, gate])
    return rows


def main() -> None:
    """Print families' slopes, and errors on the models of more compute."""
    frame = models()
    by_family(frame)
    folder = Path(os.environ["BAYESCALE_DATA"]) / "obs_scaling"
    tasks = pd.read_csv(folder / "base_llm_emergent_capability_eval.csv")
    joined = frame.merge(tasks, left_on="model", right_on="Model").dropna(subset="compute")
    print(f"{(joined['compute'] < CUT).sum()} models fitted, of {len(joined)}")
    rows = [row for task in TASKS for row in errors(joined.reset_index(drop=True), task)]
    columns = ["task", "from", "sigma %", "MAE %", "in 90%", "gradients a draw", "gate"]
    title = "models above 8.4e22 FLOP, predicted from those below"
    print(render(Table(columns, rows, title, text=columns[:2]), 130))


if __name__ == "__main__":
    main()
