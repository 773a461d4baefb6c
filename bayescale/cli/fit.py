"""``bayescale fit``: a law and a table of runs in, a saved posterior out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Json, Seed

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.tables import Table


def command(
    ctx: typer.Context,
    law: opt.LawName,
    runs: opt.RunTable = None,
    output: opt.Output = None,
    map: opt.Columns = None,
    unit: opt.Units = None,
    where: opt.Where = None,
    drop_missing: opt.DropMissing = False,
    cost: opt.Cost = None,
    factor: opt.Factor = None,
    run: opt.RunNames = None,
    drop_before: opt.DropBefore = None,
    smooth: opt.Smooth = None,
    last: opt.Last = False,
    thin: opt.Thin = None,
    noise: opt.NoiseName = None,
    noise_varies_with: opt.VariesWith = None,
    known_sd: opt.KnownSd = None,
    runs_column: opt.RunsColumn = None,
    along: opt.Along = None,
    pool: opt.Pools = None,
    prior: opt.Priors = None,
    drift: opt.DriftAlong = None,
    chains: opt.Chains = 4,
    draws: opt.Draws = 1000,
    warmup: opt.Warmup = 300,
    target_accept: opt.TargetAccept = 0.8,
    device: opt.Device = "cpu",
    seed: Seed = 0,
    quiet: opt.Quiet = False,
    json: Json = False,
) -> None:
    """Fit a scaling law to training runs.

    The result begins with a verdict: converged, NOT CONVERGED (the sampler had trouble) or
    NOT IDENTIFIED (these runs can't tell what the law asks). The exit code is 0 whatever the
    verdict; scripts read converged and reasons in the JSON, and answers from such a fit repeat
    the warning.

    An existing FIT.nc is replaced only when the new one is whole.

    For example:

      bayescale fit chinchilla runs.csv -o fit.nc
      bayescale fit chinchilla runs.csv --map loss=val_loss --unit N=1e9
      bayescale fit chinchilla sweep.csv --pool E=partial:corpus --json
      bayescale fit chinchilla curves.csv --run run_id --runs-column run_id --along D
      bayescale fit models/chinchilla-epoch2024.toml -o fit.nc
    """
    from bayescale.cli.from_card import fit_card, is_card
    from bayescale.cli.modelling import arranged, build_model, curve_arguments, reading_arguments

    _check_output(output)
    if is_card(law, runs):
        _tell(fit_card(law, ctx, device, quiet or json, not quiet), output, quiet, json)
        return
    reading = reading_arguments(map, unit, where, drop_missing, cost, factor)
    reading |= curve_arguments(run, drop_before, smooth, last, thin)
    columns = {
        "varies_with": noise_varies_with,
        "known_sd": known_sd,
        "runs": runs_column,
        "along": along,
    }
    chosen, table, reading = arranged(law, runs, reading)
    model = build_model(chosen, noise, pool, prior, drift, **columns)
    sampler = {"chains": chains, "draws": draws, "warmup": warmup, "device": device}
    sampler |= {"seed": seed, "target_accept": target_accept}
    fitted = fit_aloud(model, table, reading, sampler, quiet=quiet or json, bar=not quiet)
    _tell(fitted, output, quiet, json)


def _tell(fitted: "Fit", output: str | None, quiet: bool, json: bool) -> None:
    """Print a fit, and save it where a file was named."""
    from bayescale.cli.output import show, show_json

    if not json:  # before saving, so that a full disk doesn't take the numbers too
        show(*([fitted.gate.headline()] if quiet else ["", result_table(fitted)]))
    if output:
        fitted.save(output)
    if json:
        show_json({**fitted.to_dict(), "output": output})
    elif not quiet:
        show(*_closing(fitted, output))


def fit_aloud(
    model: Any,
    runs: Any,
    reading: dict[str, Any],
    sampler: dict[str, Any],
    *,
    quiet: bool = False,
    bar: bool = True,
) -> "Fit":
    """Read runs and say what was taken for what, then fit, with a bar if someone looks."""
    from bayescale.cli.output import show
    from bayescale.data.read import read_runs

    table = read_runs(runs, **reading)
    if not quiet:
        show(table.describe())
    from bayescale.fitting import fit

    parts = {"noise": model.noise, "pooling": model.pooling}
    return fit(model.law, table, **parts, **sampler, progress=None if bar else False)


def result_table(fitted: "Fit") -> "Table":
    """The fit's table without the lines about its runs, which were printed before."""
    from bayescale.printing import fit_table

    table, said = fit_table(fitted), fitted.runs.describe().splitlines()
    return replace(table, notes=[note for note in table.notes if note not in said])


def _check_output(output: str | None) -> None:
    """Refuse a place that can't be written before the minutes of sampling, not after."""
    if output is not None:
        from bayescale.files import check_writable

        check_writable(output)


def _closing(fitted: "Fit", output: str | None) -> list[str]:
    took = f"{fitted.record['seconds']:.1f} s"
    if output is None:
        return [f"{took}; not saved: -o FIT.nc keeps it for later answers"]
    return [f"{took}; wrote {output}", f"ask it: bayescale predict {output} --help"]
