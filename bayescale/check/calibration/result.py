"""What simulation-based calibration found: ranks, tests, coverage, one verdict."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.calibration import uniform
from bayescale.tables import Shown, Table, frame

if TYPE_CHECKING:
    import pandas as pd

COVERED = (0.5, 0.8, 0.9, 0.95)
MOST_FAILED = 0.05  # share of data sets without a fit beyond which nothing passes


@dataclass(frozen=True)
class Calibration(Shown):
    """Ranks of true values among posterior draws, over many simulated data sets.

    Parameters
    ----------
    law : str
    ranks : mapping
        Quantity -> rank in each data set that was fitted, integers from 0 to ``bins`` - 1,
        shape (set,).
    bins : int
        Possible ranks.
    level : float
        Probability that a right law fails, at most: shared out over quantities and tests.
    fits : int
        Data sets simulated.
    errors : mapping
        Number of a data set -> why it could not be fitted.
    gates : mapping
        Check of the gate -> fits that did not pass it; they are ranked all the same.
    not_converged, not_identified : int
        Fits whose sampler had trouble, and others that did not pass their gate as their runs
        can't tell all that the law asks.
    redrawn : int
        Pairs of truth and data that were drawn again, as no fit could take such data.
    design, truth : str
        Where the runs lie, and where truths come from.
    unranked : tuple of str
        Quantities of the fit that the simulator has no true value for.
    seed : int
    seconds : float
    warnings : tuple of str
    """

    law: str
    ranks: Mapping[str, np.ndarray]
    bins: int
    level: float
    fits: int
    errors: Mapping[int, str]
    gates: Mapping[str, int]
    not_converged: int
    not_identified: int
    redrawn: int
    design: str
    truth: str
    unranked: tuple[str, ...]
    seed: int
    seconds: float
    warnings: tuple[str, ...]

    @property
    def ranked(self) -> int:
        """Number of data sets that were fitted and ranked."""
        return self.fits - len(self.errors)

    @property
    def each(self) -> float:
        """Level of each single test: two for each quantity."""
        return self.level / (2 * len(self.ranks))

    @cached_property
    def scores(self) -> dict[str, np.ndarray]:
        """Ranks between 0 and 1, spread at random within their steps: uniform if right."""
        rng = np.random.default_rng([self.seed, 47])
        return {
            name: (ranks + rng.uniform(size=len(ranks))) / self.bins
            for name, ranks in self.ranks.items()
        }

    @cached_property
    def records(self) -> tuple[dict[str, Any], ...]:
        """One record a quantity.

        ``quantity``, ``passes``, ``ecdf_p`` and ``spread_p`` (p-values), ``spread`` (above 1:
        intervals too narrow), ``mean`` (mean score; above .5: truths above their posteriors),
        ``coverage`` (level of the central interval -> share of truths inside).
        """
        return tuple(self._record(name) for name in self.ranks)

    def _record(self, name: str) -> dict[str, Any]:
        scores = self.scores[name]
        ecdf_p = uniform.ecdf_p(self.ranks[name], self.bins)
        spread_p, spread = uniform.spread_p(scores)
        inside = {share: float(np.mean(np.abs(scores - 0.5) < share / 2)) for share in COVERED}
        return {
            "quantity": name,
            "passes": bool(min(ecdf_p, spread_p) > self.each),
            "ecdf_p": ecdf_p,
            "spread_p": spread_p,
            "spread": spread,
            "mean": float(scores.mean()),
            "coverage": inside,
        }

    @property
    def failing(self) -> tuple[str, ...]:
        """Quantities whose ranks are not uniform."""
        return tuple(r["quantity"] for r in self.records if not r["passes"])

    @property
    def passes(self) -> bool:
        """Whether all ranks are uniform, and nearly all data sets could be fitted."""
        return not self.failing and len(self.errors) <= MOST_FAILED * self.fits

    @property
    def worst_p(self) -> float:
        """Least p-value of all tests, times their number (Bonferroni)."""
        least = min(min(r["ecdf_p"], r["spread_p"]) for r in self.records)
        return min(1.0, least * 2 * len(self.ranks))

    def standard_error(self, share: float) -> float:
        """Binomial standard error of a right law's coverage at a level."""
        return float(np.sqrt(share * (1 - share) / self.ranked))

    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The band that each quantity's ECDF leaves with a probability of `each`, if right.

        Returns
        -------
        share, low, high : array, shape (bins - 1,)
            Share of the ranks below k = 1 to bins - 1 if uniform, and its bounds.
        """
        low, high = uniform.band(self.each, self.ranked, self.bins)
        return np.arange(1, self.bins) / self.bins, low / self.ranked, high / self.ranked

    def ecdf(self, name: str) -> np.ndarray:
        """Share of a quantity's ranks below k = 1 to bins - 1, shape (bins - 1,)."""
        return uniform.below(self.ranks[name], self.bins) / self.ranked

    def headline(self) -> str:
        """One line: the law, the verdict, and what it rests on."""
        if self.passes:
            verdict = "passes"
        elif self.failing:
            verdict = "FAILS: " + ", ".join(self.failing)
        else:
            verdict = f"FAILS: {len(self.errors)} data sets could not be fitted"
        return f"{self.law}, {self.ranked} simulated data sets: {verdict}"

    def notes(self) -> list[str]:
        """Lines on truths, design, level and fits that failed."""
        spread = ", ".join(f"{100 * self.standard_error(s):.1f}" for s in COVERED)
        lines = [
            f"truths: {self.truth}; runs: {self.design}",
            f"a right law fails with a probability of at most {self.level:g}: each of "
            f"{2 * len(self.ranks)} tests at {self.each:.1e}",
            f"standard errors of coverage if right: {spread} points",
        ]
        if self.gates:
            checks = ", ".join(f"{n} {name}" for name, n in self.gates.items())
            lines.append(
                f"ranked too: {self.not_converged} fits not converged, {self.not_identified} not "
                f"identified ({checks})"
            )
        if self.redrawn:
            again = f"{self.redrawn} pair{'s' if self.redrawn > 1 else ''} of truth and data"
            lines.append(f"{again} drawn again: responses not finite or beyond e^85")
        if self.unranked:
            lines.append(f"no true value, not ranked: {', '.join(self.unranked)}")
        return lines

    def table(self) -> Table:
        """Tests and coverage by quantity."""
        rows = [
            [
                r["quantity"],
                "passes" if r["passes"] else f"FAILS ({_how(r, self.each)})",
                _p(r["ecdf_p"]),
                _p(r["spread_p"]),
                *(f"{100 * c:.1f}" for c in r["coverage"].values()),
            ]
            for r in self.records
        ]
        columns = ["", "ranks", "p ECDF", "p spread", *(f"{s:.0%} holds" for s in COVERED)]
        text = ("", "ranks")
        return Table(columns, rows, self.headline(), self.warnings, self.notes(), text)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        quantities = [
            r | {"coverage": {f"{s:g}": c for s, c in r["coverage"].items()}} for r in self.records
        ]
        return {
            "law": self.law,
            "passes": self.passes,
            "failing": list(self.failing),
            "level": self.level,
            "level_each": self.each,
            "fits": self.fits,
            "ranked": self.ranked,
            "errors": [{"set": k, "error": v} for k, v in self.errors.items()],
            "not_converged": self.not_converged,
            "not_identified": self.not_identified,
            "gates": dict(self.gates),
            "redrawn": self.redrawn,
            "possible_ranks": self.bins,
            "truth": self.truth,
            "design": self.design,
            "unranked": list(self.unranked),
            "seed": self.seed,
            "seconds": self.seconds,
            "coverage_se": {f"{s:g}": self.standard_error(s) for s in COVERED},
            "quantities": quantities,
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> "pd.DataFrame":
        """One row a quantity: verdict, p-values, coverage at four levels."""
        rows = []
        for r in self.records:
            flat = {k: v for k, v in r.items() if k != "coverage"}
            rows.append(flat | {f"coverage_{100 * s:g}": c for s, c in r["coverage"].items()})
        return frame(rows)


def count_gates(problems: list[tuple[str, ...]]) -> dict[str, int]:
    """How many fits did not pass each check, the most frequent first."""
    return dict(Counter(check for checks in problems for check in checks).most_common())


def _how(record: Mapping[str, Any], level: float) -> str:
    """In which way ranks are off."""
    if record["spread_p"] <= level:
        return "intervals too narrow" if record["spread"] > 1 else "intervals too wide"
    return "truths too high" if record["mean"] > 0.5 else "truths too low"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.0e}"
