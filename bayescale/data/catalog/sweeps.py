"""Sweeps over parameters and tokens."""

from bayescale.data.catalog.record import NONE_STATED, RAW, DataSet

_SIMULATED = DataSet(
    name="simulated-sweep",
    title="Runs simulated from a Chinchilla law with known parameters",
    file="simulated/sweep.csv",
    sha256="a6ec59f38c466d9bed773ecb310899dc5db357ff71457108d66c05cb0f1fbf72",
    citation="bayescale (made by bayescale.data.simulate.make_sweep)",
    licence="MIT",
    note="Simulated: its parameters are stated in bayescale/data/simulated/truth.toml; three of "
    "its runs failed.",
    packaged=True,
)

_CHINCHILLA = DataSet(
    name="chinchilla-epoch",
    title="245 runs read off Figure 4 of the Chinchilla paper",
    file="chinchilla_epoch/svg_extracted_data.csv",
    sha256="193478df4e90f040016431996c45682659306840ecdadf83cfb9cd5ca0aa1b30",
    url=f"{RAW}/epoch-research/analyzing-chinchilla/92258837425e1b5f2851d624287f0120583a3d0e/"
    "data/svg_extracted_data.csv",
    columns={"N": "Model Size", "C": "Training FLOP", "loss": "loss"},
    citation="Besiroglu, Erdil, Barnett, You (2024), arXiv:2404.10102; figure: Hoffmann et al. "
    "(2022), arXiv:2203.15556",
    licence=NONE_STATED,
    note="Loss is decoded from colours, in steps of about 0.005. The replication dropped the five "
    "runs with the fewest tokens per parameter; here all 245 are kept.",
    laws=("chinchilla", "coupled"),
)


def _corpus(name: str) -> str:
    return {"dclm": "DCLM"}.get(name, name.capitalize())


def _porian(name: str, dataset: str, title: str) -> DataSet:
    return DataSet(
        name=name,
        title=f"IsoFLOP sweep on {title}: cosine decay matched to the run, standard N",
        file="porian_isoflop/porian_isoflop.csv",
        sha256="c733b7fd9cc49ebba217ff361c90c04b25453cc333cfd5cb5f60a95661a37dd5",
        where=f"dataset == '{dataset}' and hparams == 'base' and warmup == 'short' and lr_decay == "
        "'chinchilla' and param_count_convention == 'standard' and 3 < D/N and D/N < 300",
        citation="Porian, Wortsman, Jitsev, Schmidt, Carmon (2024), arXiv:2406.19146",
        licence="MIT",
        note="Only 3 < D/N < 300: the far ends of the sweep are poorly tuned.",
    )


def _gadre(name: str, train_data: str, title: str) -> DataSet:
    return DataSet(
        name=name,
        title=f"over-training grid on {title}, loss on C4 validation text",
        file="gadre_overtraining/gadre_overtraining.csv",
        sha256="7c2cb408b3846ccb1356376b88eb846bf360c06410fbbddc03cad3de968ac86e",
        columns={"N": "n_params", "loss": "loss_c4_val"},
        where=f"train_data == '{train_data}'",
        citation="Gadre et al. (2024), arXiv:2403.08540",
        licence="MIT",
        note="Runs with token multiplier 0.25 and the 11M model fit worst.",
    )


def _marin(name: str, dataset: str) -> DataSet:
    return DataSet(
        name=name,
        title=f"Marin IsoFLOP sweep on {_corpus(dataset)}",
        file="isoflop_marin/isoflops.csv",
        sha256="f2c307ac8152f0df9b2be720bfc5958fdc54688de152e3294cec12da34cfa7f2",
        url=f"{RAW}/Open-Athena/scaling-law-analysis/3e0656ee3dce1a2c89aa67691920f5eb9d30f0fc/"
        "data/isoflops/extract/marin_202603/isoflops.csv",
        columns={"N": "params", "D": "tokens", "C": "budget"},
        where=f"dataset == '{dataset}'",
        citation="runs of the Marin project (marin-community/marin)",
        licence=NONE_STATED,
        note="The budget counts attention: 0.74 to 1.07 times 6 N D. Loss is a macro-average over "
        "Paloma. D/N reaches several thousand.",
    )


