"""Benchmarks of bayescale against what else fits the same model; not part of the wheel."""
