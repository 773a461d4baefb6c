"""What to try next, given the model at hand."""

from bayescale.inference.model import Model

_TWO_INPUTS = ("chinchilla", "kaplan")


def another_law(model: Model) -> str:
    """A law that bends otherwise than this one."""
    if model.law.name in _TWO_INPUTS:
        return "law 'coupled'"
    if model.law.name == "coupled":
        return (
            "parameters that differ by group, or a fit without the runs farthest from your target"
        )
    return "another law (see `bayescale laws`)"


def varying_noise(model: Model, name: str = "C") -> str:
    """Noise whose scale changes with an input, or what is left where it does already."""
    if model.noise.varies_with:
        return f"noise that changes with something else than {model.noise.varies_with}"
    return f"noise that changes with {name} (varies_with='{name}')"


def heavier_tail(model: Model) -> str:
    """Noise with a heavier tail, or what is left where it has one."""
    if model.noise.tail == "normal":
        return "Student-t noise, which keeps such runs from bending the law"
    return "leave such runs out, after a look at why"


def trend(model: Model, name: str) -> str:
    """After a slope or a bend of residuals against an input."""
    law = another_law(model)
    if name in ("N", "D"):
        return f"the law gets the change with {name} wrong: {law}"
    if name == "C":
        noise = varying_noise(model)
        return f"extrapolations in C are off until this fits: {law}, or {noise}"
    if name == "step":
        named = model.noise.runs
        column = "" if named else "; name the run column of the noise (runs=...)"
        return (
            "checkpoints before the learning rate has decayed lie off the law: keep the final "
            f"ones{column}"
        )
    return f"the law gets the change with {name} wrong: {law}"


def neighbours(model: Model, name: str) -> tuple[str, str]:
    """After residuals that are alike, or unlike, between neighbours along an input."""
    return (
        f"neighbours in {name} miss the law alike (look at the picture): rows are not independent "
        f"and intervals too narrow; {another_law(model)}, a parameter that differs by group, or "
        "runs= where rows are checkpoints",
        f"neighbours in {name} alternate around the law: two kinds of runs in turn? Look for a "
        "setting that differs, and check it as group:COLUMN",
    )


def curvature(model: Model) -> tuple[str, str]:
    """After slices that bend more or less than the law."""
    law = another_law(model)
    return (
        f"loss rises faster beside the optimum than the law says: {law}, or leave out the "
        "smallest and largest sizes",
        f"loss rises more slowly beside the optimum than the law says: {law}, or leave out the "
        "smallest and largest sizes",
    )


def shift(model: Model) -> tuple[str, str]:
    """After minima of slices that lie beside the law's."""
    after = f"{another_law(model)}, or another count of parameters (with or without embeddings)"
    return (
        f"the data's optimal N lies above the law's, so allocations come out too small: {after}",
        f"the data's optimal N lies below the law's, so allocations come out too large: {after}",
    )


def exponent(model: Model) -> tuple[str, str]:
    """After minima whose trend with compute differs from the law's."""
    after = f"don't extrapolate N_opt; {another_law(model)}, or another count of parameters"
    return (
        f"optimal N grows faster with C than the law's allocation exponent says: {after}",
        f"optimal N grows more slowly with C than the law's allocation exponent says: {after}",
    )


def prior(what: str) -> tuple[str, str]:
    """After a prior that hardly allows what was observed."""
    return (
        f"the prior puts {what} too low: move or widen the priors of the law",
        f"the prior puts {what} too high: move or widen the priors of the law",
    )
