"""The fit beside its runs: curves with bands, and what is left over."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.reporting.blocks import Block, Picture, Pictures, Words
from bayescale.reporting.figures import axes_picture

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.reporting.study import Study

MOST = 4  # columns that residuals are drawn against


def bands(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    fit = study.fit
    found = []
    if fit.law.of_n_and_d or len(fit.law.columns) == 1:
        found.append(_curves(study))
    found += [_residuals(study, name) for name in _against(fit)]
    yield Pictures(found)
    yield Words(
        "Bands hold 50% and 90%: of the law's mean on a curve, of new runs (noise included) beside "
        "residuals, where one run in ten lies outside by chance. They take the law as right: "
        "Checks and Reach say how far to trust that.",
        "note",
    )


def _curves(study: "Study") -> Picture:
    from bayescale.plot import loss_curves

    fit = study.fit
    what = "compute C" if fit.law.of_n_and_d else fit.law.columns[0]
    response = fit.law.response
    alt = (
        f"{response.capitalize()} against {what}: {len(fit.runs):,} runs as points, the fitted "
        "curve as a line with 50% and 90% bands."
    )
    caption = f"{response.capitalize()} against {what}: the runs, and what the law expects."
    if fit.law.of_n_and_d:
        caption += (
            " The curve is the least loss that a budget buys; runs off the optimum lie above."
        )
    options: dict[str, Any] = {"title": f"{response.capitalize()} against {what}"}
    options |= {"seed": study.seed, **study.asked.group}
    return axes_picture(loss_curves, alt, caption, fit=fit, **options)


def _against(fit: "Fit") -> list[str]:
    """What residuals are drawn against: compute, or what the law reads."""
    if fit.law.of_n_and_d and "C" in fit.runs.table:
        return ["C"]
    varied = [c for c in fit.law.number_columns if np.ptp(fit.runs.column(c)) > 0]
    return [*varied[: MOST - 1], "fitted"]


def _residuals(study: "Study", name: str) -> Picture:
    from bayescale.plot import residuals

    fit = study.fit
    against = f"the fitted {fit.law.response}" if name == "fitted" else name
    how = "in percent" if fit.model.noise.on == "log" else "as differences"
    alt = (
        f"Residuals of {len(fit.runs):,} runs {how}, against {against}, with the bands that hold "
        "50% and 90% of new runs."
    )
    caption = f"What is left over, observed against expected {how}, by {against}."
    options: dict[str, Any] = {"against": name, "title": f"Residuals by {against}"}
    options["seed"] = study.seed
    return axes_picture(residuals, alt, caption, fit=fit, **options, **study.asked.group)
