"""Test quantities: what was observed beside what the model replicates, and how rare that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

LEVEL = 0.05  # two-sided: a p-value below 2.5% or above 97.5% is flagged


@dataclass(frozen=True)
class Quantity:
    """One test quantity, observed and replicated.

    Parameters
    ----------
    name : str
        Within its check: ``slope``, ``curvature``, …
    unit : str
        What the numbers count.
    observed : float
        Its value for the data (median over draws, where it depends on the parameters).
    q05, median, q95 : float
        Quantiles of its value for replicated data.
    p_value : float
        Probability that a replicate is at least as large; ties count half.
    mcse : float
        Monte-Carlo standard error of the p-value.
    advice : str
        What to try next where it is flagged.
    detail : str
        Which run or group it is about.
    sided : {"both", "low"}
        Whether large p-values count against the model too.
    """

    name: str
    unit: str
    observed: float
    q05: float
    median: float
    q95: float
    p_value: float
    mcse: float
    advice: str
    detail: str = ""
    sided: Literal["both", "low"] = "both"

    @property
    def flagged(self) -> bool:
        """Whether the data are rare among replicates, at the two-sided level `LEVEL`."""
        if self.sided == "low":
            return self.p_value < LEVEL
        return self.p_value < LEVEL / 2 or self.p_value > 1 - LEVEL / 2

    @property
    def verdict(self) -> str:
        """In words: as replicated, too high, too low."""
        if not self.flagged:
            return "as replicated"
        if self.sided == "low":
            return "NOT UNIFORM"
        return "TOO HIGH" if self.p_value < 0.5 else "TOO LOW"

    def p_text(self, draws: int) -> str:
        """The p-value for people; beyond what so many draws can tell, a bound."""
        least = 0.001 if self.sided == "low" else 1 / draws
        if self.p_value < least:
            return f"< {least:.2g}"
        return f"> {1 - least:.4g}" if self.p_value > 1 - least else f"{self.p_value:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """A record of plain values."""
        return {
            "quantity": self.name,
            "unit": self.unit,
            "observed": self.observed,
            "q05": self.q05,
            "median": self.median,
            "q95": self.q95,
            "p_value": self.p_value,
            "mcse": self.mcse,
            "flagged": self.flagged,
            "verdict": self.verdict,
            "detail": self.detail,
            "advice": self.advice if self.flagged else "",
        }


def against(
    name: str,
    unit: str,
    values: tuple[np.ndarray, np.ndarray],
    effective: float,
    advice: str | tuple[str, str],
    detail: str = "",
) -> Quantity:
    """A test quantity from its values under each draw.

    The p-value is P(T(y_rep, theta) >= T(y, theta) | y) over draws (Gelman, Meng & Stern 1996).
    Its Monte-Carlo error is that of a share among ``effective`` independent draws, with one
    success and one failure added so that a share of 0 isn't called exact.

    Parameters
    ----------
    values : (array, array), shape (draw,) each
        Observed and replicated.
    effective : float
        Number of independent draws that these are worth.
    advice : str or (str, str)
        What to try where the observed value is too high or too low; one text for both, or two.
    """
    observed, replicated = values
    share = float(np.mean((replicated > observed) + 0.5 * (replicated == observed)))
    smooth = (share * effective + 1) / (effective + 2)
    low, middle, high = np.quantile(replicated, [0.05, 0.5, 0.95])
    text = advice if isinstance(advice, str) else advice[0 if share < 0.5 else 1]
    return Quantity(
        name=name,
        unit=unit,
        observed=float(np.median(observed)),
        q05=float(low),
        median=float(middle),
        q95=float(high),
        p_value=share,
        mcse=float(np.sqrt(smooth * (1 - smooth) / effective)),
        advice=text,
        detail=detail,
    )


@dataclass(frozen=True)
class Picture:
    """What a check's panel shows.

    Parameters
    ----------
    kind : {"trend", "slots", "tail", "pit"}
        Form of the panel.
    xlabel, ylabel : str
    data : mapping
        Arrays by name, as the form needs them.
    labels : sequence of str
        Names of points.
    log : str
        Which input the x axis shows on a log scale (``"N"``, ``"C"``, …); empty: none.
    """

    kind: Literal["trend", "slots", "tail", "pit"]
    xlabel: str
    ylabel: str
    data: Mapping[str, np.ndarray]
    labels: Sequence[str] = ()
    log: str = ""


@dataclass(frozen=True)
class Checked:
    """One check: its test quantities and its picture.

    Parameters
    ----------
    name : str
        ``trend_N``, ``tail``, ``group:family``, …
    title : str
        What it looks at, in a few words.
    quantities : tuple of Quantity
    picture : Picture
    note : str
        What a reader should know, such as slices left out.
    """

    name: str
    title: str
    quantities: tuple[Quantity, ...]
    picture: Picture
    note: str = ""


@dataclass(frozen=True)
class Skipped:
    """A check that these runs can't carry, and why."""

    name: str
    reason: str


def bands_of(draws: np.ndarray) -> dict[str, np.ndarray]:
    """Quantiles of replicates along the first axis, as pictures show them."""
    low, inner_low, middle, inner_high, high = np.quantile(
        draws, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0
    )
    return {"q05": low, "q25": inner_low, "median": middle, "q75": inner_high, "q95": high}
