"""Decoupled laws from a table: which objectives it has, and at which compositions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import DataError, nearest
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.decoupled import decoupled
from bayescale.laws.decoupled_parts import Parts

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

RATIO = "r"  # column of multimodal over text tokens
FEW = 6  # distinct compositions up to which each is reported


def arrange(
    runs: "Runs",
    *,
    objectives: str | Sequence[str] | None = None,
    varying: str | Sequence[str] | None = None,
    varies: str | Sequence[str] | None = None,
    composition: str | None = None,
    centre: float | None = None,
    at: Sequence[float] | float | None = None,
    size: bool | None = None,
) -> tuple[Law, "Runs"]:
    """Find objectives, sources and compositions in a table, and give it one row a loss.

    The table is wide (``loss_text``, ``loss_multimodal``) or long (``objective``, ``loss``), with
    tokens of each source (``D_text``, ``text_tokens``), or all tokens and shares
    (``share_text``), or all tokens and the ratio ``r`` of the other objective's to the first's.

    Parameters
    ----------
    runs : Runs
    objectives, varying, varies, composition, centre, at, size
        As in `bayescale.laws.decoupled.decoupled`; what is left out is chosen by the table. By
        default the composition is the ratio where there are two sources and the first is in every
        run, and then all objectives but the first vary; else the share, and all vary.

    Raises
    ------
    DataError
        The table doesn't say what the law needs.
    """
    runs = _long(runs, _names(objectives))
    sources = tuple(str(c)[2:] for c in runs.table if str(c).startswith("D_"))
    found = _objectives(runs, sources, _names(objectives))
    tokens = np.stack([runs.column(f"D_{s}") for s in sources], axis=1)
    composition = composition or ("ratio" if _has_base(tokens) else "share")
    chosen = _names(varying)
    if chosen is None:
        chosen = tuple(o for o in found if composition == "share" or o != sources[0])
        chosen = chosen if len(sources) > 1 else ()
    seen = _seen(runs, Parts(found, sources, chosen, composition, 0.0), tokens)
    if size is None:
        size = "N" in runs.table and np.ptp(np.log(runs.column("N"))) > 1e-6
    law = decoupled(
        objectives=found,
        varying=chosen,
        varies=_names(varies),
        composition=composition,
        centre=_rounded(np.median(seen)) if centre is None else float(centre),
        at=_reported(seen) if at is None else tuple(np.atleast_1d(at).astype(float).tolist()),
        sources=sources,
        size=bool(size),
    )
    return law, runs


def _names(asked: Any) -> tuple[str, ...] | None:
    """Names as written in the shell or given from Python; ``none`` for an empty list."""
    if asked is None:
        return None
    if asked is False or asked == "none":
        return ()
    return (asked,) if isinstance(asked, str) else tuple(asked)


def _long(runs: "Runs", objectives: tuple[str, ...] | None) -> "Runs":
    """One row an objective and run, with columns objective, loss and tokens of each source."""
    from bayescale.data.mixtures import melt

    table: Any = runs.table
    if "objective" in table:
        table = table.rename(columns={"objective": "target"})
    runs = _with_tokens(replace(runs, table=table))
    shares = [c for c in table if str(c).startswith("share_") or str(c).endswith("_share")]
    # one share beside tokens of each source says nothing more
    melted = melt(runs, {"shares": {}} if len(shares) == 1 else None, targets=objectives)
    return replace(melted, table=melted.table.rename(columns={"target": "objective"}))


def _with_tokens(runs: "Runs") -> "Runs":
    """Tokens of two sources from all tokens and the ratio of one's to the other's."""
    from bayescale.data.columns import candidates

    table: Any = runs.table
    headers = [str(c) for c in table]
    split = [h for h in headers if h.startswith(("D_", "share_", "tokens_"))]
    if RATIO not in headers or split:
        return runs
    names = [h.removeprefix("loss_") for h in headers if h.startswith("loss_")]
    names = names or list(dict.fromkeys(map(str, table["target"]))) if "target" in table else names
    names = sorted(names, key=lambda n: n != "text")
    total = candidates(headers)["D"]
    if len(names) != 2 or not total:
        raise DataError(
            f"{runs.source} has a ratio {RATIO}, but "
            + ("no column of all tokens" if len(names) == 2 else f"{len(names)} objectives, not 2")
            + "; give tokens of each: D_text, D_multimodal."
        )
    r = np.asarray(table[RATIO], dtype=float)
    if not np.all(r >= 0):
        raise DataError(f"column '{RATIO}' of {runs.source} holds no ratio of at least 0.")
    tokens = np.asarray(table[total[0].column], dtype=float) * total[0].scale
    parts = {f"D_{names[0]}": tokens / (1 + r), f"D_{names[1]}": tokens * r / (1 + r)}
    return replace(runs, table=table.assign(**parts))


def _objectives(
    runs: "Runs", sources: tuple[str, ...], asked: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Objectives that have losses and tokens of their own, in the order of the sources."""
    there = set(map(str, runs.table["objective"]))
    for name in asked or ():
        if name not in there:
            raise DataError(
                f"no row of {runs.source} holds the loss of '{name}'; there are "
                f"{', '.join(sorted(there))}." + nearest(name, sorted(there))
            )
    lost = sorted(there - set(sources))
    if lost:
        own = [s for s in sources if s in there]
        raise DataError(
            f"{runs.source} has the loss of '{lost[0]}' but no tokens of it (D_{lost[0]}); this "
            "law reads an objective's own tokens. "
            + (f"Keep objectives={tuple(own)!r}, or fit" if own else "Fit")
            + " a mixture with additive transfer."
        )
    return tuple(s for s in sources if s in there)


def _has_base(tokens: np.ndarray) -> bool:
    """Whether the first of two sources is in every run and the other never exceeds it."""
    if tokens.shape[1] != 2 or not (tokens[:, 0] > 0).all():
        return False
    return bool((tokens[:, 1] <= tokens[:, 0]).all())


def _seen(runs: "Runs", parts: Parts, tokens: np.ndarray) -> np.ndarray:
    """Compositions of rows whose objective varies."""
    if not parts.varying:
        return np.zeros(1)
    names = np.array([str(o) for o in runs.table["objective"]])
    with np.errstate(divide="ignore", invalid="ignore"):
        all_seen = parts.compositions(tokens)
    seen = [all_seen[names == o, parts.sources.index(o)] for o in parts.varying]
    found = np.concatenate(seen)
    found = found[np.isfinite(found)]
    return found if found.size else np.zeros(1)


def _rounded(value: float) -> float:
    return float(f"{float(value):.2g}")


def _reported(seen: np.ndarray) -> tuple[float, ...]:
    """All compositions where they are few, else the 10%, 50% and 90% points."""
    distinct = sorted({_rounded(x) for x in seen})
    if len(distinct) <= FEW:
        return tuple(distinct)
    return tuple(sorted({_rounded(x) for x in np.quantile(seen, (0.1, 0.5, 0.9))}))


DECOUPLED = Family(
    name="decoupled",
    title="Objectives of one model, each with its own tokens, by composition",
    build=decoupled,
    arrange=arrange,
    example=decoupled(),
    options={
        "objectives": "those to fit: text+multimodal",
        "varying": "objectives whose law varies with the composition: multimodal, or none",
        "varies": "what varies of a+K+N0+gamma (B+beta without a size term)",
        "composition": "ratio to the first source's tokens, or share of all",
        "centre": "composition at which constants are reported",
        "at": "compositions at which a and b are reported",
        "size": "yes or no: whether the law has a size term",
    },
    reading={"columns": {"loss": "", "D": ""}},
)
