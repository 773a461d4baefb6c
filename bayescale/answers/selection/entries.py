"""Which backbones compete: those of the fit or of a table, with sizes, groups and covariates."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.backbones import backbones_of, scores_of
from bayescale.answers.selection.columns import Attributes
from bayescale.errors import DataError, FitError, nearest

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.laws.backbones import Backbones

LAWS = ("capability", "capability-loss")


@dataclass(frozen=True)
class Entries:
    """The backbones that compete.

    Parameters
    ----------
    names : tuple of str
    new : bool
        Whether they come from a table of scores, so that the fit knows no offset of theirs.
    inputs : mapping
        The law's inputs but tokens, each of shape (model, ...).
    columns : tuple of str
        Columns over which the law's parameters are pooled.
    labels : tuple of tuple of (column, group)
        Groups of each backbone that the fit knows.
    link : str
        Scale on which the law is a line in ln D; empty if on none.
    centre : float
        Tokens about which that line is written.
    unexplained : array, shape (model,)
        Root mean square of what the components leave of a new model's benchmarks.
    notes : tuple of str
    """

    names: tuple[str, ...]
    new: bool
    inputs: Mapping[str, np.ndarray] = field(repr=False)
    columns: tuple[str, ...]
    labels: tuple[tuple[tuple[str, str], ...], ...] = field(repr=False)
    link: str
    centre: float
    unexplained: np.ndarray = field(repr=False)
    notes: tuple[str, ...]

    def groups(self) -> dict[tuple[tuple[str, str], ...], np.ndarray]:
        """Positions of the backbones that share parameters; of unknown groups each by itself."""
        found: dict[Any, list[int]] = {}
        for k, own in enumerate(self.labels):
            found.setdefault(own, []).append(k)
        return {own: np.array(places) for own, places in found.items()}


def enter(
    fit: "Fit",
    table: Any,
    backbones: Sequence[str] | str | None,
    model: str,
    family: str | None,
    covariates: Mapping[str, float],
) -> "tuple[Entries, Attributes]":
    """Read which backbones compete, and what is known of them.

    Raises
    ------
    FitError
        No capability law, or an unknown covariate.
    DataError
        An unknown model, fewer than two, or a model without scores.
    """
    known = backbones_of(fit, LAWS)
    names, points, left, notes = scores_of(known, table, model)
    about = Attributes.of(fit, table, model, names)
    keep = _chosen(list(names), backbones, table is not None)
    names = tuple(names[k] for k in keep)
    points, left = np.asarray(points)[keep], np.asarray(left, dtype=float)[keep]
    recipe = json.loads((fit.law.recipe or ("", "{}"))[1])
    inputs: dict[str, np.ndarray] = {"S": points}
    families = _families(fit, known, about, names, family)
    if "family" in {i.name for i in fit.law.inputs}:
        inputs["family"] = np.array([[f == g for g in known.family_names] for f in families], float)
    values, said = _covariates(fit, about, names, covariates)
    columns = fit.model.cell_columns
    labels = tuple(_groups(fit, columns, about, n, f) for n, f in zip(names, families, strict=True))
    identity = {"identity": "response", "logit": "logit"}
    entries = Entries(
        names=names,
        new=table is not None,
        inputs=inputs | values,
        columns=columns,
        labels=labels,
        link=identity.get(recipe.get("link", ""), ""),
        centre=float(recipe.get("centre", 1.0)),
        unexplained=left,
        notes=(*notes, *said),
    )
    return entries, about


def _chosen(known: list[str], asked: Sequence[str] | str | None, new: bool) -> list[int]:
    """Positions of the backbones asked for; of all without such a wish."""
    listed = known if asked is None else [asked] if isinstance(asked, str) else list(asked)
    where = "the table" if new else "the fit"
    for name in listed:
        if name not in known:
            some = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
            raise DataError(
                f"there is no backbone '{name}' in {where}; there are {some}."
                + nearest(str(name), known)
            )
    if len(set(listed)) < 2:
        raise DataError(
            f"a choice needs two backbones or more; {where} gives {', '.join(listed) or 'none'}."
        )
    return [known.index(name) for name in dict.fromkeys(listed)]


def _families(
    fit: "Fit", known: "Backbones", about: Attributes, names: Sequence[str], family: str | None
) -> list[str]:
    """Family of each backbone; empty where it has none."""
    if family is not None:
        if "family" not in fit.layout.labels:
            raise FitError("this fit knows no families; leave family out.")
        labels = list(fit.layout.labels["family"])
        if family not in labels:
            raise FitError(
                f"family '{family}' is not in the fit; known: {', '.join(labels)}."
                + nearest(family, labels)
            )
        return [family] * len(names)
    own = dict(zip(known.names, known.families, strict=False))
    return [about.word("family", n) or ("" if about.new else own.get(n, "")) for n in names]


def _groups(
    fit: "Fit", columns: Sequence[str], about: Attributes, name: str, family: str
) -> tuple[tuple[str, str], ...]:
    """The groups of one backbone that the fit knows, by pooled column."""
    found = []
    for column in columns:
        label = family if column == "family" else about.word(column, name)
        if label in fit.layout.labels[column]:
            found.append((column, label))
    return tuple(found)


def _covariates(
    fit: "Fit", about: Attributes, names: Sequence[str], given: Mapping[str, float]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Covariates of each backbone: as given, its own, else the data's mean."""
    wanted = [i.name for i in fit.law.inputs if i.name not in ("S", "D", "family")]
    for name in given:
        if name not in wanted:
            raise FitError(
                f"unknown argument '{name}'; this fit's covariates are "
                f"{', '.join(wanted) or 'none'}." + nearest(name, wanted)
            )
    found, said = {}, []
    for name in wanted:
        if name in given:
            found[name] = np.full(len(names), float(given[name]))
            continue
        own = np.array([about.number(name, n) for n in names])
        if np.isnan(own).any():
            mean = fit.extent.span(name).mean
            said.append(f"{name} = {mean:.3g}, the runs' mean, for all: it differs within models")
            own = np.full(len(names), mean)
        found[name] = own
    return found, said
