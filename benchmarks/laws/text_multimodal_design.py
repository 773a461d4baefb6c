"""The text/multimodal grid, simulated with the published exponents (arXiv:2607.22043).

Run it: ``python -m benchmarks.laws.text_multimodal_design [SEEDS]``.

The paper's run table is not public; its design and its allocation exponents are, the rest are
stand-ins (`bayescale.data.designs.text_multimodal`). Counted is how often 90% intervals hold the
values that the losses were made with, over several seeds; and whether the invariance of text is
found where it is there, and not where it isn't.
"""

import sys

import numpy as np

import bayescale as bs
from bayescale.answers.composition import optima
from bayescale.data.designs.text_multimodal import BUDGET, RATIOS, simulate_text_multimodal, truth
from bayescale.tables import Table
from benchmarks.laws.reporting import say

BUDGETS = (1e19, 1e22)
VARIANTS = {
    "multimodal varies": "decoupled",
    "both vary": "decoupled:varying=text+multimodal",
    "neither varies": "decoupled:varying=none",
}
EXPECTED = {
    "a[text]": ".663 to .697, mean .678",
    "a_at[multimodal,0.1]": ".709",
    "a_at[multimodal,0.2]": ".679",
    "a_at[multimodal,0.3]": ".643",
    "a_slope[multimodal]": "falls",
    "gamma[text]": "stand-in .16",
    "gamma[multimodal]": "stand-in .17",
    "E[text]": "stand-in 1.7",
    "E[multimodal]": "stand-in 1.3",
}


def quantities(fit: bs.Fit) -> dict[str, tuple[np.ndarray, float]]:
    """Draws of each quantity that is known, and its value."""
    known = truth()
    found = {"a[text]": (fit.draws("a")[:, 0], known["a[text]"])}
    for k, r in enumerate(RATIOS[1:]):
        found[f"a[multimodal] at {r}"] = fit.draws("a_at")[:, 0, k], known[f"a[multimodal,{r:g}]"]
    for name in ("E", "gamma"):
        for k, o in enumerate(("text", "multimodal")):
            found[f"{name}[{o}]"] = fit.draws(name)[:, k], known[f"{name}[{o}]"]
    for k, o in enumerate(("text", "multimodal")):
        best = optima(fit, BUDGET[o], 0.2)
        found[f"N_opt[{o}]"] = best.draws["N_opt"][:, k, 0, 0], known[f"N0[{o}]"]
    return found


def main(seeds: int) -> None:
    """Print one fit, coverage over the seeds, optima, and the invariances compared."""
    inside: dict[str, list[bool]] = {}
    falls, cost = [], []
    for seed in range(seeds):
        fit = bs.fit("decoupled", simulate_text_multimodal(seed), seed=1, progress=False)
        if seed == 0:
            say(fit, EXPECTED)
            print(optima(fit, BUDGETS))
        for name, (draws, value) in quantities(fit).items():
            low, high = np.quantile(draws, [0.05, 0.95])
            inside.setdefault(name, []).append(bool(low < value < high))
        falls.append(float((fit.draws("a_slope") < 0).mean()))
        cost.append(float(fit.record["gradients_per_draw"]))
    rows = [[name, f"{sum(held)} of {len(held)}"] for name, held in inside.items()]
    total = [x for held in inside.values() for x in held]
    rows.append(["all", f"{sum(total)} of {len(total)} ({np.mean(total):.0%})"])
    notes = [
        f"P(the multimodal exponent falls with r): {min(falls):.3f} to {max(falls):.3f}",
        f"gradients a draw: {min(cost):.1f} to {max(cost):.1f}",
    ]
    print(Table(["", "90% intervals that hold it"], rows, f"{seeds} seeds", notes=notes))
    invariances()


def invariances() -> None:
    """Whether text's invariance shows in its slopes, and in what leaving runs out says."""
    table = simulate_text_multimodal(0)
    fits = {name: bs.fit(law, table, seed=1, progress=False) for name, law in VARIANTS.items()}
    expected = {"text": "0", "multimodal": "not 0"}
    names = ("a_slope", "K_slope", "N0_slope")
    say(fits["both vary"], {f"{n}[{o}]": said for n in names for o, said in expected.items()})
    print(bs.compare(fits, by="run", progress=False))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
