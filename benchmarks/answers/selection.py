"""Do P(best), regret and crossovers of backbones hold what they say, and which benchmarks tax?

Run it: ``python -m benchmarks.answers.selection``.

Real: 96 vision-language models on 33 base models (vlm_capability); each lineage is left out, and
the base that the law chooses from text scores alone is set beside the one whose models really did
best, and beside the largest. Simulated: the 34 backbones of arXiv:2608.00013 with parameters drawn
from a posterior, so that the truth is known; 20 backbones have runs, 14 none, and P(best) is asked
of random sixes at random budgets.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.data.designs.capability import simulate_capability, truth
from bayescale.tables import Table, render
from benchmarks.laws.vlm_capability import NO_ROLES, laws, table

TRUTHS, SEEN, SIXES = 24, 20, 40
DESIGN = {"columns": {"C": ""}}


def real() -> None:
    """Print P(best) over 33 bases, and what the law chooses in lineages that it hasn't seen."""
    named = table()
    frame = named.assign(accuracy=named["vlm_mmmu_val"])
    law, read = laws(frame)["text scores"]
    noises = {
        "means of the law alone": law.default_noise,
        "each base with its own offset": replace(law.default_noise, runs="model"),
    }
    for title, noise in noises.items():
        fit = bs.fit(law, read, noise=noise, columns=NO_ROLES, progress=False)
        print(f"\n{title}\n{bs.select(fit)}")
        print(bs.transfer_tax(fit))
        _lineages(law, read, noise, title)


def _lineages(law: bs.Law, read: pd.DataFrame, noise: bs.Noise, title: str) -> None:
    rows, lineages = [], read["lineage"].to_numpy()
    for lineage in dict.fromkeys(lineages):
        inside = lineages != lineage
        held: Any = read[~inside]
        bases = list(dict.fromkeys(held["model"]))
        if len(bases) > 1:
            rest = bs.fit(law, read[inside], noise=noise, columns=NO_ROLES, draws=500,
                          progress=False)  # fmt: skip
            rows.append(_left_out(rest, held, bases, str(lineage)))
    columns = ["lineage", "bases", "chosen", "P(best)", "really best", "seen first"]
    columns += ["regret %", "of the largest %", "of a blind choice %"]
    said = f"each lineage left out: {title}"
    print(render(Table(columns, [r[0] for r in rows], said, text=columns[:5]), 170))
    hit, p, chance, ours, largest, blind = np.array([r[1] for r in rows]).T
    print(
        f"chosen base really best in {int(hit.sum())} of {len(rows)} lineages; expected by P(best) "
        f"{p.sum():.1f}, with the recipes' scatter {chance.sum():.1f}; mean regret "
        f"{ours.mean():.2f}%, of the largest base {largest.mean():.2f}%, blind {blind.mean():.2f}%"
    )


def _left_out(
    fit: bs.Fit, held: Any, bases: list[str], lineage: str
) -> tuple[list[str], list[float]]:
    """One lineage: what was chosen, what was best, and what the choice cost, in percent."""
    found = bs.select(fit, backbones=bases)
    year = float(np.median(fit.draws("effect_year")))
    level = held["accuracy"] - year * held["year"]
    actual = level.groupby(held["model"]).mean()[bases].to_numpy()
    first = found.standings[0][0]
    chosen, best = bases.index(first.model), int(np.argmax(actual))
    size = held.groupby("model")["log_n"].first()[bases].to_numpy()
    # a base's mean over few recipes scatters: how often would the chosen one come out first?
    count = held.groupby("model").size()[bases].to_numpy()
    rng, sigma = np.random.default_rng(1), fit.draws("sigma")[:, None]
    means = found.draws["accuracy"][:, 0]
    tail = np.stack(
        [rng.standard_t(np.tile(fit.draws("nu")[:, None], n)).mean(axis=1) for n in count], axis=1
    )
    chance = float((np.argmax(means + sigma * tail, axis=1) == chosen).mean())
    loss = 100 * (actual.max() - actual)
    shown = [lineage, str(len(bases)), first.model, f"{first.p_best:.2f}", bases[best]]
    shown += [f"{chance:.2f}", f"{loss[chosen]:.1f}", f"{loss[np.argmax(size)]:.1f}"]
    shown += [f"{loss.mean():.1f}"]
    return shown, [
        chosen == best,
        first.p_best,
        chance,
        loss[chosen],
        loss[np.argmax(size)],
        loss.mean(),
    ]


