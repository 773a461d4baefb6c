"""The designs of papers whose runs are not public, simulated with the numbers that they give."""

from collections.abc import Mapping

from bayescale.data.catalog.record import DataSet

_WHY = (
    "Simulated: published coefficients where the paper gives them, stated stand-ins elsewhere "
    "(bayescale.data.designs)."
)


def _design(
    name: str,
    module: str,
    function: str,
    title: str,
    citation: str,
    laws: tuple[str, ...],
    columns: Mapping[str, str],
) -> DataSet:
    return DataSet(
        name=name,
        title=title,
        file=f"designs/{module}.py",
        simulator=f"bayescale.data.designs.{module}:{function}",
        sha256="",
        columns=columns,
        citation=f"bayescale; design: {citation}",
        licence="MIT",
        note=_WHY,
        laws=laws,
    )


SIMULATED: tuple[DataSet, ...] = (
    _design(
        "simulated-mixtures",
        "mixture_grid",
        "simulate_mixture_grid",
        "268 runs on mixtures of text, vision and audio with repetition, 457M to 8.3B",
        "Scaling Laws for Multimodal Data Mixtures",
        ("mixture",),
        {},
    ),
    _design(
        "simulated-text-multimodal",
        "text_multimodal",
        "simulate_text_multimodal",
        "text and multimodal loss of six sizes at four ratios of multimodal to text tokens",
        "Wu et al. (2026), arXiv:2607.22043",
        ("decoupled",),
        {},
    ),
    _design(
        "simulated-backbones",
        "capability",
        "simulate_capability",
        "34 backbones of seven families with text scores, trained on images for five budgets",
        "arXiv:2608.00013",
        ("capability",),
        {"loss": "", "C": ""},
    ),
)
