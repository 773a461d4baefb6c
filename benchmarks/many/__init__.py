"""Many fits: sweeps simulated from one known law, fitted by bayescale and by others."""