def simulated() -> None:
    """Print how P(best), regret and crossovers hold where the truth is known."""
    made = simulate_capability(0)
    law, runs = bs.arrange("capability", made, **DESIGN)
    posterior = bs.fit(law, runs, seed=1, draws=500, progress=False)
    sizes = {str(m): float(n) for m, n in zip(made["model"], made["N"], strict=True)}
    asked, crossed, failed = [], [], 0
    for j in range(TRUTHS):
        world = _World(posterior, sizes, j)
        fit = world.fit()
        failed += not fit.converged
        asked += list(_questions(fit, world, j))
        crossed += list(_crossings(fit, world))
    print(f"{TRUTHS} truths, {failed} fits failed their gate")
    _calibration(pd.DataFrame(asked))
    _crossover_table(pd.DataFrame(crossed))
    _tax(posterior)


class _World:
    """One truth: a posterior draw with new offsets, its runs, and what each backbone reaches."""

    def __init__(self, posterior: bs.Fit, sizes: dict[str, float], seed: int) -> None:
        rng = np.random.default_rng([20, seed])
        self.recipe = json.loads(posterior.law.recipe[1])  # type: ignore[index]
        self.law, self.sizes, self.seed = posterior.law, sizes, seed
        self.names = list(posterior.layout.labels["model"])
        pick = int(rng.integers(len(posterior.draws("A"))))
        self.params = {p.name: posterior.draws(p.name)[pick] for p in self.law.params}
        self.params |= {n: posterior.draws(n)[pick] for n in ("sigma", "nu", "run_sd")}
        self.offset = self.params["run_sd"] * rng.standard_normal(len(self.names))
        self.table = posterior.runs.table
        self.seen = list(rng.permutation(self.names)[:SEEN])
        self.rng = rng

    def reach(self, tokens: np.ndarray) -> np.ndarray:
        """True accuracy of every backbone at its tokens."""
        S: Any = self.table.drop_duplicates("model").set_index("model").loc[self.names]
        columns = [c for c in S if str(c).startswith("S_")]
        own = {p.name: self.params[p.name] for p in self.law.params}
        return self.law.mean(**own, S=S[columns].to_numpy(), D=tokens) + self.offset

    def at(self, C: float) -> np.ndarray:
        """True accuracy of every backbone on a budget."""
        return self.reach(C / (6 * np.array([self.sizes[n] for n in self.names])))

    def fit(self) -> bs.Fit:
        """Fit the law to runs of the backbones that have some."""
        frame: Any = self.table[self.table["model"].isin(self.seen)].reset_index(drop=True)
        S = frame[[c for c in frame if str(c).startswith("S_")]].to_numpy()
        own = {p.name: self.params[p.name] for p in self.law.params}
        mean = self.law.mean(**own, S=S, D=frame["D"].to_numpy())
        mean = mean + self.offset[[self.names.index(m) for m in frame["model"]]]
        scatter = self.rng.standard_t(self.params["nu"], len(frame))
        made = frame.assign(accuracy=mean + self.params["sigma"] * scatter)
        return bs.fit(
            self.law, bs.read_runs(made, columns={"C": "", "loss": "", "N": ""}),
            seed=self.seed, draws=400, progress=False,
        )  # fmt: skip


def _questions(fit: bs.Fit, world: _World, seed: int) -> Iterator[dict[str, float]]:
    """P(best) and regret in random sixes at random budgets, beside what is true."""
    rng = np.random.default_rng([21, seed])
    budgets = 10 ** rng.uniform(19.5, 22.5, SIXES)
    for c in budgets:
        six = list(rng.permutation(world.names)[:6])
        found = bs.select(fit, c, backbones=six, params={n: world.sizes[n] for n in six},
                          leaders=0)  # fmt: skip
        true = world.at(float(c))[[world.names.index(n) for n in six]]
        actual = true.max() - true
        for s in found.standings[0]:
            k = six.index(s.model)
            yield {"p": s.p_best, "best": actual[k] == 0, "first": s.rank == 1,
                   "expected": s.regret["mean"], "regret": actual[k],
                   "inside": s.response["q05"] <= true[k] <= s.response["q95"]}  # fmt: skip


