"""The real sweeps: bayescale's public data sets, and a few more slices of the same folder."""

from collections.abc import Sequence
from dataclasses import replace

from bayescale.data.catalog import DataSet
from bayescale.data.catalog.sweeps import SWEEPS
from bayescale.data.public import find_dataset, load_dataset
from bayescale.data.runs import Runs


def _constant(name: str, of: str) -> DataSet:
    """Porian et al.'s tuned runs at a constant learning rate, beside those with cosine decay."""
    record = find_dataset(of)
    where = (record.where or "").replace("'base'", "'tuned'").replace("'chinchilla'", "'const'")
    return replace(record, name=name, where=where, title=f"{record.title}; tuned, constant rate")


# means are of the catalogue's fourteen and these two; FRESH ones were not looked at before
PORIAN = (_constant("porian-const", "porian"), _constant("porian-owt2-const", "porian-owt2"))
FRESH = (
    DataSet(
        name="mammut-caption",
        title="MaMMUT image-text models, caption loss, best setting per (N, pairs seen)",
        file="laion_clip_mammut/clip_mammut_runs.csv",
        sha256="98c2b06ef80e5a582eb042bd95b4073e5bb4e3368628bf7f67ad1c1cde4027cc",
        columns={"N": "n_params", "D": "samples_seen", "C": "train_flops", "loss": "loss_caption"},
        where="objective == 'contrastive+caption'",
        best_per=("N", "D"),
        citation="Nezhurina et al. (2025), arXiv:2506.04598",
        licence="none stated",
        note="D counts image-text pairs; C is the source's own count.",
    ),
)

# how rows belong to trainings, for leave-one-out, where no column says so: of Porian et al.'s
# runs at a constant rate the budgets of one size are checkpoints of one training
BY = {"porian-const": "N", "porian-owt2-const": "N", "mammut-caption": "row"}


def sweeps() -> dict[str, DataSet]:
    """All sweeps by name, the sixteen first."""
    public = [d for d in SWEEPS if not d.packaged]
    return {d.name: d for d in (*public, *PORIAN, *FRESH)}


def sixteen() -> list[str]:
    """Names of the sweeps that averages are of."""
    fresh = {d.name for d in FRESH}
    return [name for name in sweeps() if name not in fresh]


def load(names: Sequence[str] | None = None) -> dict[str, Runs]:
    """Read some sweeps, or all.

    Raises
    ------
    DataError
        BAYESCALE_DATA isn't set, or a file is missing there.
    """
    known = sweeps()
    for name in names or ():
        if name not in known:
            raise SystemExit(f"no sweep '{name}'; known: {', '.join(known)}")
    return {name: load_dataset(known[name]) for name in names or known}
