"""Ways to fit a table of checkpoints, from the careless to the careful."""

from dataclasses import dataclass

import bayescale as bs


@dataclass(frozen=True)
class Way:
    """One way to treat checkpoints of a run.

    Parameters
    ----------
    name : str
    noise : Noise
    last : bool
        Whether only the last checkpoint of each run is used.
    """

    name: str
    noise: bs.Noise
    last: bool = False


WAYS = (
    Way("all checkpoints, independent", bs.Noise()),
    Way("all, an offset a run", bs.Noise(runs="run")),
    Way("all, AR(1) in ln D without offsets", bs.Noise(runs="run", along="D", offset=False)),
    Way("all, offset and AR(1) in ln D", bs.Noise(runs="run", along="D")),
    Way("last checkpoint of each run", bs.Noise(), last=True),
)
