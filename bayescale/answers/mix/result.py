"""The best mixture as an answer: every draw's optimum, the single choice, what was tried."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.mix.choice import MixtureChoice
from bayescale.tables import Shown, Table, frame, intervals, quantity

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NOTHING = 5e-4  # share of a source below which it has none to speak of


@dataclass(frozen=True)
class Mixture(Shown):
    """Posterior of the best mixture under one budget.

    Parameters
    ----------
    sources, targets : tuple of str
    draws : mapping
        ``share`` and ``tokens``, shape (draw, source): sampled tokens, repeated ones counted as
        often as they are seen; ``epochs``, shape (draw, source): tokens over unique ones, NaN
        where none are stated; ``loss``, shape (draw, target); ``D`` and ``N``, shape (draw,), N
        NaN for a law without; ``value``, shape (draw,): what is minimised, nats/token.
    recommended : MixtureChoice
        The single mixture with the least expected value.
    tried : MixtureChoice or None
        The same among mixtures of the data at this budget; None if the limits allow none.
    choices : tuple of MixtureChoice
        Mixtures that the user asked about.
    seen : array, shape (mixture, source)
        Shares of the data's mixtures.
    aim, budget : str
        What is minimised, and under which budget, in words.
    of_draws : int
        Draws of the posterior, of which ``draws`` has every so manieth.
    title, unit : str
    converged : bool
    warnings : tuple of str
    notes : tuple of str
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    draws: Mapping[str, np.ndarray] = field(repr=False)
    recommended: MixtureChoice = field(repr=False)
    tried: MixtureChoice | None = field(repr=False)
    choices: tuple[MixtureChoice, ...] = field(repr=False)
    seen: np.ndarray = field(repr=False)
    aim: str
    budget: str
    of_draws: int
    title: str
    unit: str
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def unused(self) -> dict[str, float]:
        """Probability that the best mixture has none of a source (less than .05%)."""
        shares = (self.draws["share"] < NOTHING).mean(axis=0)
        return dict(zip(self.sources, shares.tolist(), strict=True))

    @property
    def gain(self) -> np.ndarray | None:
        """What the recommended mixture gains on the best tried one, draws in nats/token."""
        return None if self.tried is None else self.tried.value - self.recommended.value

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        sources = []
        for k, name in enumerate(self.sources):
            record: dict[str, Any] = {"source": name}
            for key in ("share", "tokens", "epochs"):
                found = self.draws[key][:, k]
                record[key] = intervals(found) if np.isfinite(found).all() else None
            sources.append(record | {"unused": self.unused[name]})
        gain = self.gain
        return {
            "budget": self.budget,
            "objective": self.aim,
            "unit": self.unit,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "D": intervals(self.draws["D"]),
            "N": intervals(self.draws["N"]) if np.isfinite(self.draws["N"]).all() else None,
            "value": intervals(self.draws["value"]),
            "sources": sources,
            "losses": {n: intervals(v) for n, v in zip(self.targets, self._losses(), strict=True)},
            "recommended": self.recommended.to_dict(),
            "tried": None if self.tried is None else self.tried.to_dict(),
            "gain_on_tried": None
            if gain is None
            else intervals(gain) | {"probability": float((gain > 0).mean())},
            "choices": [c.to_dict() for c in self.choices],
            "notes": list(self.notes),
        }

    def _losses(self) -> list[np.ndarray]:
        """Losses of each target; infinite ones, of targets that don't count, as very large."""
        return [np.minimum(v, 1e300) for v in self.draws["loss"].T]

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each source and quantity."""
        rows = []
        for record in self.to_dict()["sources"]:
            for key in ("share", "tokens", "epochs"):
                if record[key]:
                    rows.append({"source": record["source"], "quantity": key, **record[key]})
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, source, target)."""
        import xarray as xr

        dims = {"share": "source", "tokens": "source", "epochs": "source", "loss": "target"}
        arrays = {k: (("draw", dims[k]) if k in dims else ("draw",), v)
                  for k, v in self.draws.items()}  # fmt: skip
        axes = {"source": list(self.sources), "target": list(self.targets)}
        return xr.Dataset(arrays, axes)

    def table(self) -> Table:
        """The answer as a table."""
        record, chosen = self.to_dict(), self.recommended
        with_epochs = any(r["epochs"] for r in record["sources"])
        with_tried = self.tried is not None
        rows = []
        for r in record["sources"]:
            share, tokens, name = r["share"], r["tokens"], r["source"]
            row = [name, f"{share['median']:.1%}", f"{share['q05']:.1%} to {share['q95']:.1%}"]
            row += [quantity(tokens["median"])]
            row += [f"{quantity(tokens['q05'])} to {quantity(tokens['q95'])}"]
            if with_epochs:
                row.append(f"{r['epochs']['median']:.3g}" if r["epochs"] else "–")
            row += [f"{r['unused']:.2f}", f"{chosen.shares[name]:.1%}"]
            if self.tried is not None:
                row.append(f"{self.tried.shares[name]:.1%}")
            rows.append(row)
        columns = ["", "share", "90%", "tokens", "90%", *(["epochs"] if with_epochs else [])]
        columns += ["P(none)", "best single", *(["best tried"] if with_tried else [])]
        return Table(columns, rows, self.title, self.warnings, self._said(record))

    def _said(self, record: Mapping[str, Any]) -> list[str]:
        said = [f"least {self.aim} at {self.budget}; 90% credible intervals"]
        if record["N"] and "N free" in self.budget:
            ends = [quantity(record["N"][q]) for q in ("median", "q05", "q95")]
            said.append(f"N = {ends[0]} ({ends[1]} to {ends[2]})")
        listed = [x for x in (self.recommended, self.tried, *self.choices) if x is not None]
        said += [x.describe(self.unit) for x in listed]
        if self.gain is not None:
            better = float((self.gain > 0).mean())
            said.append(
                f"the best single mixture beats the best tried with probability {better:.2f}, by "
                f"{np.median(self.gain):.2g} {self.unit} (median)"
            )
        return [*said, *self.notes]
