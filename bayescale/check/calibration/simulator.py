"""Truths and the data that they give, one data set at a time, the same one whenever asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.calibration.design import twice, with_response
from bayescale.errors import DataError
from bayescale.inference.batch import Layout, make_batch, make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import scalars, variables
from bayescale.inference.rows import at_rows
from bayescale.scatter import LARGEST, NEAREST, SCALES

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit

TRIES = 200  # pairs of truth and data that are drawn before giving up
LOG_LIKELIHOOD = "log_likelihood"
# of |log response| and |log odds|: `Noise.draw` cuts off just beyond
CUT = {"log": 0.999 * LARGEST, "logit": 0.999 * NEAREST}


@dataclass(frozen=True)
class Simulated:
    """One truth and its data.

    Parameters
    ----------
    sites : mapping
        Site of the simulating model -> value, shape (1, ...).
    response : array, shape (run,)
    redrawn : int
        Pairs of truth and data before this one that no fit could take.
    """

    sites: Mapping[str, np.ndarray]
    response: np.ndarray
    redrawn: int


@dataclass(frozen=True)
class Simulator:
    """Draws truths from a prior or a posterior, and data from them by the model's own noise.

    A pair whose responses are not finite (or beyond e^85, where `Noise.draw` cuts off) is drawn
    again, the truth with the data. Whether that happens depends on the data alone, so given data
    that are kept the truth is distributed as before, and its rank stays uniform.

    Parameters
    ----------
    model : Model
        What is fitted.
    source : Model
        What simulates.
    runs : Runs
        The design.
    seed : int
    around : Fit, optional
        Truths are draws of this fit, and data sets its own runs with the simulated ones behind.
    """

    model: Model
    source: Model
    runs: "Runs"
    seed: int
    around: "Fit | None" = None

    @cached_property
    def layout(self) -> Layout:
        """Axes of the simulating model on the design."""
        return make_layout(self.source, self.runs)

    @cached_property
    def packing(self) -> Packing:
        """Sites of the simulating model."""
        return Packing.of(self.source, self.layout.labels)

    @cached_property
    def _batch(self) -> dict[str, Any]:
        return make_batch(self.source, self.runs, self.layout)

    def simulate(self, nth: int) -> Simulated:
        """The truth and the responses of one data set.

        Raises
        ------
        DataError
            The law hardly ever gives finite responses.
        """
        for redrawn in range(TRIES):
            rng = np.random.default_rng([self.seed, nth, redrawn, 41])
            sites = self._truth(rng)
            response = self._respond(rng, sites)
            if self._fits_can_take(response):
                return Simulated(sites, response, redrawn)
        raise DataError(
            f"law '{self.model.law.name}' gave no finite {self.model.law.response} in {TRIES} "
            "draws from its priors on this design; tighten its priors (priors=, --prior)."
        )

    def data(self, nth: int) -> "Runs":
        """The table of one data set."""
        response, values = self.model.law.response, self.simulate(nth).response
        if self.around is not None:
            return twice(self.around.runs, response, values)
        return with_response(self.runs, response, values)

    def _truth(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        if self.around is None:
            return self.packing.sample_prior(rng, 1)
        sites = self.around.sites
        pick = int(rng.integers(len(next(iter(sites.values())))))
        return {name: values[pick : pick + 1] for name, values in sites.items()}

    def _respond(self, rng: np.random.Generator, sites: Mapping[str, np.ndarray]) -> np.ndarray:
        with np.errstate(all="ignore"):  # what overflows is drawn again
            mean, params = at_rows(self.source, self._batch, sites)
            columns = dict(self._batch["noise"])
            if self.source.noise.varies_with == "loss":
                columns["centre"] = np.log(mean).mean()
            return self.source.noise.draw(rng, mean, params, columns)[0]

    def _fits_can_take(self, response: np.ndarray) -> bool:
        with np.errstate(all="ignore"):
            scattered = np.abs(SCALES[self.model.noise.on].forward(response))
        return bool((scattered < CUT.get(self.model.noise.on, np.inf)).all())

    def truths(self, nth: int, runs: "Runs") -> dict[str, float]:
        """The true value of each scalar that has one under both models, by name.

        Parameters
        ----------
        nth : int
        runs : Runs
            The table that was fitted, on which the likelihood is computed.
        """
        sites = self.simulate(nth).sites
        found = scalars(variables(self.source, self.layout, self.packing, sites), self._labels, 1)
        listed = {name: float(values[0]) for name, values in found.items()}
        if {p.name for p in self.model.noise.params()} <= {p.name for p in self.source.params}:
            layout = make_layout(self.model, runs)
            listed[LOG_LIKELIHOOD] = float(
                log_likelihood(self.model, layout, runs, sites, self.source)[0]
            )
        return listed

    @cached_property
    def _labels(self) -> dict[str, tuple[str, ...]]:
        return {**self.layout.labels, self.layout.cell_dim: self.layout.cells}


def log_likelihood(
    model: Model,
    layout: Layout,
    runs: "Runs",
    sites: Mapping[str, np.ndarray],
    source: Model | None = None,
) -> np.ndarray:
    """Joint log likelihood of runs under a model's noise, shape (draw,).

    Mean and parameters are those of ``source``, the model that the sites belong to.
    """
    batch, source = make_batch(model, runs, layout), source or model
    own = batch if source is model else make_batch(source, runs, make_layout(source, runs))
    with np.errstate(all="ignore"):
        mean, params = at_rows(source, own, sites)
        density = model.noise.log_density(batch["response"], mean, params, batch["noise"])
    return np.asarray(density).sum(axis=-1)


@dataclass(frozen=True)
class DataSets:
    """Simulated tables, each made when it is reached; their number is known before."""

    simulator: Simulator
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator["Runs"]:
        return (self.simulator.data(nth) for nth in range(self.size))
