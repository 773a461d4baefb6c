"""``bayescale sbc``: simulation-based calibration of a law."""

from typing import Annotated, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Json, Seed


def _option(metavar: str, text: str, **limits: Any) -> Any:
    return typer.Option(metavar=metavar, help=text, **limits)


def command(
    law: opt.LawName,
    fits: Annotated[int, _option("INT", "Data sets to simulate and fit.", min=20)] = 200,
    design: Annotated[
        str | None,
        _option("RUNS", "Simulate at the inputs (and groups) of these runs: a file or a data set."),
    ] = None,
    around: Annotated[
        str | None,
        _option("FIT.nc", "Check around a saved fit: truths are its draws, runs are its own."),
    ] = None,
    noise: opt.NoiseName = None,
    noise_varies_with: opt.VariesWith = None,
    known_sd: opt.KnownSd = None,
    runs_column: opt.RunsColumn = None,
    along: opt.Along = None,
    pool: opt.Pools = None,
    prior: opt.Priors = None,
    drift: opt.DriftAlong = None,
    draws: Annotated[int, _option("INT", "Kept draws a chain.")] = 250,
    level: Annotated[float, _option("X", "Probability, at most, that a right law fails.")] = 0.01,
    workers: Annotated[int | None, _option("INT", "Fits at the same time.", min=1)] = None,
    folder: Annotated[
        str | None, _option("DIR", "Keep finished fits here; the same command goes on from them.")
    ] = None,
    plot: Annotated[
        str | None, _option("FILE.png", "Draw the ranks against their bands; also .svg or .pdf.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Check by simulation that a law's intervals hold what they say.

    Truths are drawn from the priors (or from a saved fit), runs from the noise, and each data set
    is fitted; the ranks of the truths among posterior draws must then be uniform. The exit code
    is 0 whatever the verdict; scripts read passes and failing in the JSON.

    For example:

      bayescale sbc chinchilla --fits 200
      bayescale sbc coupled --design runs.csv --plot ranks.png
      bayescale sbc chinchilla --around fit.nc --folder done --json
    """
    from bayescale.choosing import choose, example, find_family
    from bayescale.cli.modelling import build_model
    from bayescale.cli.output import answer
    from bayescale.errors import FitError

    columns = {
        "varies_with": noise_varies_with,
        "known_sd": known_sd,
        "runs": runs_column,
        "along": along,
    }
    chosen, runs = example(law), design
    if design and find_family(law):
        chosen, runs = choose(law, design, {})
    model = build_model(chosen, noise, pool, prior, drift, **columns)
    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)
    own: dict[str, Any] = {"noise": model.noise, "pooling": model.pooling, "design": runs}
    if around:
        if design or pool or prior or noise or drift or any(columns.values()):
            raise FitError("--around takes model and runs from the fit; give no others.")
        from bayescale.saving import load

        own = {"around": load(around)}
    from bayescale.check import sbc

    result = sbc(
        model.law, **own, fits=fits, draws=draws, level=level, seed=seed, workers=workers,
        folder=folder, progress=False if json else None,
    )  # fmt: skip
    if plot:
        from bayescale.plot._sbc import save_sbc

        save_sbc(result, plot)
    answer(result, json)
