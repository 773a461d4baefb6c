"""Simulation-based calibration of every law: `python -m benchmarks.calibration`."""
