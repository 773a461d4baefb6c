"""The command that makes a fit again, as far as the fit tells."""

import json
from collections.abc import Iterator, Mapping
from inspect import signature
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.noise import Noise

SETTINGS = {"chains": 4, "draws": 1000, "warmup": 300, "target_accept": 0.8}
CHANGED = ("filtered", "selected", "dropped", "curves")  # flags of tables that were cut
NOISE_COLUMNS = {"varies_with": "--noise-varies-with", "known_sd": "--known-sd",
                 "runs": "--runs-column", "along": "--along"}  # fmt: skip


def fit_lines(fit: "Fit", path: str) -> tuple[list[str], str]:
    """Lines that make the fit again, and what they leave open.

    Parameters
    ----------
    fit : Fit
    path : str
        File of the fit.

    Returns
    -------
    lines : list of str
    caveat : str
        What a fit doesn't record; empty where nothing is missing.
    """
    if not fit.has_runs:
        return [fit.extent.again], ""
    open_points = []
    source = fit.extent.source
    if source == "DataFrame":
        open_points.append("the runs came as a table in Python: save them as runs.csv")
        source = "runs.csv"
    kept = [f.kind for f in fit.extent.flags if f.kind in CHANGED]
    if kept and not _known(source):  # a data set by name brings its own filter
        open_points.append(f"rows were left out (see Data: {', '.join(dict.fromkeys(kept))})")
    if fit.law.recipe is None and not _shipped(fit):
        open_points.append("the law is one of the user's own, which a command can't name")
    words = ["bayescale", "fit", _law_name(fit), source, *_options(fit), "-o", path]
    caveat = f"Before that: {'; '.join(open_points)}." if open_points else ""
    return [" ".join(quote(word) for word in words)], caveat


def _known(source: str) -> bool:
    """Whether the runs are a data set of this name, which knows how it is read."""
    from bayescale.data.catalog import CATALOG

    return source in {record.name for record in CATALOG}


def _shipped(fit: "Fit") -> bool:
    from bayescale.laws import LAWS

    return fit.law.name in LAWS


def _law_name(fit: "Fit") -> str:
    """The law's name, a family's with those options that its recipe holds."""
    from bayescale.families import FAMILIES

    name, recipe = fit.law.recipe or ("", "{}")
    family = FAMILIES.get(name)
    if family is None or _shipped(fit):
        return fit.law.name
    kept = {k: _word(v) for k, v in json.loads(recipe).items() if k in family.options}
    usual = {k: _word(p.default) for k, p in signature(family.arrange).parameters.items()}
    told = [f"{k}={v}" for k, v in kept.items() if v and v != usual.get(k)]
    return ":".join([family.name, *told])


def _word(value: Any) -> str:
    """An option as it is typed; nothing for what can't be."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "+".join(str(v) for v in value)
    return "" if value is None or isinstance(value, Mapping) else str(value)


def _options(fit: "Fit") -> Iterator[str]:
    model, extent = fit.model, fit.extent
    for role, name in ({} if _known(extent.source) else extent.columns).items():
        read = not (fit.has_runs and role in fit.runs.derived)
        if read and name != role and "*" not in name and " = " not in name:
            yield from ("--map", f"{role}={name}")
    yield from _noise(model.noise, model.law.default_noise)
    for parameter, pool in model.pooling.by_param:
        yield from ("--pool", f"{parameter}={pool.kind}:{pool.column}")
    yield from _priors(fit)
    if model.drift != _usual_drift(fit):
        yield from ("--drift", model.drift.along if model.drift else "none")
    settings = fit.record["settings"]
    for name, usual in SETTINGS.items():
        if settings.get(name, usual) != usual:
            yield from (f"--{name.replace('_', '-')}", f"{settings[name]:g}")
    yield from ("--seed", str(fit.seed))


def _noise(noise: "Noise", usual: "Noise") -> Iterator[str]:
    """The noise by name where it isn't the law's, and the columns that it reads."""
    name = {("student_t", "log"): "student_t", ("normal", "log"): "log_normal",
            ("normal", "logit"): "logit_normal", ("normal", "response"): "normal"}  # fmt: skip
    if (noise.tail, noise.on) != (usual.tail, usual.on):
        yield from ("--noise", name.get((noise.tail, noise.on), noise.tail))
    for field, option in NOISE_COLUMNS.items():
        column = getattr(noise, field)
        if column and column != getattr(usual, field):
            yield from (option, str(column))


def _priors(fit: "Fit") -> Iterator[str]:
    """Priors that differ from the shipped law's."""
    from bayescale.choosing import shipped

    usual = shipped(fit.law)
    known = {p.site: p.prior for p in usual.params} if usual else {}
    for p in fit.law.params:
        if known and p.prior != known.get(p.site):
            yield from ("--prior", f"{p.site}={p.prior}")


def _usual_drift(fit: "Fit") -> Any:
    from bayescale.choosing import shipped

    usual = shipped(fit.law)
    return usual.drift if usual else None
