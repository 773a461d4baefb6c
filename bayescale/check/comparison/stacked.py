"""``Stack``: several fits that predict as one weighted mixture."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.at_runs import AtRuns, at_runs
from bayescale.check.comparison.naming import check_response, named
from bayescale.errors import FitError
from bayescale.tables import Shown, Table

if TYPE_CHECKING:
    from bayescale.answers.allocation import Allocation
    from bayescale.answers.prediction import Prediction
    from bayescale.data.cost import CostModel
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit
    from bayescale.law import Law


@dataclass(frozen=True)
class Stack(Shown):
    """Several fits of the same response as one weighted mixture of their predictions.

    Each draw of the mixture is a draw of one of the fits, taken evenly along its chains, as many
    as its weight says, so that every quantile and probability is the mixture's own.

    Parameters
    ----------
    fits : mapping of str to Fit, or sequence of Fit
        By name; fits in a sequence are named by their law.
    weights : mapping of str to float, or sequence of float
        At least 0 and of sum 1, for instance of `bayescale.compare`.
    seed : int
        Where along the chains picking begins.

    Raises
    ------
    FitError
        Weights that aren't shares, no fits, two of one name, or fits of different responses.
    """

    fits: Mapping[str, "Fit"]
    weights: Mapping[str, float]
    seed: int = 0

    def __post_init__(self) -> None:
        fits = named(self.fits)
        check_response(fits)
        object.__setattr__(self, "fits", fits)
        object.__setattr__(self, "weights", _shares(list(fits), self.weights))

    @cached_property
    def picks(self) -> dict[str, np.ndarray]:
        """Draws of each fit that are in the mixture; fits without any are left out."""
        sizes = {n: _size(f) for n, f in self.fits.items()}
        counts = _counts(np.array(list(self.weights.values())), max(sizes.values()))
        rng = np.random.default_rng([self.seed, 41])
        found = {}
        for (name, size), count in zip(sizes.items(), counts, strict=True):
            if count:
                # systematic sampling: evenly along the chains, none twice before all once
                places = (np.arange(count) + rng.random()) * size / count
                found[name] = np.minimum(places.astype(int), size - 1)
        return found

    @property
    def converged(self) -> bool:
        """Whether all fits in the mixture passed their gate."""
        return all(self.fits[name].converged for name in self.picks)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the fits in the mixture say, each with its name."""
        return tuple(f"{n}: {line}" for n in self.picks for line in self.fits[n].warnings)

    @property
    def title(self) -> str:
        """One line: the laws with their weights, and the runs."""
        listed = ", ".join(f"{n} {self.weights[n]:.0%}" for n in self.picks)
        runs = max(len(f.runs) for f in self.fits.values())
        verdict = "converged" if self.converged else "NOT all fits converged"
        return f"stack ({listed}) fitted to {runs} runs: {verdict}"

    def predict(self, *, seed: int = 0, **asked: Any) -> "Prediction":
        """Predict the loss of runs; see `bayescale.answers.prediction.predict`.

        Parameters
        ----------
        seed : int
            Seed of the noise of new runs.
        **asked
            Inputs of all the laws, numbers or strings ("70B", "1.4T"); of N, D and C any two.
            A grouping column is passed to the fits that have it.

        Returns
        -------
        Prediction
        """
        from bayescale.answers.prediction import Prediction, predict

        parts = {n: predict(self.fits[n], seed=seed, **self._own(n, asked)) for n in self.picks}
        points, reach, lines = {}, {}, []
        for name, part in parts.items():
            points, reach = {**part.points, **points}, {**part.reach, **reach}
            own = self.fits[name].warnings
            lines += [f"{name}: {w}" if w in own else w for w in part.warnings]
        first = next(iter(parts.values()))
        share = {n: len(self.picks[n]) / sum(map(len, self.picks.values())) for n in parts}
        width = {
            k: np.sum([share[n] * p.width[k] for n, p in parts.items()], axis=0)
            for k in first.width
        }
        return Prediction(
            points=points,
            loss=self._mixed({n: p.loss for n, p in parts.items()}),
            new_run=self._mixed({n: p.new_run for n, p in parts.items()}),
            reach=reach,
            title=self.title,
            unit=first.unit,
            converged=self.converged,
            warnings=tuple(dict.fromkeys(lines)),
            width=width,
        )

    def allocate(
        self,
        C: Any,
        *,
        N: Any = None,
        cost: "CostModel | None" = None,
        seed: int = 0,
        **group: Any,
    ) -> "Allocation":
        """Best N and D for budgets; see `bayescale.answers.allocation.allocate`.

        Each draw has the optimum of its own law; the recommended size has the least expected
        loss over all laws.

        Raises
        ------
        FitError
            A law in the mixture is not one of N and D, or no draw has an optimum.
        """
        from bayescale.answers.allocation import EXPONENTS, About, allocate_on, check_law
        from bayescale.answers.allocation import laws_exponent as exponent
        from bayescale.answers.surface import surface
        from bayescale.check.comparison.laws_mixed import MixedSurface

        for name in self.picks:
            check_law(self.fits[name])
        laws = {n: surface(self.fits[n], self._own(n, group), seed) for n in self.picks}
        own = {
            e: {n: v for n in laws if (v := exponent(self.fits[n], laws[n], e)) is not None}
            for e in EXPONENTS
        }
        first = next(iter(self.fits.values()))
        about = About(
            title=self.title,
            unit=first.law.response_unit,
            converged=self.converged,
            warnings=self.warnings,
            exponents={e: self._mixed(v) for e, v in own.items() if len(v) == len(laws)},
        )
        mixed = MixedSurface(list(laws.values()), list(self.picks.values()))
        return allocate_on(mixed, first.extent, about, C, N, cost)

    def at_runs(self, runs: "Runs", seed: int = 0) -> AtRuns:
        """What the mixture says of given runs; see `bayescale.check.at_runs.at_runs`."""
        parts = {n: at_runs(self.fits[n], runs, seed) for n in self.picks}
        return AtRuns(
            next(iter(parts.values())).observed,
            self._mixed({n: p.mean for n, p in parts.items()}),
            self._mixed({n: p.replicate for n, p in parts.items()}),
            self._mixed({n: p.log_density for n, p in parts.items()}),
        )

    def save(self, folder: str | Path) -> None:
        """Write the fits, and a note of their names and weights, into a folder."""
        from bayescale.check.comparison.storing import save_stack

        save_stack(self, folder)

    @classmethod
    def load(cls, folder: str | Path, laws: "Mapping[str, Law] | None" = None) -> "Stack":
        """Read a stack back; ``laws`` are a user's own, by the names of the fits.

        Raises
        ------
        FitError
            The folder holds no stack, or a fit of it can't be read.
        """
        from bayescale.check.comparison.storing import read_stack

        return cls(*read_stack(folder, laws))

    def _mixed(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
        """Picked draws of each fit, one after the other along the first axis."""
        return np.concatenate([draws[n][self.picks[n]] for n in draws])

    def _own(self, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments without the grouping columns that only other fits of the stack have."""
        columns = {c for n in self.picks for c in self.fits[n].model.columns}
        foreign = columns - set(self.fits[name].model.columns)
        return {k: v for k, v in asked.items() if k not in foreign}

    def to_dict(self) -> dict[str, Any]:
        """Laws, weights and number of draws as JSON."""
        return {
            "laws": [
                {
                    "name": name,
                    "law": fit.law.name,
                    "weight": self.weights[name],
                    "draws": len(self.picks.get(name, ())),
                    "converged": fit.converged,
                }
                for name, fit in self.fits.items()
            ],
            "converged": self.converged,
            "warnings": list(self.warnings),
        }

    def table(self) -> Table:
        """Laws with their weights."""
        rows = [
            [x["name"], x["law"], f"{x['weight']:.1%}", f"{x['draws']:,}"]
            for x in self.to_dict()["laws"]
        ]
        columns = ["", "law", "weight", "draws"]
        return Table(columns, rows, self.title, self.warnings, text=("", "law"))


def _size(fit: "Fit") -> int:
    return int(next(iter(fit.sites.values())).shape[0])


def _counts(weights: np.ndarray, total: int) -> np.ndarray:
    """Draws of each fit, of sum ``total``: shares rounded by their largest remainders."""
    exact = weights * total
    counts = np.floor(exact + 1e-9).astype(int)
    left = total - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:left]] += 1
    return counts


def _shares(names: list[str], weights: Any) -> dict[str, float]:
    """Weights by name, checked."""
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise FitError(
                f"weights are of {', '.join(map(str, weights))}, the fits are "
                f"{', '.join(names)}; give one weight a fit."
            )
        weights = [weights[n] for n in names]
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(names),):
        raise FitError(f"{values.size} weights for {len(names)} fits; give one weight a fit.")
    if not np.isfinite(values).all() or (values < 0).any() or abs(values.sum() - 1) > 1e-6:
        listed = ", ".join(f"{n} {v:.4g}" for n, v in zip(names, values, strict=True))
        raise FitError(f"weights are {listed}; expected shares of at least 0 with sum 1.")
    return {n: float(v) for n, v in zip(names, values / values.sum(), strict=True)}
