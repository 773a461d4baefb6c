"""Lower envelope of training curves: which size is best at which compute, and how sure that is.

One file a step: reading curves, their posterior, where neighbouring ones cross, the power law
through the crossings, and the answer.
"""

from bayescale.answers.envelope.result import Envelope
from bayescale.answers.envelope.run import envelope

__all__ = ["Envelope", "envelope"]
