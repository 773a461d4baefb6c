"""Transfer tax: text benchmarks on which a better backbone is a worse multimodal model."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.backbones import backbones_of
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.fitted import Fit

SURE = 0.95  # probability from which a benchmark is called a tax, or one that carries over


@dataclass(frozen=True)
class TransferTax(Shown):
    """Posterior of the transfer coefficients lambda of text benchmarks.

    Parameters
    ----------
    benchmarks : tuple of str
    draws : array, shape (draw, benchmark)
        lambda; the squares of a draw add up to 1.
    title : str
    converged : bool
    warnings, notes : tuple of str
    """

    benchmarks: tuple[str, ...]
    draws: np.ndarray = field(repr=False)
    title: str
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def below_zero(self) -> np.ndarray:
        """P(lambda < 0), shape (benchmark,)."""
        return (self.draws < 0).mean(axis=0)

    @property
    def tax(self) -> tuple[str, ...]:
        """Benchmarks with P(lambda < 0) > .95, the heaviest first."""
        return self._sure(self.below_zero, 1)

    @property
    def positive(self) -> tuple[str, ...]:
        """Benchmarks with P(lambda > 0) > .95, the strongest first."""
        return self._sure((self.draws > 0).mean(axis=0), -1)

    def _sure(self, probability: np.ndarray, sign: int) -> tuple[str, ...]:
        order = np.argsort(sign * np.median(self.draws, axis=0), kind="stable")
        return tuple(self.benchmarks[k] for k in order if probability[k] > SURE)

    def records(self) -> list[dict[str, Any]]:
        """A record for each benchmark, the largest lambda first."""
        order = np.argsort(-np.median(self.draws, axis=0), kind="stable")
        return [
            {
                "benchmark": self.benchmarks[k],
                "lambda": intervals(self.draws[:, k]),
                "below_zero": float(self.below_zero[k]),
            }
            for k in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "converged": self.converged,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "tax": list(self.tax),
            "positive": list(self.positive),
            "benchmarks": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each benchmark."""
        return frame(
            [
                {"benchmark": r["benchmark"], "below_zero": r["below_zero"], **r["lambda"]}
                for r in self.records()
            ]
        )

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, benchmark)."""
        import xarray as xr

        return xr.Dataset(
            {"lambda": (("draw", "benchmark"), self.draws)}, {"benchmark": list(self.benchmarks)}
        )

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for r in self.records():
            q, verdict = r["lambda"], ""
            if r["benchmark"] in self.tax:
                verdict = "tax"
            elif r["benchmark"] in self.positive:
                verdict = "carries over"
            middle, low, high = (f"{q[k]:+.3f}" for k in ("median", "q05", "q95"))
            rows.append(
                [r["benchmark"], middle, f"{low} to {high}", f"{r['below_zero']:.3f}", verdict]
            )
        taxed = ", ".join(self.tax) if self.tax else "no benchmark"
        lines = [f"transfer tax with probability above {SURE:.0%}: {taxed}", *self.notes]
        columns = ["", "lambda", "90%", "P(< 0)", "verdict"]
        return Table(columns, rows, self.title, self.warnings, lines, text=("", "verdict"))


def transfer_tax(fit: "Fit") -> TransferTax:
    r"""How each text benchmark of the backbone carries over to the multimodal model.

    :math:`\lambda_i = w^\top \gamma_i`, with w the direction of capability and :math:`\gamma_i`
    the benchmark's loadings (arXiv:2608.00013, section 4). A negative one is a transfer tax: of
    two backbones alike on all else, the better one on that benchmark is the worse one to train.

    Parameters
    ----------
    fit : Fit
        Of a capability law, of accuracy or of loss, set up from benchmarks.

    Returns
    -------
    TransferTax

    Raises
    ------
    FitError
        No capability law, or one of scores whose benchmarks aren't known.
    """
    known = backbones_of(fit, ("capability", "capability-loss"))
    if known.scores is None:
        raise FitError(
            "this fit was made from scores S_1, S_2, … without the benchmarks behind them, so "
            "nothing is known of benchmarks; fit with benchmarks='text_*' or scores=…."
        )
    notes = ["of two backbones alike on all else: lambda is what a point more on this one is worth"]
    if known.count == 1:
        size = len(next(iter(fit.sites.values())))
        draws = np.broadcast_to(known.scores.loading_array[0], (size, len(known.scores.benchmarks)))
        notes.append("one component: lambda is its loading, and accuracy says nothing about it")
    else:
        draws = fit.draws("lambda")
    return TransferTax(
        benchmarks=known.scores.benchmarks,
        draws=draws,
        title=fit.title,
        converged=fit.converged,
        warnings=fit.warnings,
        notes=tuple(notes),
    )
