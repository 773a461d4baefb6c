"""Capability laws from a table: its backbones, their scores, which terms the data can carry."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.flags import Flag
from bayescale.data.scores import Scores
from bayescale.errors import DataError
from bayescale.families.backbone_runs import ScoreOptions, find_backbones, responses
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability import capability
from bayescale.laws.capability_loss import capability_loss

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

REFERENCE = 1e9


def arrange(
    runs: "Runs",
    *,
    scores: Scores | None = None,
    benchmarks: str | Sequence[str] = (),
    components: int | None = None,
    explained: float = 0.95,
    response: str = "accuracy",
    model: str = "model",
    families: bool | str = False,
    effects: str | Sequence[str] = (),
    link: str = "identity",
    absorption: str = "",
    centre: float | None = None,
    reference: float = REFERENCE,
) -> tuple[Law, "Runs"]:
    """The capability law for a table of accuracies, and the table as the law reads it.

    Parameters
    ----------
    runs : Runs
        One row a checkpoint: model, accuracy (fractions or percent), D where there is one, and
        benchmark scores of the backbone or its S_1, S_2, ….
    scores : Scores, optional
        Capability scores made before, for instance from more models than have runs.
    benchmarks : str or sequence of str
        Columns or patterns (``text_*``) of benchmark scores, from which scores are made.
    components, explained
        As in `bayescale.data.scores.capability_scores`.
    response, model : str
        Columns of the accuracy and of the backbone's name.
    families : bool or str
        Whether backbones have families (column ``family``), or the column that names them.
    effects : str or sequence of str
        Columns with an additive effect: numbers, or two words such as base and chat.
    link, absorption, reference
        As in `bayescale.laws.capability.capability`; absorption is "falling" where tokens
        differ between rows, else "none".
    centre : float, optional
        D0; the geometric mean of D, to two digits, by default.

    Raises
    ------
    DataError
        The table doesn't say what the law needs.
    """
    options = ScoreOptions(
        scores,
        _tuple(benchmarks),
        components,
        explained,
        model,
        "family" if families is True else str(families or ""),
    )
    found, runs = find_backbones(responses(runs, response, fraction=True), options)
    runs = _numbered(runs, _tuple(effects))
    absorption = absorption or _absorption(runs)
    if absorption != "none":
        runs.require(["D"], by=f"absorption '{absorption}' of a capability law")
        log_mean = float(np.mean(np.log(runs.column("D").astype(float))))
        centre = float(f"{np.exp(log_mean):.2g}") if centre is None else centre
    law = capability(
        found,
        link=link,
        absorption=absorption,
        effects=_tuple(effects),
        centre=25e9 if centre is None else float(centre),
        reference=float(reference),
        offsets=bool(runs.table["model"].duplicated().any()),
    )
    return law, runs


def arrange_loss(
    runs: "Runs",
    *,
    scores: Scores | None = None,
    benchmarks: str | Sequence[str] = (),
    components: int | None = None,
    explained: float = 0.95,
    model: str = "model",
) -> tuple[Law, "Runs"]:
    """The capability law of loss for a table, and the table as it reads it; see `arrange`."""
    options = ScoreOptions(scores, _tuple(benchmarks), components, explained, model)
    found, runs = find_backbones(responses(runs, "loss", fraction=False), options)
    several = bool(runs.table["model"].duplicated().any())
    return capability_loss(found, offsets=several), runs


def _tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _absorption(runs: "Runs") -> str:
    if "D" not in runs.table:
        return "none"
    return "falling" if np.ptp(runs.column("D").astype(float)) > 0 else "none"


def _numbered(runs: "Runs", effects: Sequence[str]) -> "Runs":
    """Columns of effects as numbers; two words become 0 and 1."""
    import pandas as pd

    runs.require(effects, by="an effect of a capability law")
    for name in effects:
        if not name.isidentifier():
            raise DataError(f"the effect '{name}' needs a column name of letters and digits.")
        column: Any = runs.table[name]
        numbers = pd.Series(np.asarray(pd.to_numeric(column, errors="coerce"), dtype=float))
        if column.isna().any():
            row = runs.row_numbers[int(np.argmax(column.isna().to_numpy()))]
            raise DataError(
                f"column '{name}' is empty in row {row}; an effect needs a value there."
            )
        if numbers.notna().all():
            runs = replace(runs, table=runs.table.assign(**{name: numbers.to_numpy()}))
            continue
        words = sorted({str(v) for v in column})
        if len(words) != 2:
            raise DataError(
                f"column '{name}' has the words {', '.join(words[:5])}; an effect takes numbers, "
                "or two words. Give each word but one a column of ones and zeros."
            )
        coded = [float(words.index(str(v))) for v in column]
        said = Flag("note", (), f"effect '{name}': {words[0]} is 0, {words[1]} is 1")
        table = runs.table.assign(**{name: coded})
        runs = replace(runs, table=table, flags=(*runs.flags, said))
    return runs


def _build(**recipe: Any) -> Law:
    return capability(Backbones.from_dict(dict(recipe.pop("backbones"))), **recipe)


def _build_loss(**recipe: Any) -> Law:
    return capability_loss(Backbones.from_dict(dict(recipe.pop("backbones"))), **recipe)


_EXAMPLE = Backbones(
    ("base-1B", "base-3B", "base-8B", "chat-3B", "chat-8B"),
    ((-0.4, 0.05), (-0.1, -0.02), (0.2, 0.02), (0.0, -0.08), (0.3, 0.03)),
)
_OPTIONS = {
    "benchmarks": "columns of text scores, such as text_* (default: S_1, S_2, … are there)",
    "components": "number of principal components (default: enough for 95% of the variance)",
    "explained": "share of variance that the components explain (0.95)",
    "model": "column that names the backbone (model)",
}

CAPABILITY = Family(
    name="capability",
    title="Accuracy from a backbone's text benchmarks and multimodal data",
    build=_build,
    arrange=arrange,
    example=capability(_EXAMPLE, link="logit"),
    options=_OPTIONS
    | {
        "response": "column of the accuracy (accuracy)",
        "families": "column of the backbone's family, or yes: absorption by family",
        "effects": "columns with an additive effect, such as chat+date",
        "link": "identity or logit: what the law is linear in",
        "absorption": "falling, free, constant or none: how data help strong backbones less",
        "centre": "tokens at which P0 and A are meant (the data's geometric mean)",
        "reference": "tokens at which A_ref is reported (1e9)",
    },
    reading={"columns": {"loss": "", "N": "", "C": ""}},
)
CAPABILITY_LOSS = Family(
    name="capability-loss",
    title="Multimodal loss from a backbone's text benchmarks and data",
    build=_build_loss,
    arrange=arrange_loss,
    example=capability_loss(_EXAMPLE),
    options=_OPTIONS,
    reading={"columns": {"N": "", "C": ""}},
)
