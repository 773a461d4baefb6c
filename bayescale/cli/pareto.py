"""``bayescale pareto``: the frontier between several losses of one model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed

if TYPE_CHECKING:
    from bayescale.answers.pareto.answer import Pareto


def _option(metavar: str, text: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text)


def command(
    fit: FitFile,
    C: Annotated[list[str] | None, _option("FLOP", "Compute: 1e24, or several.", "--C")] = None,
    D: Annotated[
        list[str] | None,
        _option("TOKENS", "Tokens of all sources in place of compute, at one size.", "--D"),
    ] = None,
    N: Annotated[
        str | None, _option("PARAMS", "A fixed size in place of the best one.", "--N")
    ] = None,
    r: Annotated[
        str | None,
        _option(
            "RANGE",
            "Tokens of the second source over the first's: 0.05:0.5, or several. Default: the "
            "range of the data.",
            "--r",
        ),
    ] = None,
    share: Annotated[
        str | None, _option("RANGE", "The second source's share of all tokens in place of --r.")
    ] = None,
    target: Annotated[
        list[str] | None,
        _option("LOSS=VALUE", "Probability to attain these: text=2.1,multimodal=1.9."),
    ] = None,
    weight: Annotated[
        list[str] | None,
        _option("LOSS=VALUE", "What these weights choose: text=0.7,multimodal=0.3."),
    ] = None,
    by: Annotated[
        str, _option("WAY", "Weights are of the sum of losses, or of the worst: sum, worst.")
    ] = "sum",
    unique: Annotated[
        list[str] | None,
        _option("SOURCE=TOKENS", "Unique tokens that there are of a source: vision=5B."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        _option("LOSS=VALUE", "The corner from which hypervolume is measured."),
    ] = None,
    plot: Annotated[
        str | None, _option("FILE.png", "Draw the frontiers; also .svg or .pdf.")
    ] = None,
    group: Groups = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find which losses of one model can be had together, with 90% intervals.

    The frontier between text and multimodal loss (or those of other targets) under a budget, over
    the mixture and the size: for each mixture the size, tokens, both losses, and the weights under
    which it is the best choice.

    For example:

      bayescale pareto fit.nc --C 1e22,1e24 --r 0.05:0.5 --plot frontier.png
      bayescale pareto fit.nc --C 1e24 --target text=2.1,multimodal=1.9
      bayescale pareto fit.nc --C 1e24 --weight text=0.7,multimodal=0.3 --json
    """
    from bayescale.cli.output import show, show_json
    from bayescale.cli.reading import pairs, split_values

    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)

    def named(given: list[str] | None, option: str, form: str) -> dict[str, str] | None:
        return pairs(split_values(given), option, form) or None

    groups = pairs(group, "--group", "column=name, such as corpus=c4")
    targets = named(target, "--target", "loss=value, such as text=2.1")
    weights = named(weight, "--weight", "loss=value, such as text=0.7")
    asked: dict[str, Any] = {"D": split_values(D), "N": N, "r": r, "shares": share, "seed": seed}
    asked["U"] = named(unique, "--unique", "source=tokens, such as vision=5B")
    asked["reference"] = named(reference, "--reference", "loss=value, such as text=2.5")
    from bayescale.saving import load

    answer, odds = _answer(load(fit), split_values(C), asked | groups, targets, weights, by)
    if json:
        show_json(answer.to_dict() | odds)
    else:
        show(answer, *_lines(answer, odds))
    if plot:
        from bayescale.plot._pareto import save_pareto

        save_pareto(answer, plot)
        if not json:
            show(f"wrote {plot}")


def _answer(
    fit: Any,
    C: list[str] | None,
    asked: dict[str, Any],
    targets: dict[str, str] | None,
    weights: dict[str, str] | None,
    by: str,
) -> "tuple[Pareto, dict[str, Any]]":
    """The answer with its choices, and the probability of the targets at each budget."""
    from dataclasses import replace

    from bayescale.answers.pareto.run import pareto

    answer = pareto(fit, C, **asked)
    if weights:
        answer = replace(answer, choices=tuple(answer.choose(weights, by)))
    if not targets:
        return answer, {}
    found = answer.attainable(**targets)
    odds = [
        {answer.resource: float(c), "probability": float(p)}
        for c, p in zip(answer.budgets, found, strict=True)
    ]
    return answer, {"targets": {k: float(v) for k, v in targets.items()}, "attainable": odds}


def _lines(answer: "Pareto", odds: dict[str, Any]) -> list[str]:
    """The probability of the targets in words."""
    from bayescale.answers.pareto.show import amount

    if not odds:
        return []
    asked = ", ".join(f"{k} <= {v:g}" for k, v in odds["targets"].items())
    return [
        f"P({asked}) at {answer.resource} = {amount(answer, k)}: {one['probability']:.3f}"
        for k, one in enumerate(odds["attainable"])
    ]
