"""IsoFLOP slices: the best size of each budget, and the power law that the best sizes follow."""
