"""Losses along one resource: learning curves and one-variable benchmarks."""

from bayescale.data.catalog.record import NONE_STATED, DataSet
from bayescale.data.curves.options import Curves

_NMT = (
    ("6enc-6dec", "6enc_6dec"), ("28enc-6dec", "28enc_6dec"), ("6enc-28dec", "6enc_28dec"),
    ("dec-only", "dec_only"), ("tenc-lstm", "tenc_lstm"),
)  # fmt: skip


def _nmt(name: str, model: str) -> DataSet:
    return DataSet(
        name=f"nmt-{name}",
        title=f"translation loss against examples, architecture {model}",
        file="nmt_benchmark/nmt_benchmark.csv",
        sha256="ad2cd175871cf47ea18ad2a90e7a9c88899e3a4a79421285318665888b05d6c9",
        columns={"D": "n_examples", "loss": "log_perplexity"},
        where=f"model == '{model}'",
        citation="Alabdulmohsin, Neyshabur, Zhai (2022), arXiv:2209.06640; Bansal et al. (2022), "
        "arXiv:2202.01994",
        licence="CC BY 4.0",
        note="The largest is the benchmark's held-out point (split 'extrapolate').",
        laws=("power-law-D", "broken-power-law-D"),
    )


CURVES: tuple[DataSet, ...] = (
    DataSet(
        name="addition",
        title="four-digit addition: loss against examples, with a sharp break",
        file="bnsl_addition/four_digit_addition.csv",
        sha256="a05339428658a1a72113c4f775c37f3148a0846cd752b9cb3187c4a2bef55cad",
        columns={"D": "n_examples", "loss": "test_loss"},
        citation="Caballero et al. (2022), arXiv:2210.14891",
        licence=NONE_STATED,
        note="The last three are the paper's held-out points (split 'extrapolate').",
        laws=("broken-power-law-D",),
    ),
    *(_nmt(name, model) for name, model in _NMT),
    DataSet(
        name="gemstones-curves",
        title="Gemstones: checkpoints of 22 shapes at a constant learning rate",
        file="gemstones/gemstones_curves.csv",
        sha256="be491bb8a53994356ba10a7639d9c7ccefb9998d67b9c823176364666e30e1fe",
        curves=Curves(run="run_id"),
        citation="McLeish et al. (2025), arXiv:2502.06857",
        licence="MIT",
        note="3,850 checkpoints of few runs: fit them with a noise that knows the runs, or their "
        "last ones.",
        laws=("chinchilla",),
    ),
)
