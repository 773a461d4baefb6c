"""Results as markdown: a row a sweep, then means over sweeps."""

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.extrapolation import inside, scales
from benchmarks.extrapolation.record import Record


def is_extra(record: Record) -> bool:
    """Whether a model stands among the means alone."""
    return record.model.endswith((inside.STACK, inside.SHIFTED)) or scales.scaled(record)


def by_sweep(records: Sequence[Record], factor: float) -> str:
    """Coverage at 90%, interval score and width of each model on each sweep."""
    own = [r for r in records if r.factor == factor]
    models = list(dict.fromkeys(r.model for r in own))
    lines = [line(["sweep", "fitted", "held out", *models]), rule(3 + len(models))]
    for sweep in dict.fromkeys(r.sweep for r in own):
        found = {r.model: r for r in own if r.sweep == sweep}
        first = next(iter(found.values()))
        cells = [_cell(found[m]) if m in found else "–" for m in models]
        lines.append(line([sweep, str(first.n_train), str(first.n_test), *cells]))
    return "\n".join(lines)


def means(records: Sequence[Record], factor: float, sweeps: Iterable[str]) -> str:
    """Means over sweeps, each counting once."""
    wanted = set(sweeps)
    own = [r for r in records if r.factor == factor and r.sweep in wanted]
    head = ["model", "sweeps", "covered at 50/80/90/95", "worst sweep at 90", "below .6"]
    head += ["interval score", "median", "width", "RMSE", "log score"]
    lines = [line(head), rule(len(head))]
    for model in dict.fromkeys(r.model for r in own):
        found = [r for r in own if r.model == model]
        covered = [share(np.mean([r.coverage[k] for r in found])) for k in found[0].coverage]
        worst = min(found, key=lambda r: r.coverage["90"])
        score, width, rmse = (
            float(np.mean([getattr(r, f) for r in found]))
            for f in ("interval_score", "width", "rmse")
        )
        cells = [model, str(len(found)), " / ".join(covered)]
        cells += [f"{share(worst.coverage['90'])} ({worst.sweep})"]
        cells += [str(sum(r.coverage["90"] < 0.6 for r in found))]
        middle = float(np.median([r.interval_score for r in found]))
        cells += [f"{score:.3f}", f"{middle:.3f}", f"{width:.3f}", f"{rmse:.4f}"]
        known = [r.log_score for r in found if r.log_score is not None]
        lines.append(line([*cells, f"{np.mean(known):.2f}" if len(known) == len(found) else "–"]))
    return "\n".join(lines)


def _cell(r: Record) -> str:
    mark = "*" if r.converged is False else ""
    return f"{share(r.coverage['90'])} / {r.interval_score:.3f} / {r.width:.3f}{mark}"


def share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 1 else "1.00"


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def rule(count: int) -> str:
    return f"|{'---|' * count}"
