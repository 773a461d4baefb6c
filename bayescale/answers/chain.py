"""A chain of two fits: loss from resources, then accuracy from loss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import beyond_warning
from bayescale.answers.points import as_inputs, reach, read_points
from bayescale.answers.prediction import Prediction, new_runs, predict
from bayescale.answers.surface import surface
from bayescale.errors import FitError
from bayescale.tables import Shown, Table

if TYPE_CHECKING:
    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Chain(Shown):
    """Accuracy (or error) of runs through their loss, with the uncertainty of both laws.

    Parameters
    ----------
    loss : Fit
        A law of loss.
    accuracy : Fit
        A law that reads this loss, such as ``loss-to-error``.

    Raises
    ------
    FitError
        The second law doesn't read what the first explains.
    """

    loss: "Fit"
    accuracy: "Fit"

    def __post_init__(self) -> None:
        explained, read = self.loss.law.response, [i.name for i in self.accuracy.law.inputs]
        if explained not in read:
            raise FitError(
                f"law '{self.accuracy.law.name}' reads {', '.join(read)}, not the {explained} that "
                f"'{self.loss.law.name}' explains; chain a law such as 'loss-to-accuracy'."
            )

    def predict(self, *, seed: int = 0, **asked: Any) -> Prediction:
        """Accuracy of runs with given resources.

        Each draw takes one posterior draw of either law, paired at random: their posteriors are
        independent. The credible interval is the second law's mean at the first law's mean; a new
        run has a loss scattered around its law, and an accuracy scattered around that loss.

        Parameters
        ----------
        seed : int
            Seed of the pairing and of the noise of new runs.
        **asked
            Inputs and groups of the two laws, as for `Fit.predict`; a group that both know is
            that of both.

        Returns
        -------
        Prediction
            With one column of the predicted loss among what is said of its reach.

        Raises
        ------
        FitError, DataError
            As for `bayescale.answers.prediction.predict`.
        """
        own, rest = self._split(asked)
        first = predict(self.loss, seed=seed, **rest)
        name = self.loss.law.response
        middle = np.median(first.loss, axis=0)
        points, group = read_points(self.accuracy, own | {name: middle})
        laws = surface(self.accuracy, group, seed)
        one, other = _pairs(len(first.loss), laws.size, [self.loss.seed, seed, 31])
        laws = laws.take(other)
        inputs = as_inputs(self.accuracy, points, group)
        each = np.arange(laws.size)[:, None]
        mean = laws.mean(each, **(inputs | {name: first.loss[one]}))
        scattered = laws.mean(each, **(inputs | {name: first.new_run[one]}))
        factors = {**first.reach, **reach(self.accuracy, {name: middle})}
        outside = any((f != 1).any() for f in factors.values())
        drifts = self.loss.model.drift is not None
        warnings = (*self.loss.warnings, *self.accuracy.warnings)
        if outside:
            warnings = (*warnings, f"Beyond the data. {beyond_warning(drifts)}")
        return replace(
            first,
            points={**first.points, **{k: v for k, v in points.items() if k in own}},
            loss=np.broadcast_to(mean, (laws.size, len(middle))),
            new_run=new_runs(laws, np.broadcast_to(scattered, mean.shape), points, seed),
            reach=factors,
            title=self._title(),
            unit=self.accuracy.law.response_unit,
            converged=self.loss.converged and self.accuracy.converged,
            warnings=tuple(dict.fromkeys(warnings)),
            response=self.accuracy.law.response,
        )

    def _split(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the second law is asked for, and what the first; groups may be for both."""
        one, two = self.loss, self.accuracy
        groups = {*two.model.columns, *two.law.label_columns}
        inputs = {*two.law.columns, *(i.name for i in two.law.inputs)} - {one.law.response}
        of_first = {*one.law.columns, *(i.name for i in one.law.inputs), "N", "D", "C"}
        of_first |= {*one.model.columns, *one.law.label_columns}
        own = {k: v for k, v in asked.items() if k in groups | inputs}
        return own, {k: v for k, v in asked.items() if k in of_first or k not in own}

    def _title(self) -> str:
        one, two = self.loss, self.accuracy
        return (
            f"{one.law.name} ({len(one.extent)} runs), "
            f"then {two.law.name} ({len(two.extent)} runs): "
            f"{one.gate.headline()}; {two.gate.headline()}"
        )

    def table(self) -> Table:
        """What is chained to what."""
        rows = [[f.law.name, f.law.text(), f.gate.headline()] for f in (self.loss, self.accuracy)]
        warnings = (*self.loss.warnings, *self.accuracy.warnings)
        columns = ["law", "equation", "converged"]
        return Table(columns, rows, "a chain of two laws", warnings, (), text=columns)


def _pairs(first: int, second: int, seed: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of draws of two independent posteriors, paired at random, none left out."""
    size, rng = max(first, second), np.random.default_rng(seed)
    return np.resize(rng.permutation(first), size), np.resize(np.arange(second), size)
