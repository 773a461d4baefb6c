"""The real sweeps: bayescale's public data sets, and a few more slices of the same folder."""

from collections.abc import Sequence
from dataclasses import replace

from bayescale.data.catalog import DataSet
from bayescale.data.public import find_dataset, load_dataset
from bayescale.data.runs import Runs


def _constant(name: str, of: str) -> DataSet:
    """Porian et al.'s tuned runs at a constant learning rate, beside those with cosine decay."""
    record = find_dataset(of)
    where = (record.where or "").replace("'base'", "'tuned'").replace("'chinchilla'", "'const'")
    return replace(record, name=name, where=where, title=f"{record.title}; tuned, constant rate")


# of the catalogue, fixed: sets that it gains later stand in no mean here
FOURTEEN = (
    "chinchilla-epoch", "porian", "porian-owt2", "gadre-c4", "gadre-rpj", "gadre-rw", "gemstones",
    "misfitting", "step-law", "llama3-isoflop", "marin-comma", "marin-dclm", "marin-nemotron",
    "datablations-one-epoch",
)  # fmt: skip

# means are of these fourteen and these two; FRESH ones were not looked at before
# the first mixture in the file that the largest size, 2.7B, was trained on
_MIXTURE = {"arxiv": 0.02, "book": 0.1523, "c4": 0.4169, "github": 0.2185}


def _domain(name: str) -> DataSet:
    """One domain's loss along the training of five sizes on one mixture."""
    record = find_dataset("slimpajama-mixtures")
    return replace(
        record,
        name=f"slimpajama-{name}",
        title=f"SlimPajama, one mixture of domains, five sizes, loss on {name}",
        columns={"N": "model_size", "D": "n_tokens", "loss": f"{name}_loss"},
        curves=None,
        where=" and ".join(
            f"weight_{k} > {w - 1e-3:.4f} and weight_{k} < {w + 1e-3:.4f}"
            for k, w in _MIXTURE.items()
        ),
        note="Checkpoints of five trainings.",
    )


def _mammut(loss: str, what: str) -> DataSet:
    return DataSet(
        name=f"mammut-{loss}",
        title=f"MaMMUT image-text models, {what} loss, best setting per (N, pairs seen)",
        file="laion_clip_mammut/clip_mammut_runs.csv",
        sha256="98c2b06ef80e5a582eb042bd95b4073e5bb4e3368628bf7f67ad1c1cde4027cc",
        columns={"N": "n_params", "D": "samples_seen", "C": "train_flops", "loss": f"loss_{loss}"},
        where="objective == 'contrastive+caption'",
        best_per=("N", "D"),
        citation="Nezhurina et al. (2025), arXiv:2506.04598",
        licence="none stated",
        note="D counts image-text pairs; C is the source's own count.",
    )


PORIAN = (_constant("porian-const", "porian"), _constant("porian-owt2-const", "porian-owt2"))
FRESH = (
    _mammut("caption", "caption"),
    _mammut("contrastive", "contrastive"),
    replace(
        find_dataset("gemstones"),
        name="gemstones-const",
        title="Gemstones at a constant learning rate: checkpoints of 22 shapes",
        file="gemstones/gemstones_constant_lr.csv",
        sha256="11402e4c3281fa4507523b8890308be7590c43b909e6904b4dc6d6dbea2bf5a8",
    ),
    replace(
        find_dataset("step-law"),
        name="step-law-moe",
        title="Step Law: 16 (active N, D) cells of sparse models, best rate and batch size",
        file="step_law/moe_lr_bs_loss.csv",
        sha256="653d585244a7b227423007e8b796bc16d76f6d24eb87b1919b8f048a91897b92",
        columns={"N": "Na", "D": "D", "loss": "smooth loss"},
    ),
    *(_domain(d) for d in ("arxiv", "book", "c4", "github", "commoncrawl", "stackexchange",
                           "wikipedia", "openhermes")),
)  # fmt: skip

# how rows belong to trainings, for leave-one-out, where no column says so: of Porian et al.'s
# runs at a constant rate the budgets of one size are checkpoints of one training
BY = {"porian-const": "N", "porian-owt2-const": "N"}
BY |= {d.name: "row" if d.name.startswith(("mammut", "step")) else "N" for d in FRESH}
BY["gemstones-const"] = "run_id"

# sweeps of one source, which are left out together where anything is learnt from others
FAMILIES = {
    "porian": ("porian", "porian-owt2", "porian-const", "porian-owt2-const"),
    "gadre": ("gadre-c4", "gadre-rpj", "gadre-rw"),
    "gemstones": ("gemstones", "gemstones-const"),
    "step-law": ("step-law", "step-law-moe"),
    "marin": ("marin-comma", "marin-dclm", "marin-nemotron"),
    "mammut": ("mammut-caption", "mammut-contrastive"),
    "slimpajama": tuple(d.name for d in FRESH if d.name.startswith("slimpajama")),
}


def family(name: str) -> str:
    """The source of a sweep."""
    return next((f for f, members in FAMILIES.items() if name in members), name)


def sweeps() -> dict[str, DataSet]:
    """All sweeps by name, the sixteen first."""
    public = [find_dataset(name) for name in FOURTEEN]
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
