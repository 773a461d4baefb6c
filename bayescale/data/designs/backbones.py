"""The 34 language models of the capability paper, their families, and its text benchmarks.

Tables 4 and 7 of arXiv:2608.00013: which backbones were trained on, and how each text benchmark
carries over to multimodal accuracy (subsets of a benchmark merged).
"""

# family -> (name without the ending of its base model, parameters in billions, size of the paper)
SIZES = {
    "Qwen3": (("0.6B", 0.6), ("1.7B", 1.7), ("4B", 4.0), ("8B", 8.0), ("30B-A3B", 30.0)),
    "Qwen2.5": (("72B", 72.0),),
    "Falcon3": (("1B", 1.0), ("3B", 3.0), ("7B", 7.0), ("10B", 10.0)),
    "Llama-3.2": (("1B", 1.0), ("3B", 3.0)),
    "Gemma-2": (("2b", 2.0), ("9b", 9.0)),
    "Mistral": (("7B-v0.3", 7.0),),
    "DeepSeek": (("llm-7b", 7.0), ("math-7b", 7.0)),
}
FAMILIES = tuple(SIZES)
KINDS = ("base", "instruct")

# Table 7: lambda of each benchmark
TRANSFER = {
    "dyck_languages_hard": 0.119, "hindu_knowledge": 0.108, "play_dialog_same_or_different": 0.082,
    "word_unscrambling": 0.063, "mmlu_stem": 0.057, "logic_grid_puzzle": 0.050,
    "matrixshapes": 0.049, "mmlu_humanities": 0.046, "wic": 0.046, "winogrande": 0.045,
    "movie_dialog_same_or_different": 0.041, "unit_conversion": 0.041,
    "presuppositions_as_nli": 0.039, "logiqa": 0.038, "mathematical_induction": 0.036,
    "ascii_word_recognition": 0.035, "disfl_qa": 0.035, "fantasy_reasoning": 0.030,
    "symbol_interpretation": 0.030, "analogical_similarity": 0.026, "checkmate_in_one": 0.019,
    "undo_permutation": 0.019, "mmlu_other": 0.016, "causal_judgement_hard": 0.015,
    "winowhy": 0.015, "CrossNER": 0.014, "navigate_hard": 0.013, "anachronisms": 0.009,
    "tense": 0.002, "boolean_expressions_hard": -0.078,
    "contextual_param_knowledge_conflicts": -0.048, "mnist_ascii": -0.043,
    "entailed_polarity": -0.037, "proofwriter_cwa": -0.037, "proofwriter_owa": -0.036,
    "multirc": -0.035, "word_sorting_hard": -0.024, "formal_fallacies_hard": -0.011,
    "dark_humor_detection": -0.010, "piqa": -0.000,
}  # fmt: skip

# Tables 2 and 3: A-hat, B0 and Bm (both per e-fold of tokens in billions), mean absorption
ACCURACY = {
    "Llama-3.2": (0.361, 0.0028, 0.0455, 0.0122),
    "Gemma-2": (0.324, 0.0246, 0.0451, 0.0213),
    "Falcon3": (0.288, 0.0112, 0.0133, 0.0117),
    "Qwen3": (0.246, 0.0140, 0.0219, 0.0126),
    "base": (0.212, 0.0160, 0.0078, 0.0161),
    "instruct": (0.254, 0.0149, 0.0104, 0.0147),
}


def backbones() -> list[tuple[str, str, str, float]]:
    """Name, family, kind (base or instruct) and parameters of the 34 models."""
    return [
        (f"{family}-{size}-{kind}", family, kind, billions * 1e9)
        for family, sizes in SIZES.items()
        for size, billions in sizes
        for kind in KINDS
    ]
