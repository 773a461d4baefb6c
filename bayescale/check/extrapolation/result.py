"""The result of a hold-out: predictions of unseen runs by each law, and their scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayescale.check.extrapolation.held import INTERVALS, WIDTH, Held, joined
from bayescale.check.extrapolation.splits import Split
from bayescale.tables import Shown, Table, frame, quantity

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.inference.gate import Gate

FEW = 8  # splits up to which the table has a row for each
SURE = 0.01  # chance of as few runs inside 90% intervals below which these are called too narrow
COLUMNS = ("", "runs", f"% inside {'/'.join(INTERVALS)}", "interval score", "CRPS", "RMSE",
           "largest error", "width")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What one law, fitted to one split's runs, said of the others.

    Parameters
    ----------
    label : str
        The law, with the estimator where that is not the posterior; or ``stack``.
    split : str
    n_train : int
        Runs that were fitted.
    held : Held
        Runs that were predicted.
    gate : Gate or None
        The fit's verdict; None for point estimators and the stack.
    warnings : tuple of str
        What the fit warned of.
    """

    label: str
    split: str
    n_train: int
    held: Held
    gate: "Gate | None"
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missing:
    """A law and split that could not be fitted or scored, with the reason."""

    label: str
    split: str
    error: str


@dataclass(frozen=True)
class Holdout(Shown):
    """Predictions of held-out runs and their scores.

    Parameters
    ----------
    source : str
        The data set.
    rule : str
        How it was split, such as ``compute:10``.
    splits : tuple of Split
    outcomes : tuple of Outcome
        By label, then by split.
    failures : tuple of Missing
    weights : mapping
        Split -> law -> weight in the stack; empty without one.
    response : str
        What was predicted, such as ``loss``.
    log : bool
        Whether interval score, CRPS, RMSE and width are of the log response.
    """

    source: str
    rule: str
    splits: tuple[Split, ...]
    outcomes: tuple[Outcome, ...]
    failures: tuple[Missing, ...]
    weights: Mapping[str, Mapping[str, float]]
    response: str
    log: bool

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Laws and estimators with at least one scored split."""
        return tuple(dict.fromkeys(o.label for o in self.outcomes))

    def of(self, label: str) -> tuple[Outcome, ...]:
        """Outcomes of one law or estimator, a split each.

        Raises
        ------
        FitError
            There is none of this name; the message gives the nearest.
        """
        from bayescale.errors import FitError, nearest

        if label not in self.labels:
            known = ", ".join(self.labels)
            raise FitError(
                f"this hold-out has no '{label}'; it has {known}."
                + nearest(label, list(self.labels))
            )
        return tuple(o for o in self.outcomes if o.label == label)

    def scores(self, label: str, split: str | None = None) -> dict[str, Any]:
        """Scores of one law over all held-out runs, or over those of one split.

        Returns
        -------
        dict
            ``n_test``, ``coverage`` (by level), ``interval_score`` (90%), ``crps``,
            ``rmse_log_loss`` (``rmse`` where scores are of the response itself),
            ``max_relative_error``, ``median_width`` (90%), ``log_score``, ``pit``.

        Raises
        ------
        FitError
            No such law, or no outcome of it in this split.
        """
        from bayescale.errors import FitError

        picked = [o for o in self.of(label) if split in (None, o.split)]
        if not picked:
            raise FitError(f"'{label}' has no outcome in split '{split}' of this hold-out.")
        return joined([o.held for o in picked]).scores()

    @cached_property
    def overall(self) -> dict[str, dict[str, Any]]:
        """Label -> scores over all held-out runs; a run held out twice counts twice."""
        return {label: self.scores(label) for label in self.labels}

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Intervals that held too few runs, fits that failed their gate, splits without a score."""
        return (*self._too_narrow(), *self._of_fits(), *self._of_failures())

    def _too_narrow(self) -> Iterator[str]:
        from scipy.stats import binom

        for label, found in self.overall.items():
            share, count = found["coverage"][WIDTH], found["n_test"]
            inside = round(share * count)
            if binom.cdf(inside, count, int(WIDTH) / 100) < SURE:
                yield (
                    f"{label}: {WIDTH}% intervals held {inside} of {count} held-out runs "
                    f"({share:.0%}): they are too narrow."
                )

    def _of_fits(self) -> Iterator[str]:
        for label in self.labels:
            all_of = self.of(label)
            failed = [(o, o.gate) for o in all_of if o.gate is not None and not o.gate.converged]
            warned = [o for o in all_of if o.warnings and (o.gate is None or o.gate.converged)]
            for first, gate in failed[:1]:
                count = f"{len(failed)} of {len(all_of)} fits failed their gate"
                yield f"{label}: {count}; {first.split}: {gate.headline()}"
            for first in warned[:1]:
                count = f"{len(warned)} of {len(all_of)} fits warned"
                yield f"{label}: {count}; {first.split}: {first.warnings[0]}"

    def _of_failures(self) -> Iterator[str]:
        for missing in self.failures:
            yield f"{missing.label}, {missing.split}: no score: {missing.error}"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "data": self.source,
            "split": self.rule,
            "scale": self._scale(),
            "splits": [
                {"name": s.name, "n_train": int(s.train.sum()), "n_test": int(s.test.sum())}
                | {"train": s.why}
                for s in self.splits
            ],
            "results": {label: self._record(label) for label in self.labels},
            "weights": {split: dict(w) for split, w in self.weights.items()},
            "failures": [vars(m) for m in self.failures],
            "warnings": list(self.warnings),
        }

    def _record(self, label: str) -> dict[str, Any]:
        per_split = {
            o.split: {
                "n_train": o.n_train,
                **o.held.scores(),
                "converged": o.gate.converged if o.gate is not None else None,
                "gate": o.gate.to_dict() if o.gate is not None else None,
                "warnings": list(o.warnings),
            }
            for o in self.of(label)
        }
        return {"overall": self.overall[label], "splits": per_split}

    def to_frame(self) -> "pd.DataFrame":
        """One row a held-out run: law, split, row, observed, quantiles, PIT, CRPS, log score."""
        return frame(
            [
                {
                    "law": o.label,
                    "split": o.split,
                    "row": int(o.held.rows[k]),
                    "observed": float(o.held.observed[k]),
                    **{q: float(v[k]) for q, v in o.held.quantiles.items()},
                    "pit": float(o.held.pit[k]),
                    "crps": float(o.held.crps[k]),
                    "log_score": float(o.held.log_score[k]),
                }
                for o in self.outcomes
                for k in range(len(o.held))
            ]
        )

    def table(self) -> Table:
        """The scores: a row for each law, and for each of its splits where these are few."""
        rows = []
        for label in self.labels:
            rows.append(_row(label, self.overall[label]))
            if 1 < len(self.splits) <= FEW:
                rows += [_row(f"  {o.split}", o.held.scores()) for o in self.of(label)]
        notes = [
            f"% inside: held-out runs inside their {', '.join(INTERVALS)}% intervals of a new run",
            f"scores of {self._scale()}, lower is better; interval score and (median) width of "
            f"{WIDTH}% intervals; largest error relative to what was observed",
        ]
        for split, weights in list(self.weights.items())[:FEW]:
            listed = ", ".join(f"{law} {w:.2f}" for law, w in weights.items())
            notes.append(f"stack, {split}: {listed}")
        return Table(COLUMNS, rows, self.headline(), self.warnings, notes)

    def headline(self) -> str:
        """What was fitted and what predicted, in one line."""
        if len(self.splits) > 1:
            return f"{self.source}, {self.rule}: {len(self.splits)} splits, each predicted unseen"
        s = next(iter(self.splits))
        return (
            f"{self.source}: fitted to {s.train.sum()} runs ({s.why}), "
            f"predicting the other {s.test.sum()}"
        )

    def _scale(self) -> str:
        return f"log {self.response}" if self.log else self.response


def _row(label: str, found: dict[str, Any]) -> list[str]:
    error = found["rmse_log_loss"] if "rmse_log_loss" in found else found["rmse"]
    return [
        label,
        str(found["n_test"]),
        "/".join(f"{100 * share:.0f}" for share in found["coverage"].values()),
        *(quantity(v) for v in (found["interval_score"], found["crps"], error)),
        f"{found['max_relative_error']:.1%}",
        quantity(found["median_width"]),
    ]
