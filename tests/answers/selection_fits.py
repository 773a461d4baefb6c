"""Made-up fits of six backbones, for tests of selection."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.families.capability import arrange, arrange_loss
from tests.answers.conftest import made_up

SIZES = {f"m{k}": n for k, n in enumerate([1e9, 2e9, 4e9, 8e9, 14e9, 32e9])}
NO_ROLES = {"loss": "", "N": "", "C": ""}


@cache
def benchmarks(models: int = 8) -> pd.DataFrame:
    """Accuracies of models on six benchmarks, the later models stronger."""
    rng = np.random.default_rng(3)
    skill = np.linspace(-0.25, 0.3, models)[:, None] * [0.5, 0.45, 0.4, 0.4, 0.35, -0.1]
    table = np.clip(0.5 + skill + 0.05 * rng.normal(size=(models, 6)), 0.05, 0.95)
    frame = pd.DataFrame(table, columns=[f"text_{k}" for k in range(6)])
    frame.insert(0, "model", [f"m{k}" for k in range(models)])
    return frame


@cache
def table(response: str = "accuracy") -> pd.DataFrame:
    """Six backbones with four checkpoints each."""
    rng = np.random.default_rng(4)
    rows = [
        {"model": m, "D": d, "N": n, "kind": float(k % 2), "line": "ab"[k % 2]}
        for k, (m, n) in enumerate(SIZES.items())
        for d in (1e10, 2e10, 4e10, 8e10)
    ]
    frame = pd.DataFrame(rows).merge(benchmarks().iloc[:6], on="model")
    middle = 0.5 if response == "accuracy" else 1.5
    return frame.assign(**{response: middle + 0.02 * rng.normal(size=len(frame))})


def fit_of(frame=None, draws=50, gate=None, pooling=None, noise=None, **options) -> bs.Fit:
    """A made-up fit of the capability law: draws around prior medians, 0.3 wide."""
    frame = table() if frame is None else frame
    runs = bs.read_runs(frame, columns=NO_ROLES)
    law, runs = arrange(runs, benchmarks="text_*", components=2, **options)
    made = made_up(law, runs, noise or law.default_noise, pooling, seed=5, draws=draws, spread=0.3)
    return made if gate is None else replace(made, gate=gate)


@cache
def accuracy_fit() -> bs.Fit:
    return fit_of()


@cache
def loss_fit() -> bs.Fit:
    frame = table("loss").drop(columns="N")
    runs = bs.read_runs(frame, columns={"N": "", "C": ""})
    law, runs = arrange_loss(runs, benchmarks="text_*", components=2)
    return made_up(law, runs, law.default_noise, seed=6, spread=0.2)
