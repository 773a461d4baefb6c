"""The options of ``bayescale fit``, in the panels that its help shows."""

from typing import Annotated, Any

import typer


def _option(panel: str, metavar: str, text: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel)


_TABLE, _MODEL, _SAMPLER = "The table of runs", "The model", "The sampler"
_CURVES = "Training curves"

LawName = Annotated[
    str,
    typer.Argument(
        metavar="LAW", help="A law: see `bayescale laws`; or the TOML of a model, and no RUNS."
    ),
]
RunTable = Annotated[
    str | None,
    typer.Argument(
        metavar="RUNS",
        help="CSV, Parquet or JSON lines with one row a run, or the name of a data set "
        "(see `bayescale datasets`).",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FIT.nc", help="Save the fit, for later answers."),
]

Columns = Annotated[
    list[str] | None,
    _option(
        _TABLE, "WHAT=COLUMN", "Which column is N, D, C or loss: loss=val_loss. Usual names are "
        "recognised; C= leaves C out. Repeatable.", "--map",
    ),
]  # fmt: skip
Units = Annotated[
    list[str] | None,
    _option(
        _TABLE, "WHAT=NUMBER", "What a column's numbers count: N=1e9 for billions of parameters. "
        "Repeatable.", "--unit",
    ),
]  # fmt: skip
Where = Annotated[
    str | None, _option(_TABLE, "EXPR", "Keep only these rows: \"family == 'llama' and N > 1e9\".")
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out runs with an empty cell in N, D, C or loss.",
        rich_help_panel=_TABLE,
    ),
]
Cost = Annotated[
    str | None,
    _option(
        _TABLE, "MODEL", "How N, D and C are tied: six_nd (C = 6 N D, the default) or "
        "active:COLUMN for sparse models.",
    ),
]  # fmt: skip
Factor = Annotated[
    float | None, _option(_TABLE, "X", "FLOP per parameter and token, in place of 6.")
]

RunNames = Annotated[
    list[str] | None,
    _option(
        _CURVES, "COLUMN", "Rows are checkpoints; this column names the training run. Several "
        "that do so together: weight_*,model_size. Repeatable.", "--run",
    ),
]  # fmt: skip
DropBefore = Annotated[
    str | None,
    _option(_CURVES, "TOKENS", "Leave out earlier checkpoints: 2B, or of a column step=1000."),
]
Smooth = Annotated[
    int | None,
    _option(_CURVES, "INT", "Centred rolling mean of the loss over so many checkpoints (odd)."),
]
Last = Annotated[
    bool,
    typer.Option("--last", help="Only the last checkpoint of each run.", rich_help_panel=_CURVES),
]
Thin = Annotated[
    int | None,
    _option(_CURVES, "INT", "At most so many checkpoints a run, evenly spaced in log tokens."),
]

NoiseName = Annotated[
    str | None,
    _option(
        _MODEL, "NAME", "How runs scatter: student_t or log_normal on log loss, logit_normal on "
        "the log odds of an accuracy, normal on the response itself; default: the law's.",
    ),
]  # fmt: skip
VariesWith = Annotated[
    str | None,
    _option(_MODEL, "COLUMN", "Let the scatter change with C, with loss (fitted) or a column."),
]
KnownSd = Annotated[
    str | None,
    _option(_MODEL, "COLUMN", "Column of each row's measurement sd, in the unit of the loss."),
]
RunsColumn = Annotated[
    str | None,
    _option(
        _MODEL, "COLUMN", "Column that names the training run where rows are its checkpoints: "
        "they share an offset, or with --along their scatter.",
    ),
]  # fmt: skip
Along = Annotated[
    str | None,
    _option(
        _MODEL, "COLUMN", "With --runs-column: neighbouring checkpoints of a run are correlated, "
        "AR(1) in the logarithm of this column, usually D.",
    ),
]  # fmt: skip
DriftAlong = Annotated[
    str | None,
    _option(
        _MODEL, "ALONG", "Let the truth wander from the law, the more the larger the reach, along "
        "compute, N, D or C; none: the law is exact. Default: the law's own.", "--drift",
    ),
]  # fmt: skip
Pools = Annotated[
    list[str] | None,
    _option(
        _MODEL, "PARAM=KIND:COLUMN", "Let a parameter differ by group: alpha=partial:corpus or "
        "E=independent:corpus. Repeatable.", "--pool",
    ),
]  # fmt: skip
Priors = Annotated[
    list[str] | None,
    _option(
        _MODEL, "PARAM=PRIOR", 'Replace a prior: "E=LogNormal(1.5, 0.2)". Repeatable.', "--prior"
    ),
]

Chains = Annotated[int, _option(_SAMPLER, "INT", "Chains.")]
Draws = Annotated[int, _option(_SAMPLER, "INT", "Kept draws a chain.")]
Warmup = Annotated[int, _option(_SAMPLER, "INT", "Adapting iterations before them.")]
TargetAccept = Annotated[float, _option(_SAMPLER, "X", "Raise it after divergences: 0.95.")]
Device = Annotated[str, _option(_SAMPLER, "NAME", "cpu (the right place for one fit), gpu or tpu.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")]
