"""What intervals beyond the data are worth, in words."""


def beyond_warning(drifting: bool = False) -> str:
    """What must be said of intervals beyond the data.

    Measured on public sweeps fitted below a tenth of their largest compute
    (``python -m benchmarks.extrapolation``): the 90% predictive interval held 49% of the larger
    runs of 28 sweeps with the plain Chinchilla law, 85% with drift.

    Parameters
    ----------
    drifting : bool
        Whether the intervals allow for a drift away from the law.
    """
    if drifting:
        return (
            "Intervals widen with the reach: on real sweeps extrapolated tenfold, 90% intervals of "
            "this kind held 85% of the runs, below 60% on 3 of 28 sweeps; `bayescale holdout` "
            "tells it of yours."
        )
    return (
        "Intervals take the law as exact: on real sweeps extrapolated tenfold, 90% intervals of "
        "this kind held about half of the runs; `bayescale holdout` tells it of yours."
    )


def shares_note(shares: float) -> str:
    """What must be said of best shares beyond the runs.

    Parameters
    ----------
    shares : float
        The drift's.
    """
    return (
        f"beyond the runs the log ratio of two best shares is taken to err by {shares:g} per "
        "e-fold of compute besides; the one public set that tells leaves open 0 to 0.14"
    )
