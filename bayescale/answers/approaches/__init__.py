"""The three ways to a compute-optimal size side by side: parametric, IsoFLOP, envelope."""

from bayescale.answers.approaches.parametric import Parametric
from bayescale.answers.approaches.result import Approaches
from bayescale.answers.approaches.run import approaches

__all__ = ["Approaches", "Parametric", "approaches"]
