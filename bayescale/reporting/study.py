"""A fit and its question, with the answers that several sections read, each worked out once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayescale.answers.beyond import beyond_warning
from bayescale.errors import BayescaleError, DataError, FitError
from bayescale.reporting.asked import Asked, is_isoflop

if TYPE_CHECKING:
    from bayescale.answers.allocation import Allocation
    from bayescale.answers.isoflop.result import IsoFLOP
    from bayescale.answers.mix.result import Mixture
    from bayescale.answers.prediction import Prediction
    from bayescale.answers.selection.result import Selection
    from bayescale.check.extrapolation.result import Holdout
    from bayescale.check.predictive.result import PredictiveChecks
    from bayescale.fitted import Fit

MOST_GROUPS = 6
MIXED = 200  # draws, each of which has a best mixture of its own


@dataclass(frozen=True)
class Told[T]:
    """An answer, or why there is none.

    Parameters
    ----------
    answer : object or None
    refusal : str
    """

    answer: T | None
    refusal: str = ""


@dataclass(frozen=True)
class Study:
    """What all sections read.

    Parameters
    ----------
    fit : Fit
    asked : Asked
    holdout : str
        How runs are to be held out (``compute:10``); empty: not at all.
    seed : int
        Seed of the noise of new runs.
    path : str
        File of the fit, as it stands in commands.
    command : tuple of str
        The command that made this report.
    """

    fit: "Fit"
    asked: Asked
    holdout: str = ""
    seed: int = 0
    path: str = "fit.nc"
    command: tuple[str, ...] = field(default=())

    @cached_property
    def parts(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Groups that have a law of their own: a label (empty for one law) and its columns."""
        fit, asked = self.fit, dict(self.asked.group)
        named = {*asked, *fit.law.label_columns}  # all labels of a law are told at once
        columns = [c for c in fit.model.cell_columns if c not in named]
        if not columns or not fit.has_runs:
            return [("", asked)]
        from bayescale.plot.bands import groups

        try:
            found = groups(fit, asked, most=MOST_GROUPS)
        except FitError:  # more than a page can tell one by one: a new group's answer
            return [("", asked)]
        return [(part.label, part.where) for part in found]

    @cached_property
    def allocations(self) -> Told[list[tuple[str, "Allocation"]]]:
        """Optima at the budgets, for each group."""
        budgets = list(self.asked.budgets) or self._computes()
        if not budgets:
            return Told(None, "no compute was asked for, and the points tell none.")
        sizes = list(self.asked.sizes) or None
        return told(
            lambda: [
                (label, self.fit.allocate(budgets, N=sizes, seed=self.seed, **where))
                for label, where in self.parts
            ]
        )

    def _computes(self) -> list[float]:
        """Compute of the points that were asked for."""
        if not self.fit.law.of_n_and_d or self.predictions.answer is None:
            return []
        first = self.predictions.answer[0][1]
        return [float(c) for c in dict.fromkeys(first.points.get("C", ()))]

    @cached_property
    def predictions(self) -> Told[list[tuple[str, "Prediction"]]]:
        """Predictions at the points, or at the best size of each budget, for each group."""
        points = self.asked.points
        if points:
            ask = {k: list(v) if isinstance(v, tuple) else v for k, v in points.items()}
            return told(lambda: [(label, self._at(ask, where)) for label, where in self.parts])
        found = self.allocations
        if found.answer is None:
            return Told(None, found.refusal)
        answers = found.answer

        def at_optima() -> list[tuple[str, "Prediction"]]:
            wheres = dict(self.parts)
            listed = []
            for label, best in answers:
                at = {"N": [c.N for c in best.recommended], "D": [c.D for c in best.recommended]}
                listed.append((label, self._at(at, wheres[label])))
            return listed

        return told(at_optima)

    @cached_property
    def slices(self) -> Told["IsoFLOP"]:
        """What a fit of IsoFLOP slices says of the budgets."""
        if not is_isoflop(self.fit):
            return Told(None, "")

        def read() -> "IsoFLOP":
            from bayescale.answers.isoflop.run import isoflop

            return isoflop(self.fit, C=list(self.asked.budgets) or None)

        return told(read)

    @cached_property
    def mixture(self) -> Told["Mixture"]:
        """The best mixture under the first budget; it takes compiling, so only if one was asked."""
        if (self.fit.law.recipe or ("",))[0] != "mixture":
            return Told(None, "")
        if not (self.asked.given and self.asked.budgets):
            return Told(None, "give a budget (`--C`) to ask for the best mixture.")

        def solve() -> "Mixture":
            from bayescale.answers.mix.run import mix

            budget, group = self.asked.budgets[0], self.asked.group
            return mix(self.fit, C=budget, draws=MIXED, seed=self.seed, **group)

        return told(solve)

    @cached_property
    def selection(self) -> Told["Selection"]:
        """The backbone to train on each budget that was asked for."""
        if (self.fit.law.recipe or ("",))[0] not in ("capability", "capability-loss"):
            return Told(None, "")
        if not (self.asked.given and self.asked.budgets):
            return Told(None, "give a budget (`--C`) to ask which backbone to train.")

        def choose() -> "Selection":
            from bayescale.answers.selection.run import select

            return select(self.fit, C=list(self.asked.budgets), seed=self.seed)

        return told(choose)

    def _at(self, points: Mapping[str, Any], where: Mapping[str, Any]) -> "Prediction":
        return self.fit.predict(seed=self.seed, **points, **where)

    @cached_property
    def checks(self) -> Told["PredictiveChecks"]:
        """Posterior predictive checks."""

        def check() -> "PredictiveChecks":
            from bayescale.check.predictive.run import ppc

            return ppc(self.fit, seed=self.seed)

        return told(check)

    @cached_property
    def held(self) -> Told["Holdout"]:
        """The hold-out, which fits again."""
        if not self.holdout:
            return Told(None, "")

        def hold() -> "Holdout":
            from bayescale.check.extrapolation.run import holdout

            model = self.fit.model
            law = replace(model.law, noise=model.noise, drift=model.drift)
            return holdout(
                {law.name: law},
                self.fit.runs,
                split=self.holdout,
                pooling=model.pooling,
                seed=self.fit.seed,
                progress=False,
            )

        return told(hold)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What answers must say beside what the gate says, each once."""
        lines: list[str] = []
        for found in (self.predictions.answer or [], self.allocations.answer or []):
            for _, answer in found:
                lines += answer.warnings
        for other in (self.slices.answer, self.mixture.answer, self.selection.answer):
            lines += other.warnings if other is not None else ()
        known = {f"{p.check}: {p}" for p in self.fit.gate.problems} | set(self.fit.warnings)
        far = beyond_warning(self.fit.model.drift is not None)
        # what intervals beyond the runs are worth is said once, whatever answers begin it with
        once = {far if far in line else line: line for line in reversed(lines)}
        return tuple(w for w in dict.fromkeys(lines) if w in once.values() and w not in known)

    @cached_property
    def reach(self) -> float:
        """How many times the largest compute (or else input) the question lies beyond the runs."""
        factors = [1.0]
        for _, answer in self.predictions.answer or []:
            names = [n for n in ("C", "N", "D") if n in answer.reach] or list(answer.reach)
            factors += [float(f) for n in names[:1] for f in answer.reach[n]]
        for _, answer in self.allocations.answer or []:
            factors += [float(f) for f in answer.reach]
        if self.slices.answer is not None:
            budgets = self.slices.answer
            factors += [float(c / budgets.C.max()) for c in budgets.asked]
        return max(factors)

    @property
    def outside(self) -> bool:
        """Whether any point or budget lies outside the runs."""
        found = self.predictions.answer or []
        return self.reach > 1 + 1e-9 or any(
            bool((f != 1).any()) for _, answer in found for f in answer.reach.values()
        )


def told[T](ask: Callable[[], T]) -> Told[T]:
    """An answer, or the line that refuses it; a question that can't be read is raised.

    Raises
    ------
    DataError
        A number that isn't one.
    """
    try:
        return Told(ask())
    except DataError:
        raise
    except BayescaleError as problem:
        return Told(None, str(problem))
