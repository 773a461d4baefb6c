"""The same model through NumPyro's own MCMC object, in double precision, a thread a chain.

NumPyro has no default for the number of warm-up iterations; its examples use as many as draws.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.speed.contender import Answer, field_terms, read_columns, serve
from benchmarks.speed.job import Job


def prepare(job: Job) -> Callable[[int], Answer]:
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS

    numpyro.enable_x64()
    numpyro.set_host_device_count(job.chains)
    mcmc = MCMC(
        NUTS(model(job)),
        num_warmup=job.draws,
        num_samples=job.draws,
        num_chains=job.chains,
        progress_bar=False,
    )

    def fit(seed: int) -> Answer:
        mcmc.run(jax.random.key(seed), extra_fields=("num_steps",))
        found = mcmc.get_samples(group_by_chain=True)
        draws = field_terms({k: np.asarray(v) for k, v in found.items()}, job)
        steps = float(np.mean(mcmc.get_extra_fields()["num_steps"]))
        return Answer(draws, float(np.median(draws["a"])), steps)

    return fit


def model(job: Job) -> Callable[[], None]:
    """The model as a NumPyro user writes it."""
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist

    log_n, log_d, log_loss = read_columns(job)

    def prior(name: str) -> Any:
        record = job.priors[name]
        if record["family"] == "LogNormal":
            return dist.LogNormal(np.log(record["median"]), record["sigma"])
        if record["family"] == "Gamma":
            return dist.Gamma(record["concentration"], record["rate"])
        raise ValueError(f"prior of {name}: family {record['family']} is not translated to NumPyro")

    def chinchilla() -> None:
        p: dict[str, Any] = {name: numpyro.sample(name, prior(name)) for name in job.priors}
        size = p["size_term"] * jnp.exp(-p["alpha"] * log_n)
        data = p["data_term"] * jnp.exp(-p["beta"] * log_d)
        centre = jnp.log(p["E"] + size + data)
        with numpyro.plate("row", len(log_loss)):
            numpyro.sample("log_loss", dist.StudentT(p["nu"], centre, p["sigma"]), obs=log_loss)

    return chinchilla


if __name__ == "__main__":
    serve(prepare)
