"""The backbones that compete, and what each reaches with so many tokens, draw by draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.selection.entries import Entries
from bayescale.answers.surface import Surface, surface
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.fitted import Fit

CHUNK = 2_000_000  # elements of draw x budget x model that a curved law is computed for at once


@dataclass(frozen=True)
class Contenders:
    """Backbones with their laws.

    Parameters
    ----------
    names : tuple of str
    larger : bool
        Whether a larger response is better.
    parts : tuple of (Surface, positions, inputs)
        Backbones that share parameters, with the law's inputs but tokens.
    offset : array, shape (draw, model), or None
        What is a model's own beside the law, on the scale of the noise.
    link : str
        Scale on which the law is a line in ln D.
    level, rate : array, shape (draw, model), or None
        On that scale, the response at ``exp(log_centre)`` tokens, offset included, and its gain
        per e-fold; None for a law that is no line, rate None without tokens.
    log_centre : float
    """

    names: tuple[str, ...]
    larger: bool
    parts: tuple[tuple[Surface, np.ndarray, Mapping[str, np.ndarray]], ...] = field(repr=False)
    offset: np.ndarray | None = field(repr=False)
    link: str
    level: np.ndarray | None = field(repr=False, default=None)
    rate: np.ndarray | None = field(repr=False, default=None)
    log_centre: float = 0.0

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.parts[0][0].size

    @property
    def straight(self) -> bool:
        """Whether everything is a line in ln D on one scale."""
        return self.level is not None and self.rate is not None

    @property
    def reads_tokens(self) -> bool:
        """Whether the response depends on tokens."""
        return any(i.name == "D" for i in self.parts[0][0].fit.law.inputs)

    def reach(self, tokens: np.ndarray, step: int = 1) -> np.ndarray:
        """Response of all backbones, shape (draw, budget, model).

        Parameters
        ----------
        tokens : array, shape (budget, model)
            NaN: no response.
        step : int
            Every how many-th draw.
        """
        draws = np.arange(0, self.size, step)
        if self.level is not None:
            total = np.broadcast_to(
                self.level[draws, None, :], (len(draws), *np.shape(tokens))
            ).copy()
            if self.rate is not None:
                total += self.rate[draws, None, :] * (np.log(tokens) - self.log_centre)
            return self._back(total)
        few = max(1, CHUNK // max(1, np.size(tokens)))
        return np.concatenate(
            [self._curved(draws[k : k + few, None], tokens) for k in range(0, len(draws), few)]
        )

    def at(self, draw: np.ndarray, models: Sequence[int], tokens: np.ndarray) -> np.ndarray:
        """Response of some backbones, each draw at tokens of its own: shape (draw, model)."""
        if self.level is not None:
            total = self.level[draw][:, models]
            if self.rate is not None:
                total = total + self.rate[draw][:, models] * (np.log(tokens) - self.log_centre)
            return self._back(total)
        everyone = np.full((len(draw), len(self.names)), np.nan)
        everyone[:, models] = tokens
        return self._curved(draw[:, None], everyone[:, None, :], models)[:, 0, models]

    def _back(self, total: np.ndarray) -> np.ndarray:
        """Bring what is on the link's scale to the response."""
        return SCALES[self.link].backward(total)

    def _curved(
        self, draw: np.ndarray, tokens: np.ndarray, models: Sequence[int] | None = None
    ) -> np.ndarray:
        """The law itself, shape (draw, budget, model); tokens (budget, model), or one a draw."""
        shape = (len(draw), tokens.shape[-2], len(self.names))
        found = np.full(shape, np.nan)
        each = np.broadcast_to(tokens, shape)
        for laws, places, inputs in self.parts:
            for k, place in enumerate(places):
                if models is not None and place not in models:
                    continue
                own = {name: v[k] for name, v in inputs.items()}
                if self.reads_tokens:
                    own["D"] = each[:, :, place]
                found[:, :, place] = laws.mean(draw, **own)
        if self.offset is None:
            return found
        at = SCALES[self.parts[0][0].fit.model.noise.on]
        with np.errstate(divide="ignore", invalid="ignore"):  # a line may leave 0 to 1
            moved = at.forward(np.clip(found, at.lower, at.upper)) + self.offset[draw]
        return np.where(np.isnan(found), np.nan, at.backward(moved))


def gather(fit: "Fit", entries: Entries, offsets: bool, seed: int, larger: bool) -> Contenders:
    """The contenders of a fit.

    Parameters
    ----------
    fit : Fit
    entries : Entries
    offsets : bool
        Whether a model's own offset counts: known for those of the fit, drawn for new ones.
    seed : int
        Seed of offsets and groups that the fit hasn't seen.
    larger : bool
        Whether a larger response is better.
    """
    parts = []
    for nth, (group, places) in enumerate(entries.groups().items()):
        known = dict(group)
        laws = surface(fit, known, seed if len(known) == len(entries.columns) else seed + nth)
        parts.append((laws, places, {k: v[places] for k, v in entries.inputs.items()}))
    offset = _offsets(fit, entries, parts, seed) if offsets else None
    link = entries.link
    plain = Contenders(entries.names, larger, tuple(parts), offset, link)
    drifts = fit.model.drift is not None  # no line then
    if not link or drifts or (offset is not None and fit.model.noise.on != link):
        return plain
    level, rate = _line(plain, entries.centre)
    level = level if offset is None else level + offset
    return Contenders(
        entries.names, larger, tuple(parts), None, link, level, rate, float(np.log(entries.centre))
    )


def _line(runners: Contenders, centre: float) -> tuple[np.ndarray, np.ndarray | None]:
    """Level at the centre and gain per e-fold of each backbone on the link's scale."""
    at = SCALES[runners.link].forward
    shape, draws = (runners.size, len(runners.names)), np.arange(runners.size)[:, None]
    level, rate = np.empty(shape), np.empty(shape)
    for laws, places, inputs in runners.parts:
        tokens = {"D": np.full(len(places), centre)} if runners.reads_tokens else {}
        level[:, places] = at(laws.mean(draws, **inputs, **tokens))
        if tokens:
            more = {"D": tokens["D"] * np.e}
            rate[:, places] = at(laws.mean(draws, **inputs, **more)) - level[:, places]
    return level, rate if runners.reads_tokens else None


def _offsets(fit: "Fit", entries: Entries, parts: Sequence[Any], seed: int) -> np.ndarray | None:
    """Each model's own offset on the noise's scale, shape (draw, model)."""
    if not fit.model.noise.offsets:
        return None
    labels = fit.layout.labels[str(fit.model.noise.runs)]
    z, size = fit.draws("run_offset"), parts[0][0].size
    rng = np.random.default_rng([fit.seed, seed, 29])
    found = np.empty((size, len(entries.names)))
    for laws, places, _ in parts:
        sd = np.asarray(laws.params["run_sd"]).reshape(size, -1)[:, 0]
        for place in places:
            name = entries.names[place]
            known = not entries.new and name in labels
            own = z[:, labels.index(name)] if known else rng.standard_normal(size)
            found[:, place] = sd * own
    return found
