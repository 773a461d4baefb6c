"""Do text scores of the base model foretell a VLM's scores, in families that were not seen?

96 open VLMs of many recipes (OpenVLM leaderboard); the base models' text scores are those of
obs_scaling, whose 148 base models make the components. The recipes differ, so the scatter is
recipe, not noise: the release date goes into both laws. SOURCE.md gives R2 only.
"""

from functools import cache

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.data import read_runs
from bayescale.data.scores import Scores, capability_scores
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability import capability
from bayescale.tables import Table, render
from benchmarks.laws.reporting import say

BENCHMARKS = ["MMLU", "ARC-C", "HellaSwag", "Winograd", "TruthfulQA", "GSM8K", "XWinograd"]
BENCHMARKS += ["HumanEval"]
NO_ROLES = {"loss": "", "N": "", "D": "", "C": ""}  # D would be the base model's own tokens
RESPONSES = {
    "mean of 8": "0.56 (MMStar) with the first component, 0.14 with log N",
    "vlm_mmmu_val": "0.70 with the first component, 0.32 with log N",
    "vlm_ocrbench": "0.19 with the first component, 0.01 with log N",
}
LINEAGES = ("Llama", "Qwen", "InternLM", "Yi", "Gemma", "Mi")  # Mistral and Mixtral; then the rest


def table() -> pd.DataFrame:
    """One row a VLM: base model, its lineage, ln N, year, responses as fractions."""
    frame = read_runs("vlm-capability").table
    scores = [c for c in frame if str(c).startswith("vlm_")]
    made = frame.assign(model=frame["base_llm"], **{"mean of 8": frame[scores].mean(axis=1)})
    made[[*scores, "mean of 8"]] /= 100
    made["year"] = (pd.to_datetime(made["date"]) - pd.Timestamp("2024-01-01")).dt.days / 365.25
    made["log_n"] = 0.25 * np.log(made["base_llm_params_b"] / 7)  # spread like the scores
    known = made["base_llm_family"].astype(str)
    made["lineage"] = [next((x for x in LINEAGES if f.startswith(x)), "other") for f in known]
    return made


@cache
def scores() -> Scores:
    """Components of 148 base models."""
    base = read_runs("obs-scaling").table
    return capability_scores(base, model="Model", benchmarks=BENCHMARKS)


def laws(frame: pd.DataFrame) -> dict[str, tuple[bs.Law, pd.DataFrame]]:
    """The capability law, the same with log N in place of scores, and neither."""
    models = tuple(dict.fromkeys(frame["model"]))
    known = Backbones.of(scores(), models)
    sizes = tuple((float(n),) for n in frame.drop_duplicates("model")["log_n"])
    options = {"absorption": "none", "effects": ("year",), "offsets": False}
    each = known.array[[models.index(m) for m in frame["model"]]]
    columns = {f"S_{k}": each[:, int(k) - 1] for k in known.components}
    return {
        "text scores": (capability(known, **options), frame.assign(**columns)),
        "log N": (
            capability(Backbones(models, sizes), **options),
            frame.assign(S_1=frame["log_n"]),
        ),
    }


def left_out(law: bs.Law, frame: pd.DataFrame) -> pd.DataFrame:
    """Errors of each lineage when the law is fitted to the others."""
    rows = []
    for lineage in dict.fromkeys(frame["lineage"]):
        inside = frame["lineage"] != lineage
        fit = bs.fit(law, frame[inside], columns=NO_ROLES, draws=500, progress=False)
        held = frame[~inside]
        found = fit.predict(**{c: held[c].tolist() for c in (*law.columns,)})
        low, middle, high = np.quantile(found.new_run, [0.05, 0.5, 0.95], axis=0)
        actual = held["accuracy"].to_numpy()
        rows.append(
            {
                "lineage": lineage,
                "n": len(held),
                "error": np.abs(middle - actual).sum(),
                "inside": ((low <= actual) & (actual <= high)).sum(),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print posteriors, and errors with each lineage left out."""
    frame, rows = table(), []
    for response, expected in RESPONSES.items():
        named = frame.assign(accuracy=frame[response])
        fits = {}
        for name, (law, read) in laws(named).items():
            fits[name] = bs.fit(law, read, columns=NO_ROLES, progress=False)
            out = left_out(law, read)
            each = ", ".join(f"{r.lineage} {100 * r.error / r.n:.1f}" for r in out.itertuples())
            total = out[["n", "error", "inside"]].sum()
            spread = fits[name].draws("sigma")
            rows.append(
                [
                    response,
                    name,
                    f"{100 * total.error / total.n:.2f}",
                    f"{int(total.inside)} of {int(total.n)}",
                    f"{100 * np.median(spread):.1f}",
                    each,
                ]
            )
        print(f"\n{response}: R2 {expected}")
        size = {"A": "above 0", "effect_year": "above 0", "sigma": ""}
        say(fits["log N"], size)
        say(fits["text scores"], size | {f"lambda[{b}]": "" for b in BENCHMARKS})
        signs = (fits["text scores"].draws("lambda") < 0).mean(axis=0)
        print("P(lambda < 0):", dict(zip(BENCHMARKS, np.round(signs, 2).tolist(), strict=True)))
    columns = ["response", "law", "MAE %", "in 90%", "sigma %", "MAE % by lineage left out"]
    print(render(Table(columns, rows, title="each lineage left out", text=columns), 170))


if __name__ == "__main__":
    main()