def _crossings(fit: bs.Fit, world: _World) -> Iterator[dict[str, float]]:
    """Crossovers of the leading four among the backbones up to 10B, beside the true ones."""
    few = [n for n in world.names if world.sizes[n] <= 1e10]
    found = bs.select(fit, "3e20", backbones=few, params={n: world.sizes[n] for n in few},
                      within=("1e19", "1e22"))  # fmt: skip
    grid = np.geomspace(1e19, 1e22, 2001)
    every = np.stack([world.at(float(c)) for c in grid])
    for x in found.crossovers:
        gap = every[:, world.names.index(x.first)] - every[:, world.names.index(x.second)]
        change = np.flatnonzero(gap[1:] * gap[:-1] < 0)
        true = float(grid[change[0]]) if len(change) else np.nan
        q = x.to_dict()["C"] or {"q05": np.nan, "q95": np.nan}
        yield {"p": x.probability, "crosses": bool(len(change)),
               "inside": bool(q["q05"] <= true <= q["q95"])}  # fmt: skip


def _calibration(asked: pd.DataFrame) -> None:
    bins = [0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0001]
    rows = []
    for low, high in zip(bins[:-1], bins[1:], strict=True):
        part = asked[(asked["p"] >= low) & (asked["p"] < high)]
        if len(part):
            p, hit = part["p"].mean(), part["best"].mean()
            error = np.sqrt(max(p * (1 - p), 1e-9) / len(part))
            rows.append([f"{low:g} to {min(high, 1):g}", str(len(part)), f"{p:.3f}", f"{hit:.3f}",
                         f"{error:.3f}"])  # fmt: skip
    columns = ["P(best)", "backbones", "mean P", "really best", "SE if true"]
    print(Table(columns, rows, f"P(best) in {len(asked) // 6} choices of six"))
    first = asked[asked["first"]]
    print(
        f"the chosen one: mean P {first['p'].mean():.3f}, really best {first['best'].mean():.3f}; "
        f"expected regret {100 * first['expected'].mean():.3f}%, real "
        f"{100 * first['regret'].mean():.3f}%, of a blind choice "
        f"{100 * asked['regret'].mean():.2f}%; 90% intervals of accuracy held "
        f"{asked['inside'].mean():.3f}"
    )


def _crossover_table(crossed: pd.DataFrame) -> None:
    sure = crossed[crossed["crosses"] & (crossed["p"] > 0)]
    print(
        f"crossovers: {len(crossed)} pairs of leaders, P(one exists) on average "
        f"{crossed['p'].mean():.3f}, true for {crossed['crosses'].mean():.3f}; of {len(sure)} that "
        f"exist the 90% interval of C holds {sure['inside'].mean():.3f}"
    )


def _tax(posterior: bs.Fit) -> None:
    """The transfer coefficients of the simulated design beside the published ones."""
    found, known = bs.transfer_tax(posterior), truth()
    names = tuple(b.removeprefix("text_") for b in found.benchmarks)
    true = known.vector("lambda", names)
    low, high = np.quantile(found.draws, [0.05, 0.95], axis=0)
    false = [b for b in found.tax if true[found.benchmarks.index(b)] >= 0]
    print(
        f"transfer tax of the design: {len(found.tax)} named of {int((true < 0).sum())} below 0 in "
        f"truth ({len(false)} named wrongly); 90% intervals hold "
        f"{np.mean((low <= true) & (true <= high)):.2f} of {len(true)} published lambda; largest "
        f"|sum of squares - 1| {np.abs((found.draws**2).sum(axis=1) - 1).max():.1e}"
    )
    print(found)


if __name__ == "__main__":
    real()
    simulated()
