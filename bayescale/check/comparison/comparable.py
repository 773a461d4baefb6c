"""Whether fits can be compared at all: the same runs, and the same response."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.comparison.naming import check_response
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def check_comparable(fits: "Mapping[str, Fit]") -> None:
    """Raise unless all fits are of one response at the same runs.

    Whether noise is on the response or on its logarithm makes no difference: all densities are of
    the response (`bayescale.noise.Noise.log_density`).

    Raises
    ------
    FitError
        Fewer than two fits, or the two that differ, and in what.
    """
    if len(fits) < 2:
        raise FitError(
            f"only '{next(iter(fits))}' was given; comparing needs two fits or more to the same "
            "runs (loo says how one fit predicts)."
        )
    check_response(fits)
    (first, one), *others = fits.items()
    for name, fit in others:
        _check_rows(first, one, name, fit)
        _check_values(first, one, name, fit)


def _check_rows(first: str, one: "Fit", name: str, fit: "Fit") -> None:
    ours, theirs = one.runs.row_numbers, fit.runs.row_numbers
    if len(ours) == len(theirs) and (ours == theirs).all():
        return
    only = sorted({int(r) for r in ours} ^ {int(r) for r in theirs})
    if only:
        where = first if only[0] in ours else name
        rest = f" and {len(only) - 1} more" if len(only) > 1 else ""
        what = f"row {only[0]}{rest} {'is' if len(only) == 1 else 'are'} not in both"
        what += f" (row {only[0]} only in '{where}')"
    else:
        what = "their rows are in another order"
    raise FitError(
        f"'{first}' was fitted to {len(ours)} rows of {one.runs.source} and '{name}' to "
        f"{len(theirs)} of {fit.runs.source}, and {what}: only densities of the same runs can be "
        "compared. Fit both to the same rows."
    )


def _check_values(first: str, one: "Fit", name: str, fit: "Fit") -> None:
    response = one.law.response
    ours, theirs = (f.runs.column(response).astype(float) for f in (one, fit))
    differ = ours != theirs
    if differ.any():
        k = int(np.argmax(differ))
        other = "" if one.runs.sha256 == fit.runs.sha256 else ", whose contents differ,"
        raise FitError(
            f"'{first}' and '{name}' were fitted to different runs: {response} in row "
            f"{int(one.runs.row_numbers[k])} is {ours[k]:.6g} in {one.runs.source} and "
            f"{theirs[k]:.6g} in {fit.runs.source}{other}. Fit both to the same table."
        )
