"""Capability scores: few numbers a model, from its accuracies on many benchmarks."""

from bayescale.data.scores.fitting import capability_scores
from bayescale.data.scores.result import Scores

__all__ = ["Scores", "capability_scores"]
