"""The one task that every contender gets: runs, priors, references, chains and draws."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PARAMETERS = ("E", "A", "B", "alpha", "beta")  # the law's own, for the smallest ESS


@dataclass(frozen=True)
class Job:
    """Chinchilla with Student-t noise on log loss, sampled in the same coordinates by all.

    ``priors`` has a record (family and its numbers) for each sampled quantity: E, size_term,
    data_term, alpha, beta, sigma, nu. ``N_ref`` and ``D_ref`` are the runs' geometric means.
    """

    csv: str  # columns run, N, D, loss
    priors: dict[str, dict[str, Any]]
    N_ref: float
    D_ref: float
    chains: int = 4
    draws: int = 1000
    seed: int = 0

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Job":
        return cls(**json.loads(path.read_text()))


def make_job(data: str, folder: Path, chains: int, draws: int) -> Job:
    """Read the runs, write them as every contender reads them, and state bayescale's priors."""
    import numpy as np
    import pandas as pd

    from bayescale.data import read_runs
    from bayescale.laws import get_law
    from bayescale.noise import Noise

    runs = read_runs(data)
    names = ("N", "D", "loss")
    table = pd.DataFrame({name: runs.column(name) for name in names})
    table.insert(0, "run", [f"run{k}" for k in range(len(table))])
    csv = folder / "runs.csv"
    table.to_csv(csv, index=False)
    params = (*get_law("chinchilla").params, *Noise().params())
    return Job(
        csv=str(csv),
        priors={p.site: p.prior.to_dict() for p in params},
        N_ref=float(np.exp(np.log(table["N"]).mean())),
        D_ref=float(np.exp(np.log(table["D"]).mean())),
        chains=chains,
        draws=draws,
    )
