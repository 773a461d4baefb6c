"""160 models of 33 families on the leaderboard: components, compute by family, tuned for chat.

Run it: ``python -m benchmarks.laws.sloth_leaderboard`` (BAYESCALE_DATA names the folder of data
sets). The table is that of arXiv:2412.06540.

Components come from five benchmarks. Families differ in what they make of compute (base models;
slopes and levels partially pooled). Then two other benchmarks, from these scores or from log
compute, with an effect of chat tuning and families' levels partially pooled; a third of the
families is left out at a time. SOURCE.md: 33 families, 46 chat-tuned rows, nothing fitted.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data.scores import Scores, capability_scores
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability import capability
from bayescale.tables import Table, render
from benchmarks.laws.obs_scaling import LEVELS
from benchmarks.laws.reporting import say

FILE = Path(os.environ["BAYESCALE_DATA"]) / "sloth_leaderboard" / "llm_benchmarks.csv"
MADE_OF = ["mmlu", "arc_c", "hellaswag", "winogrande", "truthfulqa"]
ASKED = ("gsm8k", "humaneval")
NO_ROLES = {"loss": "", "N": "", "D": "", "C": ""}
PARTS = 3
POOLING = {"P0": LEVELS}
LARGE = 3  # models of a family from which its slope is fitted


@cache
def scores() -> Scores:
    """Components of all models."""
    return capability_scores(pd.read_csv(FILE), benchmarks=MADE_OF)


@cache
def models() -> pd.DataFrame:
    """One row a model: scores, chat, and log compute on the scale of the first score."""
    frame = pd.read_csv(FILE)
    made = frame.merge(scores().to_frame(), on="model")
    made["chat"] = made["instruct"].astype(float)
    made["log_c"] = 0.15 * np.log(made["flops_1e21"] / 72)
    return made


def by_family() -> None:
    """Print what families make of compute: base models, slopes and levels partially pooled."""
    known = models().dropna(subset="flops_1e21").query("not instruct")
    known = known[known.groupby("family")["model"].transform("size") >= LARGE]
    runs = pd.DataFrame({"C": known["flops_1e21"] * 1e21, "score": known["S_1"]})
    runs["family"] = known["family"]
    pooled = {"theta": bs.partial("family"), "level": LEVELS}
    names = {"loss": "", "N": "", "D": ""}
    law = "observational-compute"
    fits = {
        "families": bs.fit(law, runs, pooling=pooled, columns=names, progress=False),
        "one law": bs.fit(law, runs, columns=names, progress=False),
    }
    expected = {"theta_pop": "above 0", "theta_sd": "families differ", "level_sd": "", "sigma": ""}
    families = dict.fromkeys(runs["family"])
    say(fits["families"], expected | {f"theta[{f}]": "" for f in families})
    print(bs.compare(fits, by="row", refit="never", progress=False), flush=True)


def laws(frame: pd.DataFrame) -> dict[str, tuple[bs.Law, list[str]]]:
    """The law from scores, and the same from log compute, with the columns of S."""
    names = tuple(frame["model"])
    known, options = Backbones.of(scores(), names), {"absorption": "none", "offsets": False}
    sizes = Backbones(names, tuple((float(c),) for c in frame["log_c"]))
    return {
        "scores": (capability(known, effects=("chat",), **options), list(scores().columns)),
        "log C": (capability(sizes, effects=("chat",), **options), ["log_c"]),
    }


def benchmark(name: str) -> list[list[str]]:
    """Errors on families that were left out, for one benchmark."""
    frame = models().dropna(subset=[name, "flops_1e21"]).reset_index(drop=True)
    families = np.array(sorted(set(frame["family"])))
    part = np.random.default_rng(4).permutation(len(families)) % PARTS
    fold = frame["family"].map(dict(zip(families, part, strict=True))).to_numpy()
    rows = []
    for source, (law, columns) in laws(frame).items():
        read = frame[[*columns, "chat", "family"]].copy()
        read.columns = [*(f"S_{k + 1}" for k in range(len(columns))), "chat", "family"]
        read["accuracy"] = frame[name]
        fit = bs.fit(law, read, pooling=POOLING, columns=NO_ROLES, progress=False)
        said = {"effect_chat": "", "A": "above 0", "P0_sd": "families differ", "sigma": ""}
        print(f"\n{name} from {source}")
        say(fit, said | ({f"lambda[{b}]": "" for b in MADE_OF} if source == "scores" else {}))
        parts = [left_out(law, read[fold != k], read[fold == k]) for k in range(PARTS)]
        error, inside = (sum(x) for x in zip(*parts, strict=True))
        spread = 100 * float(np.median(fit.draws("sigma")))
        seen = f"{inside} of {len(read)}"
        rows.append([name, source, f"{spread:.1f}", f"{100 * error / len(read):.2f}", seen])
    return rows


def left_out(law: bs.Law, mine: pd.DataFrame, held: pd.DataFrame) -> tuple[float, int]:
    """Sum of absolute errors on held-out families, and how many lie in their 90% interval."""
    settings = {"pooling": POOLING, "columns": NO_ROLES, "draws": 250, "progress": False}
    fit = bs.fit(law, mine, **settings)
    there = at_runs(fit, bs.read_runs(held, columns=NO_ROLES))
    low, middle, high = np.quantile(there.replicate, [0.05, 0.5, 0.95], axis=0)
    inside = (low <= there.observed) & (there.observed <= high)
    return float(np.abs(middle - there.observed).sum()), int(inside.sum())


def main() -> None:
    """Print components, families, and two benchmarks foretold."""
    for line in scores().describe():
        print(line)
    frame = models()
    print(f"{frame['family'].nunique()} families, {int(frame['chat'].sum())} chat-tuned models")
    by_family()
    rows = [row for name in ASKED for row in benchmark(name)]
    columns = ["benchmark", "from", "sigma %", "MAE %", "in 90%"]
    title = "a third of the families left out at a time (250 draws a chain)"
    print(render(Table(columns, rows, title, text=columns[:2]), 110), flush=True)


if __name__ == "__main__":
    main()
