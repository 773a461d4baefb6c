"""``bayescale allocate``: how to split a compute budget between size and tokens."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Picture, Seed

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def command(
    fit: FitFile,
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Compute: 5.76e23, or several: 1e22,1e23."),
    ] = None,
    N: Annotated[
        list[str] | None,
        typer.Option(
            "--N", metavar="PARAMS", help="Sizes you consider: what each costs at each budget."
        ),
    ] = None,
    inference_tokens: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKENS",
            help="Tokens served over the model's life: find the size and tokens that reach the "
            "loss of --C (or --loss) with the least training and serving.",
        ),
    ] = None,
    loss: Annotated[
        list[str] | None,
        typer.Option(metavar="LOSS", help="With --inference-tokens: the loss, in place of --C."),
    ] = None,
    flops_per_token: Annotated[
        float, typer.Option(metavar="X", help="FLOP per parameter and served token.")
    ] = 2.0,
    assurance: Annotated[
        float,
        typer.Option(metavar="P", help="With --inference-tokens: how surely to reach the loss."),
    ] = 0.5,
    unique_tokens: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKENS",
            help="Unique tokens there are, beyond which data are repeated: fits of repetition.",
        ),
    ] = None,
    factor: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Take C = X N D, in place of the cost model of the data.", min=1e-9
        ),
    ] = None,
    group: Groups = None,
    plot: Picture = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the compute-optimal size and tokens, with 90% intervals.

    Below the table: the single size with the least expected loss, and for your own sizes the
    expected regret (loss above the optimum) and the compute wasted.

    For example:

      bayescale allocate fit.nc --C 5.76e23
      bayescale allocate fit.nc --C 1e22,1e23,1e24 --N 30B,70B
      bayescale allocate fit.nc --C 1e23 --inference-tokens 1T,10T
      bayescale allocate fit.nc --loss 2.1 --inference-tokens 1T --assurance 0.9
      bayescale allocate repetition.nc --C 1e21,1e22,1e23 --unique-tokens 25B
    """
    from bayescale.cli.output import check_place
    from bayescale.cli.reading import pairs, split_values
    from bayescale.data.cost import six_nd
    from bayescale.saving import load

    _check(C, N, inference_tokens, loss, unique_tokens)
    check_place(plot)
    options: dict[str, Any] = dict(pairs(group, "--group", "column=name, such as corpus=c4"))
    options |= {"cost": None if factor is None else six_nd(factor), "seed": seed}
    found, budgets, shown = load(fit), split_values(C), (json, plot)
    if inference_tokens:
        options |= {"flops_per_token": flops_per_token, "assurance": assurance}
        served = {"inference_tokens": split_values(inference_tokens), "loss": split_values(loss)}
        _serving(found, {"C": budgets, **served, **options}, *shown)
    elif unique_tokens:
        _limited(found, budgets, split_values(unique_tokens), options, *shown)
    else:
        _plain(found, budgets, split_values(N), options, *shown)


def _serving(fit: "Fit", asked: dict[str, Any], json: bool, plot: str | None) -> None:
    from bayescale.answers.serving.optimum import inference_optimum
    from bayescale.cli.output import tell

    found = inference_optimum(fit, **asked)

    def draw(figure: Any) -> None:
        from bayescale.plot import serving

        serving(found, figure=figure)

    tell(found, json, plot, draw, wide=True)


def _limited(
    fit: "Fit", C: Any, unique: Any, options: dict[str, Any], json: bool, plot: str | None
) -> None:
    from bayescale.answers.data_limit import allocate_limited
    from bayescale.cli.output import tell

    found = allocate_limited(fit, C, unique, **options)

    def draw(figure: Any) -> None:
        from bayescale.plot import data_limit

        data_limit(found, figure=figure)

    tell(found, json, plot, draw, wide=True)


def _plain(
    fit: "Fit", C: Any, N: Any, options: dict[str, Any], json: bool, plot: str | None
) -> None:
    from bayescale.cli.output import tell

    def draw(figure: Any) -> None:
        from bayescale.plot import allocation

        allocation(fit, ax=figure.add_subplot(), **options)

    tell(fit.allocate(C, N=N, **options), json, plot, draw)


def _check(C: Any, N: Any, inference_tokens: Any, loss: Any, unique_tokens: Any) -> None:
    """Raise where options are missing, or don't go together."""
    if loss and not inference_tokens:
        raise typer.BadParameter("--loss is for --inference-tokens; give --C for the best loss")
    if not (C or loss):
        raise typer.BadParameter("say how much compute there is: --C 5.76e23")
    if C and loss:
        raise typer.BadParameter("--C and --loss both say which loss to reach; give one")
    if inference_tokens and unique_tokens:
        raise typer.BadParameter("--inference-tokens and --unique-tokens can't be asked together")
    if N and (inference_tokens or unique_tokens):
        what = "--inference-tokens" if inference_tokens else "--unique-tokens"
        raise typer.BadParameter(f"--N can't be asked with {what}")
