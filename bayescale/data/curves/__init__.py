"""Training curves: many checkpoints of few runs, cleaned before a law sees them.

One file a step: which rows are one run, what is dropped from its start, their order, smoothing,
thinning. What was done is said in the flags of the table.
"""

from bayescale.data.curves.clean import clean_curves
from bayescale.data.curves.options import Curves

__all__ = ["Curves", "clean_curves"]
