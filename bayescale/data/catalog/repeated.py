"""Runs that see their data more than once."""

from bayescale.data.catalog.record import NONE_STATED, DataSet

REPEATED: tuple[DataSet, ...] = (
    DataSet(
        name="datablations-repetition",
        title="data-constrained runs on C4: 1 to 9,000 epochs over 100M to 178B unique tokens",
        file="datablations_repetition/repetition.csv",
        sha256="110b5c4e30f874e8b800312f48a9e0b55e70aac625b309b533d69f50b500c3ec",
        columns={"D": "n_tokens"},
        where="corpus == 'c4' and variant == 'main'",
        citation="Muennighoff et al. (2023), arXiv:2305.16264",
        licence="Apache-2.0",
        note="Some runs are harmed by repetition (loss rises to 11): outside every law of this "
        "kind. Epochs up to 10 are sound.",
        laws=("repetition",),
    ),
    DataSet(
        name="openclip",
        title="29 CLIP models on LAION subsets of 80M, 400M and 2B pairs, ImageNet error",
        file="laion_openclip/openclip_runs.csv",
        sha256="f0842ddf86b068d3a09e69863ab421e5ed0326c0bc137d1c2538a62ce22226a3",
        columns={
            "N": "n_params", "D": "samples_seen", "U": "unique_samples",
            "loss": "error_imagenet1k",
        },
        citation="Cherti et al. (2023), arXiv:2212.07143",
        licence=NONE_STATED,
        note="The response is an error (1 - accuracy), D counts image-text pairs. Batch size and "
        "learning rate differ between runs.",
        laws=("repetition",),
    ),
)  # fmt: skip
