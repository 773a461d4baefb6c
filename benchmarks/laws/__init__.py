"""Laws on real data: one file a data set, with what its source expects."""
