"""What posterior draws say of rows of a table: the law's mean and the noise's parameters."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescale.inference.model import Model


def at_rows(
    model: Model, batch: Mapping[str, Any], sites: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Mean and parameters of each row under each draw.

    Parameters
    ----------
    model : Model
    batch : mapping
        Arrays of the rows, from `make_batch`.
    sites : mapping
        Site -> draws, shape (draw, ...).

    Returns
    -------
    mean : array, shape (draw, row)
    params : dict
        Parameter -> array of shape (draw, row or 1, ...).
    """
    draws, rows = len(next(iter(sites.values()))), len(batch["response"])
    at = model.by_row(model.coordinates(sites), batch["index"])
    params = model.to_params(at, batch["refs"])
    mean = np.broadcast_to(model.mean(params, batch["inputs"], batch.get("drift")), (draws, rows))
    return mean, params
