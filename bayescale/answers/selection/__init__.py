"""Which backbone to train on a compute budget, by the capability law."""
