"""Public data sets: one file a kind of design.

A file has an address only where the copy with this hash is byte-identical to the original; the
others were derived from it and are read from the folder named by BAYESCALE_DATA.
"""

from bayescale.data.catalog.accuracies import ACCURACIES
from bayescale.data.catalog.curves import CURVES
from bayescale.data.catalog.mixtures import MIXTURES
from bayescale.data.catalog.record import DataSet
from bayescale.data.catalog.repeated import REPEATED
from bayescale.data.catalog.simulated import SIMULATED
from bayescale.data.catalog.sparse import SPARSE
from bayescale.data.catalog.sweeps import SWEEPS

CATALOG: tuple[DataSet, ...] = (
    *SWEEPS,
    *SIMULATED,
    *REPEATED,
    *MIXTURES,
    *CURVES,
    *SPARSE,
    *ACCURACIES,
)

__all__ = ["CATALOG", "DataSet"]
