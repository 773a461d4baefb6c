"""Benchmark scores of models."""

from bayescale.data.catalog.record import DataSet

ACCURACIES: tuple[DataSet, ...] = (
    DataSet(
        name="vlm-capability",
        title="96 vision-language models with text scores of their 33 base models",
        file="vlm_capability/vlm_capability.csv",
        sha256="51ece29ac3ca07abc286ac359986fbd05a1cd2b003a1c3602245d3e70b2bfe05",
        columns={"loss": "", "N": "", "D": "", "C": ""},
        citation="finn1901/VLM-Chart and the OpenCompass leaderboard; text scores: Ruan, Maddison, "
        "Hashimoto (2024), arXiv:2405.10938",
        licence="MIT (VLM table), Apache-2.0 (text scores)",
        note="Recipes, vision encoders and dates differ, so the spread is recipe, not noise. Six "
        "early models fail the answer format of MMBench.",
        laws=("capability",),
    ),
    DataSet(
        name="obs-scaling",
        title="148 base models with eight benchmark scores, sizes and training compute",
        file="obs_scaling/base_llm_benchmark_eval.csv",
        sha256="511996815735a4c46251dc585dcc525e370d148201f86561e6f927f9df2d0db8",
        url="https://raw.githubusercontent.com/ryoungj/ObsScaling/"
        "4d6e1e43fd2635d04654aa77d1df9d5266ea0382/eval_results/base_llm_benchmark_eval.csv",
        columns={"loss": "", "N": "", "D": "", "C": ""},
        citation="Ruan, Maddison, Hashimoto (2024), arXiv:2405.10938",
        licence="Apache-2.0",
        note="Scores are shares, not percent; closed models lack size and compute.",
        laws=("observational",),
    ),
)
