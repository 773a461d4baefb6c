"""A model fitted again, and compared with its reference in Monte Carlo standard errors."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.tables import Shown, Table, with_spread
from bayescale.zoo.cards import Quantity, card
from bayescale.zoo.refitting import refit_card

if TYPE_CHECKING:
    from bayescale.fitted import Fit

MOST = 5.0  # Monte Carlo standard errors of a difference; a chance of 6e-7 for each quantity
KINDS = ("param", "derived", "noise", "drift")  # of quantities that are told


@dataclass(frozen=True)
class Agreement(Shown):
    """What a model gave again, quantity by quantity.

    Parameters
    ----------
    model : str
    rows : tuple
        Name, reference mean, new mean, reference SD, and the difference of the means in standard
        errors of that difference: sqrt(MCSE_reference^2 + MCSE_new^2).
    missing : tuple of str
        Quantities of the reference that the new fit hasn't.
    gates : tuple of str
        The gate's verdicts, that of the reference first.
    same_gate : bool
        Whether both passed, or neither.
    seed : int
        Of the new fit.
    """

    model: str
    rows: tuple[tuple[str, float, float, float, float], ...]
    missing: tuple[str, ...]
    gates: tuple[str, str]
    same_gate: bool
    seed: int

    @property
    def failed(self) -> tuple[str, ...]:
        """Quantities whose means differ by more than 5 standard errors."""
        return tuple(r[0] for r in self.rows if not abs(r[4]) <= MOST)

    @property
    def passed(self) -> bool:
        """Whether everything agrees."""
        return self.same_gate and not self.failed and not self.missing

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        names = ("quantity", "reference", "again", "sd", "z")
        return {
            "model": self.model,
            "passed": self.passed,
            "seed": self.seed,
            "limit": MOST,
            "gate": {"reference": self.gates[0], "again": self.gates[1], "same": self.same_gate},
            "missing": list(self.missing),
            "quantities": [
                dict(zip(names, row, strict=True)) | {"passed": row[0] not in self.failed}
                for row in self.rows
            ],
        }

    def table(self) -> Table:
        """The comparison as a table."""
        rows = [
            [name, with_spread(old, sd), with_spread(new, sd), f"{z:+.1f}", self._word(name)]
            for name, old, new, sd, z in self.rows
        ]
        told = "agrees with its reference" if self.passed else "DIFFERS from its reference"
        warnings = [f"the new fit has no {name}." for name in self.missing]
        if not self.same_gate:
            warnings.append(f"the gate said {self.gates[0]}, and now {self.gates[1]}.")
        return Table(
            ["", "reference", "again", "MCSE", ""],
            rows,
            f"{self.model} {told}",
            warnings,
            [f"difference of the means in Monte Carlo standard errors, at most {MOST:g}"],
            text=["", ""],
        )

    def _word(self, name: str) -> str:
        return "differs" if name in self.failed else "ok"


def check(name: str | Path, seed: int | None = None, **settings: Any) -> Agreement:
    """Fit a model again with another seed, and compare with its reference.

    Parameters
    ----------
    name : str or Path
        Name of a shipped model, or path of a TOML file.
    seed : int, optional
        Default: the model's own plus one, so that agreement is no copy.
    **settings
        Passed to `bayescale.fit`: ``progress``, ``device``.

    Returns
    -------
    Agreement

    Raises
    ------
    FitError
        The model has no reference, or what `bayescale.zoo.refit` raises.
    """
    told = card(name)
    if told.reference is None:
        raise FitError(f"{name} has no [reference] to compare with.")
    seed = told.sampler.seed + 1 if seed is None else seed
    again = refit_card(told, str(name), seed, **settings)
    old, new = told.reference.quantities, quantities(again)
    rows = tuple(
        (q, old[q].mean, new[q].mean, old[q].sd, _apart(old[q], new[q])) for q in old if q in new
    )
    return Agreement(
        model=Path(name).stem,
        rows=rows,
        missing=tuple(q for q in old if q not in new),
        gates=(told.reference.gate, again.gate.headline()),
        same_gate=told.reference.converged == again.converged,
        seed=seed,
    )


def _apart(old: Quantity, new: Quantity) -> float:
    """Difference of the means in its standard errors."""
    return (new.mean - old.mean) / float(np.hypot(old.mcse, new.mcse))


def quantities(fit: "Fit") -> dict[str, Quantity]:
    """The posterior of each quantity that is told of a fit, numbers to seven digits."""
    columns, found = fit.scalars, {}
    for k, name in enumerate(columns["parameter"]):
        variable = str(name).split("[")[0]
        if variable in ("run_offset", "drift_step") or fit.variables[variable].kind not in KINDS:
            continue
        if columns["sd"][k] == 0:  # a constant
            continue
        ess = np.nanmin([columns["ess_bulk"][k], columns["ess_tail"][k]])
        told = {c: columns[c][k] for c in ("mean", "sd", "q05", "q95", "mcse", "rhat")}
        found[str(name)] = Quantity(
            **{c: float(f"{v:.7g}") for c, v in told.items()}, ess=float(f"{ess:.0f}")
        )
    return found
