"""PyMC's model sampled by nutpie with its defaults; the compiled model is kept between fits."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.speed.contender import Answer, field_terms, read_columns, serve
from benchmarks.speed.job import Job

COLUMNS = ("size", "data", "runs")  # names in the model, where columns can be exchanged


def prepare(job: Job) -> Callable[[int], Answer]:
    import nutpie

    begin = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model(job))
    phases = {"compile": time.perf_counter() - begin}

    def fit(seed: int) -> Answer:
        tree = nutpie.sample(
            compiled, draws=job.draws, chains=job.chains, seed=seed, progress_bar=False
        )
        draws = field_terms({k: tree.posterior[k].values for k in job.priors}, job)
        steps = float(tree.sample_stats["n_steps"].mean())
        return Answer(draws, float(np.median(draws["a"])), steps, phases)

    return fit


def model(job: Job) -> Any:
    """The model of a job's runs."""
    return build(job.priors, read_columns(job))


def build(
    priors: Mapping[str, Mapping[str, Any]],
    columns: Sequence[np.ndarray],
    swappable: bool = False,
) -> Any:
    """The model as a PyMC user writes it; swappable columns can be exchanged once compiled."""
    import pymc as pm

    def prior(name: str) -> Any:
        record = priors[name]
        if record["family"] == "LogNormal":
            return pm.LogNormal(name, mu=np.log(record["median"]), sigma=record["sigma"])
        if record["family"] == "Gamma":
            return pm.Gamma(name, alpha=record["concentration"], beta=record["rate"])
        raise ValueError(f"prior of {name}: family {record['family']} is not translated to PyMC.")

    with pm.Model() as built:
        held = [
            pm.Data(name, values) if swappable else values
            for name, values in zip(COLUMNS, columns, strict=True)
        ]
        log_n, log_d, log_loss = held
        p = {name: prior(name) for name in priors}
        size = p["size_term"] * pm.math.exp(-p["alpha"] * log_n)
        data = p["data_term"] * pm.math.exp(-p["beta"] * log_d)
        centre = pm.math.log(p["E"] + size + data)
        pm.StudentT("log_loss", nu=p["nu"], mu=centre, sigma=p["sigma"], observed=log_loss)
    return built


if __name__ == "__main__":
    serve(prepare)
