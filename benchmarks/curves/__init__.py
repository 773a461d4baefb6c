"""Whether many checkpoints of few runs fake certainty: simulated and real training curves."""
