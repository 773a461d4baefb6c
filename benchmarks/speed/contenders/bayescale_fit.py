"""bayescale.fit, as a user calls it: reading, mode, draws, diagnostics and gate."""

from collections.abc import Callable

from benchmarks.speed.contender import Answer, serve
from benchmarks.speed.job import PARAMETERS, Job


def prepare(job: Job) -> Callable[[int], Answer]:
    import bayescale as bs

    def fit(seed: int) -> Answer:
        found = bs.fit(
            "chinchilla", job.csv, seed=seed, chains=job.chains, draws=job.draws, progress=False
        )
        return Answer(
            draws={name: found.variables[name].values for name in (*PARAMETERS, "a")},
            a=float(found.summary.loc["a", "median"]),
            gradients=float(found.record["gradients_per_draw"]),
            phases=dict(found.record["timings"]) | {"whole fit": found.record["seconds"]},
        )

    return fit


if __name__ == "__main__":
    serve(prepare)