SWEEPS: tuple[DataSet, ...] = (
    _SIMULATED,
    _CHINCHILLA,
    _porian("porian", "refinedweb", "RefinedWeb"),
    _porian("porian-owt2", "openwebtext2", "OpenWebText2"),
    _gadre("gadre-c4", "c4_original", "C4"),
    _gadre("gadre-rpj", "rpj", "RedPajama"),
    _gadre("gadre-rw", "rw_original", "RefinedWeb"),
    DataSet(
        name="gemstones",
        title="Gemstones: 22 shapes of 50M to 2B models, checkpoints after a learning-rate decay",
        file="gemstones/gemstones_cooldown.csv",
        sha256="7e18d0535609069d11ba2fe21a4976583ff50bffdfe5364016e7419699ff2b46",
        citation="McLeish et al. (2025), arXiv:2502.06857",
        licence="MIT",
        note="Checkpoints of one shape (run_id) are related; the spread is shape, not noise.",
    ),
    DataSet(
        name="misfitting",
        title="(Mis)fitting: 12M to 1B models, best learning rate per (N, D)",
        file="misfitting/scaling_results_last_ckpt_only.csv",
        sha256="cd96b9eb8e5b2adc80e6739a642dd8554590edc96234d36859ab6ed0f5c30562",
        url=f"{RAW}/hadasah/scaling_laws/1f3708c0a12df0effb0ee906b1da5f9f0ff4f4f1/"
        "data/scaling_results_last_ckpt_only.csv",
        columns={"N": "N", "D": "D", "C": "C", "loss": "loss"},
        best_per=("N", "D"),
        citation="Li, Kudugunta, Zettlemoyer (2025), arXiv:2502.18969",
        licence=NONE_STATED,
        note="N counts embeddings (N_no_emb doesn't). Small budgets: D/N from 0.2 up.",
    ),
    DataSet(
        name="step-law",
        title="Step Law: 17 (N, D) cells of dense models, best learning rate and batch size",
        file="step_law/dense_lr_bs_loss.csv",
        sha256="9e46181076c04d450294d75dfe6f72adc416e231e154a07b337e378f9410002c",
        url=f"{RAW}/step-law/steplaw/32a8f4cc50247695fb56cc6c9117abdf67c97763/"
        "data/dense_lr_bs_loss.csv",
        columns={"N": "N", "D": "D", "loss": "smooth loss"},
        best_per=("N", "D"),
        citation="Li et al. (2025), arXiv:2503.04715",
        licence=NONE_STATED,
        note="N is non-embedding. The smoothed training loss is taken, since the loss of a single "
        "last step is noisy. 17 cells leave E nearly open.",
    ),
    DataSet(
        name="step-law-sweep",
        title="Step Law: 1,730 dense models in 17 (N, D) cells, by learning rate and batch size",
        file="step_law/dense_lr_bs_loss.csv",
        sha256="9e46181076c04d450294d75dfe6f72adc416e231e154a07b337e378f9410002c",
        url=f"{RAW}/step-law/steplaw/32a8f4cc50247695fb56cc6c9117abdf67c97763/"
        "data/dense_lr_bs_loss.csv",
        columns={"N": "N", "D": "D", "loss": "smooth loss"},
        where="`smooth loss` < 3.5",
        citation="Li et al. (2025), arXiv:2503.04715",
        licence=NONE_STATED,
        note="Runs above 3.5 nats, which diverged, are left out. N is non-embedding.",
        laws=("step-law",),
    ),
    DataSet(
        name="llama3-isoflop",
        title="Llama 3 IsoFLOP curves, digitised",
        file="isoflop_llama3/isoflops.csv",
        sha256="9450f8829778ce8bfb51cc9b18ef121ef18f0c81758cd8fbe74d9dcf0545a692",
        url=f"{RAW}/Open-Athena/scaling-law-analysis/3e0656ee3dce1a2c89aa67691920f5eb9d30f0fc/"
        "data/isoflops/extract/llama_3/isoflops.csv",
        columns={"N": "params", "D": "tokens", "C": "budget"},
        where="condition == 'raw_loss'",
        citation="figure of Llama Team (2024), arXiv:2407.21783",
        licence=NONE_STATED,
        note="The loss is as read off the figure (0.69 to 0.93), in an unknown unit that is not "
        "nats per token: exponents can be compared, E can't. N comes from 6 N D = C exactly.",
    ),
    _marin("marin-comma", "comma"),
    _marin("marin-dclm", "dclm"),
    _marin("marin-nemotron", "nemotron"),
    DataSet(
        name="datablations-one-epoch",
        title="data-constrained runs on C4 that see every token once",
        file="datablations_repetition/repetition.csv",
        sha256="110b5c4e30f874e8b800312f48a9e0b55e70aac625b309b533d69f50b500c3ec",
        columns={"D": "n_tokens"},
        where="epochs == 1 and variant == 'main'",
        citation="Muennighoff et al. (2023), arXiv:2305.16264",
        licence="Apache-2.0",
        note="31 runs, some of them large models on 100M tokens.",
    ),
)
