"""The record of a public data set: where it comes from, and what of it is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayescale.data.cost import SIX_ND, CostModel
from bayescale.data.curves.options import Curves

RAW = "https://raw.githubusercontent.com"
NONE_STATED = "none stated"


@dataclass(frozen=True)
class DataSet:
    """A public data set, as a record.

    Parameters
    ----------
    name
        Short name, for `load_dataset` and the shell.
    title
        One line for people.
    file
        Path below the data folder (or below this package if `packaged`).
    sha256
        Hash of the file.
    url
        Address of the original with a pinned commit, or None where the file was derived.
    columns
        Canonical name to column of the file, where it isn't recognised by itself.
    where
        Row filter.
    best_per
        Of the runs that agree in these canonical columns only the one with the lowest loss is
        kept (sweeps over learning rates).
    cost
        How N, D and C are tied.
    citation
        Whom to cite.
    licence
        Licence as the source states it.
    note
        What to know before fitting.
    laws
        Laws it is suited for.
    packaged
        Whether the file lies inside the package.
    curves
        How checkpoints are cleaned, where rows are checkpoints of runs.
    simulator
        For a simulated data set ``module:function``, which gives its table; `file` is then the
        module's, and the hash isn't checked, since the last digits depend on the machine.
    drop_missing
        Whether rows with an empty cell in N, D, C or loss are left out.
    """

    name: str
    title: str
    file: str
    sha256: str
    citation: str
    licence: str
    note: str
    url: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str | None = None
    best_per: tuple[str, ...] = ()
    cost: CostModel = SIX_ND
    laws: tuple[str, ...] = ("chinchilla",)
    packaged: bool = False
    curves: Curves | None = None
    drop_missing: bool = False
    simulator: str = ""
