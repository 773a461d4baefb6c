"""How well intervals hold beyond the data, on real sweeps."""
