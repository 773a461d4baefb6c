"""A fit: a law's posterior on a table of runs, frozen, with all that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.inference.batch import Layout
from bayescale.inference.gate import Gate
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.answers.allocation import Allocation
    from bayescale.answers.prediction import Prediction
    from bayescale.data.runs import Runs
    from bayescale.extent import Extent
    from bayescale.law import Law
    from bayescale.reporting.run import Report


@dataclass(frozen=True)
class Fit:
    """A fitted law.

    Parameters
    ----------
    model : Model
        Law, noise and pooling.
    data : Runs or Extent
        The runs; of a fit that was shipped without them (`bayescale models`), where they lie.
    layout : Layout
        Groups and input references of the data.
    variables : mapping
        Posterior draws by name, arrays of shape (chain, draw, ...).
    stats : mapping
        Sampler statistics, arrays of shape (chain, draw).
    gate : Gate
        Whether answers may be read off it, and why not.
    record : mapping
        Seed, settings, device, versions, timings: plain values.
    scalars : mapping
        Columns of the summary: ``parameter``, mean, sd, quantiles, R-hat, ESS, MCSE.
    """

    model: Model
    data: "Runs | Extent"
    layout: Layout
    variables: Mapping[str, Variable]
    stats: Mapping[str, np.ndarray]
    gate: Gate
    record: Mapping[str, Any]
    scalars: Mapping[str, Sequence[Any]] = field(repr=False)

    @property
    def runs(self) -> "Runs":
        """The data.

        Raises
        ------
        FitError
            The fit was shipped without them.
        """
        from bayescale.errors import FitError
        from bayescale.extent import Extent

        if isinstance(self.data, Extent):
            name = self.record["shipped"]["name"]
            raise FitError(
                f"this needs the runs, and the shipped fit '{name}' holds none; fit it again: "
                f"{self.data.again}"
            )
        return self.data

    @property
    def has_runs(self) -> bool:
        """Whether the runs are there."""
        from bayescale.extent import Extent

        return not isinstance(self.data, Extent)

    @cached_property
    def extent(self) -> "Extent":
        """Where the runs lie: all that answers ask of them."""
        from bayescale.extent import Extent, extent_of

        return self.data if isinstance(self.data, Extent) else extent_of(self.model, self.data)

    @cached_property
    def summary(self) -> "pd.DataFrame":
        """A row for each scalar quantity: mean, sd, quantiles, R-hat, ESS, MCSE."""
        import pandas as pd

        return pd.DataFrame(dict(self.scalars)).set_index("parameter")

    @property
    def title(self) -> str:
        """What was fitted to how many runs, and the gate's verdict."""
        return f"{self.law.name} fitted to {len(self.data)} runs: {self.gate.headline()}"

    @property
    def law(self) -> "Law":
        """The law, with the priors used."""
        return self.model.law

    @property
    def converged(self) -> bool:
        """Whether the gate lets answers pass."""
        return self.gate.converged

    @property
    def seed(self) -> int:
        """Seed of all randomness in this fit."""
        return int(self.record["seed"])

    @cached_property
    def packing(self) -> Packing:
        """Sites of the model with their shapes."""
        return Packing.of(self.model, self.layout.labels)

    @cached_property
    def sites(self) -> dict[str, np.ndarray]:
        """Draws of the sampled sites with chains joined, shape (draw, ...)."""
        picked = {s.name: self.variables[s.name].values for s in self.packing.sites}
        return {name: v.reshape(-1, *v.shape[2:]) for name, v in picked.items()}

    @cached_property
    def drift_steps(self) -> np.ndarray:
        """Draws of the drift's weights, those of knots beyond the runs behind: (draw, ..., knot).

        The runs say nothing of them, so they are drawn from their prior, the same ones for every
        answer.
        """
        known, grid = self.sites["drift_step"], self.layout.drift
        assert grid is not None
        rng = np.random.default_rng([self.seed, 31])
        return np.concatenate([known, grid.beyond(rng, known.shape[:-1])], axis=-1)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every answer from this fit must say."""
        return (*(f"{p.check}: {p}" for p in self.gate.problems), *self.remarks)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the gate doesn't judge: checkpoints of a run taken for independent trainings."""
        if not self.has_runs:
            return self.extent.remarks
        from bayescale.check.comparison.remark import checkpoint_remarks

        return checkpoint_remarks(self)

    def draws(self, name: str) -> np.ndarray:
        """Posterior draws of a parameter or derived quantity, chains joined: (draw, ...).

        Raises
        ------
        FitError
            There is no such quantity; the message gives the nearest.
        """
        from bayescale.errors import FitError, nearest

        if name not in self.variables:
            known = list(self.variables)
            raise FitError(
                f"this fit has no '{name}'; it has {', '.join(known)}." + nearest(name, known)
            )
        values = self.variables[name].values
        return values.reshape(-1, *values.shape[2:])

    @cached_property
    def tree(self) -> "xr.DataTree":
        """An ArviZ DataTree: posterior, prior, log_likelihood, posterior_predictive and more."""
        from bayescale.tree import build_tree

        return build_tree(self)

    def predict(self, **points: Any) -> "Prediction":
        """Loss at new inputs; see `bayescale.answers.prediction.predict`."""
        from bayescale.answers.prediction import predict

        return predict(self, **points)

    def allocate(self, C: Any, **options: Any) -> "Allocation":
        """Best N and D for a budget; see `bayescale.answers.allocation.allocate`."""
        from bayescale.answers.allocation import allocate

        return allocate(self, C, **options)

    def report(self, path: str | Path, **options: Any) -> "Report":
        """Write the fit as one HTML file; see `bayescale.reporting.run.report`."""
        from bayescale.reporting.run import report

        return report(self, path, **options)

    def save(self, path: str | Path) -> None:
        """Write the fit to a netCDF file, whole or not at all."""
        from bayescale.saving import save

        save(self, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record: law, data, gate, parameters, settings."""
        from bayescale.printing import fit_record

        return fit_record(self)

    def __str__(self) -> str:
        from bayescale.tables import render

        return render(self)

    def __rich__(self) -> Any:
        from bayescale.printing import fit_table

        return fit_table(self)

    def _repr_html_(self) -> str:
        from bayescale.printing import fit_table

        return fit_table(self).html()

    def __repr__(self) -> str:
        return f"<Fit of {self.law.name} to {len(self.data)} runs: {self.gate.headline()}>"
