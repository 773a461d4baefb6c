"""What of a fit isn't draws or columns, as plain values, and back."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.choosing import rebuild
from bayescale.drift import Grid, drift_from_dict
from bayescale.errors import FitError
from bayescale.fitted import Fit
from bayescale.inference.batch import Layout
from bayescale.inference.model import Model
from bayescale.law import Law
from bayescale.laws import LAWS
from bayescale.noise import noise_from_dict
from bayescale.pooling import pooling_from_dict
from bayescale.prior_reading import prior_from_dict

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

FORMAT = 1


def metadata(fit: Fit) -> dict[str, Any]:
    """All of a fit that isn't draws or columns of its runs, as plain values."""
    layout = fit.layout
    return {
        "format": FORMAT,
        "law": {
            "name": fit.law.name,
            "equation": _equation(fit.law),
            "recipe": fit.law.recipe,
            "priors": {p.name: [p.site, p.prior.to_dict()] for p in fit.law.params},
        },
        "noise": fit.model.noise.to_dict(),
        "pooling": fit.model.pooling.to_dict(),
        "drift": fit.model.drift and fit.model.drift.to_dict(),
        "layout": {
            "labels": {k: list(v) for k, v in layout.labels.items()},
            "cells": list(layout.cells),
            "cell_index": {k: v.tolist() for k, v in layout.cell_index.items()},
            "refs": {k: np.asarray(v).tolist() for k, v in layout.refs.items()},
            "centre": layout.centre,
            "noise_ref": layout.noise_ref,
            "drift": layout.drift and asdict(layout.drift),
        },
        "gate": fit.gate.to_dict(),
        "record": dict(fit.record),
        "summary": dict(fit.scalars),
    } | ({"runs": _runs_record(fit.runs)} if fit.has_runs else {})


def _runs_record(runs: "Runs") -> dict[str, Any]:
    """All of a table of runs but its columns."""
    return {
        "source": runs.source,
        "sha256": runs.sha256,
        "columns": dict(runs.columns),
        "cost": runs.cost.to_dict(),
        "derived": sorted(runs.derived),
        "order": [str(c) for c in runs.table.columns],
        "flags": [[f.kind, list(f.rows), f.message] for f in runs.flags],
    }


def restore_model(record: Mapping[str, Any], path: Path, law: Law | None = None) -> Model:
    """The model of a record that `metadata` made.

    Parameters
    ----------
    record : mapping
    path : Path
        The file it was read from, for messages.
    law : Law, optional
        The law, where it is a user's own.

    Raises
    ------
    FitError
        Another format, or a law that isn't known here or differs.
    """
    if record.get("format") != FORMAT:
        raise FitError(
            f"{path} has fit format {record.get('format')}, this version reads {FORMAT}; "
            "use the version of bayescale that wrote it, or fit again."
        )
    return Model(
        replace(_restore_law(record["law"], path, law), drift=drift_from_dict(record.get("drift"))),
        noise_from_dict(record["noise"]),
        pooling_from_dict(record["pooling"]),
    )


def restore_layout(kept: Mapping[str, Any]) -> Layout:
    """The layout in such a record."""
    return Layout(
        labels={k: tuple(v) for k, v in kept["labels"].items()},
        cells=tuple(kept["cells"]),
        cell_index={k: np.array(v) for k, v in kept["cell_index"].items()},
        refs={k: np.array(v) if isinstance(v, list) else v for k, v in kept["refs"].items()},
        centre=kept["centre"],
        noise_ref=kept["noise_ref"],
        drift=Grid(**kept["drift"]) if kept.get("drift") else None,
    )


def _restore_law(kept: Mapping[str, Any], path: Path, law: Law | None) -> Law:
    name = kept["name"]
    recipe = kept.get("recipe")
    base = law or (rebuild((recipe[0], recipe[1])) if recipe else LAWS.get(name))
    if base is None:
        raise FitError(
            f"{path} is a fit of '{name}', a law of your own; pass it: load(path, law=…)."
        )
    names = [p.name for p in base.params]
    if base.name != name or names != list(kept["priors"]) or _equation(base) != kept["equation"]:
        raise FitError(
            f"{path} was fitted with law '{name}' of parameters {', '.join(kept['priors'])} "
            f"and equation {kept['equation'] or 'not recorded'}; the law at hand differs. "
            "Pass the law it was fitted with, or fit again."
        )
    changed = {}
    for param in base.params:
        site, prior = kept["priors"][param.name]
        if site != param.site or prior_from_dict(prior) != param.prior:
            changed[site] = prior_from_dict(prior)
    return base.with_priors(changed)


def _equation(law: Law) -> str:
    """The declared equation; a law without one is recognised by its parameters alone."""
    return law.equation
