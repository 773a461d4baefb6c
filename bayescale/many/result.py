"""What many fits give: a fit or a failure for each data set, and one table of all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bayescale.errors import FitError, nearest
from bayescale.fitted import Fit

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Failure:
    """A data set that could not be fitted.

    Parameters
    ----------
    key : str
        Name or number of the data set.
    error : str
        The message, one line.
    """

    key: str
    error: str


class ManyFits(Mapping[str, Fit]):
    """Fits by key, in the order of the data sets; those that failed are listed apart.

    Parameters
    ----------
    outcomes : mapping
        Key -> `Fit` or `Failure`.
    """

    def __init__(self, outcomes: Mapping[str, Fit | Failure]) -> None:
        self._outcomes = dict(outcomes)

    def __getitem__(self, key: str | int) -> Fit:
        """The fit of a data set; data sets given as a list have their number as key.

        Raises
        ------
        FitError
            There is no such data set, or its fit failed; the message says why.
        """
        known = list(self._outcomes)
        if str(key) not in self._outcomes:
            raise FitError(f"no data set '{key}' among these fits." + nearest(str(key), known))
        outcome = self._outcomes[str(key)]
        if isinstance(outcome, Failure):
            raise FitError(f"data set '{key}' could not be fitted: {outcome.error}")
        return outcome

    def __iter__(self) -> Iterator[str]:
        """Keys of the data sets that were fitted."""
        return (k for k, v in self._outcomes.items() if isinstance(v, Fit))

    def __len__(self) -> int:
        """Number of data sets that were fitted."""
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        """How many were fitted, how many passed their gate, how many failed."""
        passed = sum(fit.converged for fit in self.values())
        return (
            f"ManyFits({len(self)} fits, {passed} of them pass their gate; "
            f"{len(self.failures)} data sets failed)"
        )

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Data sets that could not be fitted, with the reason."""
        return tuple(v for v in self._outcomes.values() if isinstance(v, Failure))

    @cached_property
    def table(self) -> "pd.DataFrame":
        """One row a data set: whether it was fitted and converged, diagnostics, medians.

        Returns
        -------
        DataFrame
            Index ``key``; columns ``fitted``, ``converged``, ``runs``, ``draws``, ``max_rhat``,
            ``min_ess_bulk``, ``min_ess_tail``, ``divergences``, ``seconds``, ``error``, then the
            posterior median of every scalar quantity.
        """
        import pandas as pd

        rows = {k: _row(v) for k, v in self._outcomes.items()}
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "key"
        return table


def _row(outcome: Fit | Failure) -> dict[str, object]:
    if isinstance(outcome, Failure):
        return {"fitted": False, "converged": False, "error": outcome.error}
    gate, medians = outcome.gate, outcome.summary["median"].to_dict()
    return {
        "fitted": True,
        "converged": outcome.converged,
        "runs": len(outcome.runs),
        "draws": next(iter(outcome.stats.values())).size,
        "max_rhat": gate.max_rhat,
        "min_ess_bulk": gate.min_ess_bulk,
        "min_ess_tail": gate.min_ess_tail,
        "divergences": gate.divergences,
        "seconds": outcome.record["seconds"],
        "error": "",
        **medians,
    }
