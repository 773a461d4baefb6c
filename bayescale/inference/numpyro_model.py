"""Every law as a plain NumPyro model, with sites and plates named as in the DataTree."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bayescale.drift import Drift
from bayescale.inference.batch import Layout, make_batch, make_layout
from bayescale.inference.model import Model, make_model
from bayescale.law import Law
from bayescale.laws import get_law
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def numpyro_model(
    law: Law | str,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | None = None,
    drift: Drift | bool | None = None,
    *,
    runs: "Runs",
) -> tuple[Callable[..., None], dict[str, Any]]:
    """A law, its noise and its pooling as a NumPyro model of these runs.

    The model is what `bayescale.fit` samples, site by site, so handlers, ``Predictive``, SVI and
    other samplers give the same posterior.

    Parameters
    ----------
    law : Law or str
    noise : Noise, optional
        Default: Student-t on log loss.
    pooling : mapping, optional
        Parameter -> `Pool`.
    drift : Drift or bool, optional
        As for `fit`.
    runs : Runs
        From `bayescale.read_runs`.

    Returns
    -------
    model : callable
        ``model(batch, observed=True)``; sites are the sampled coordinates, deterministic sites
        the parameters in the field's terms and derived quantities, ``loss`` is observed.
    batch : dict
        The arrays to call it with. Run it in double precision
        (``with jax.enable_x64(True): …``) to reproduce a fit exactly.

    Raises
    ------
    LawError, DataError
    """
    model = make_model(get_law(law), noise, Pooling.of(pooling), drift=drift)
    layout = make_layout(model, runs)
    return build(model, layout), make_batch(model, runs, layout)


def build(model: Model, layout: Layout) -> Callable[..., None]:
    """The NumPyro function of a model on named axes."""
    import numpyro

    plates: dict[tuple[str, int], Any] = {}

    def plate(dim: str, axis: int) -> Any:
        """One plate for each named axis; a second one where a site has it elsewhere."""
        taken = any(name == dim and at != axis for name, at in plates)
        label = f"{dim}_{axis}" if taken else dim
        size = len(layout.labels[dim])
        return plates.setdefault((dim, axis), numpyro.plate(label, size, dim=-1 - axis))

    def sample_sites() -> dict[str, Any]:
        plates.clear()
        values = {}
        for site in model.sites:
            with ExitStack() as entered:
                for axis, dim in enumerate(reversed(site.dims)):
                    entered.enter_context(plate(dim, axis))
                values[site.name] = numpyro.sample(site.name, site.prior.numpyro())
        return values

    def declare(coordinates: Mapping[str, Any]) -> None:
        refs = model.references(layout.refs, layout.cell_index)
        at_cells = model.to_params(model.by_row(coordinates, layout.cell_index), refs)
        known = {s.name for s in model.sites}
        for p in model.law.params:
            if p.name not in known:
                numpyro.deterministic(p.name, at_cells[p.name])
        for name, value in model.derived(at_cells).items():
            numpyro.deterministic(name, value)

    def numpyro_function(batch: Mapping[str, Any], observed: bool = True) -> None:
        values = sample_sites()
        coordinates = model.coordinates(values)
        declare(coordinates)
        params = model.to_params(model.by_row(coordinates, batch["index"]), batch["refs"])
        mean = model.mean(params, batch["inputs"], batch.get("drift"))
        _respond(model, mean, params, batch, observed)

    return numpyro_function


def _respond(
    model: Model, mean: Any, params: Mapping[str, Any], batch: Mapping[str, Any], observed: bool
) -> None:
    """The observed site: a plate of rows, or all rows at once where runs have a memory."""
    import numpyro

    from bayescale.inference.remembered import Remembered

    name, response = model.law.response, batch["response"] if observed else None
    if model.noise.along:
        numpyro.sample(name, Remembered(model.noise, mean, params, batch["noise"]), obs=response)
        return
    with numpyro.plate("row", len(batch["response"]), dim=-1):
        rows = model.noise.distribution(mean, params, batch["noise"])
        numpyro.sample(name, rows, obs=response)
