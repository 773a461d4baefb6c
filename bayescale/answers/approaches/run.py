"""``approaches``: the table of up to three approaches, from answers or from a table of runs."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.approach import Approach
from bayescale.answers.approaches.parametric import parametric
from bayescale.answers.approaches.result import Approaches
from bayescale.answers.approaches.slices import cut_slices, has_budgets
from bayescale.answers.points import read_values
from bayescale.errors import DataError, FitError

if TYPE_CHECKING:
    from bayescale.answers.envelope import Envelope
    from bayescale.answers.isoflop.result import IsoFLOP
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit
    from bayescale.law import Law

CHECKPOINTS = 12  # of each run, for the parametric law: neighbours say the same
NEAR = 0.1  # and of a loss near the lowest at their compute: the start of training follows no law


def approaches(
    runs: Any = None,
    *,
    C: Any,
    fit: "Fit | None" = None,
    isoflop: "IsoFLOP | None" = None,
    envelope: "Envelope | None" = None,
    run: str | tuple[str, ...] | None = None,
    law: "Law | str" = "chinchilla",
    draws: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
    group: dict[str, Any] | None = None,
    **reading: Any,
) -> Approaches:
    """Put the parametric, IsoFLOP and envelope answers side by side.

    Either give two or three of ``fit``, ``isoflop`` and ``envelope``, or a table of runs from
    which those that are missing are made, as far as it allows; why one can't be is told.
    From training curves the parametric law is fitted to checkpoints near the envelope, with a
    noise that runs remember, and IsoFLOP slices are read off the curves at eight budgets. Of a
    table at fixed budgets all rows count as they are.

    Parameters
    ----------
    runs : Runs, DataFrame, path or data set name, optional
    C : number, str or several
        Budgets in FLOP.
    fit : Fit, optional
        Of any law of N and D.
    isoflop : IsoFLOP, optional
        From `bayescale.isoflop`.
    envelope : Envelope, optional
        From `bayescale.envelope`.
    run : str or tuple of str, optional
        Column that names the training run, where rows are checkpoints; ``"N"``: one curve a size.
    law : Law or str
        Fitted where ``runs`` are given without ``fit``.
    draws : int
        A chain, of the fits made here.
    seed : int
    progress : bool, optional
    group : mapping, optional
        For pooled fits, the group by its column.
    **reading
        Passed to `bayescale.read_runs`.

    Returns
    -------
    Approaches

    Raises
    ------
    FitError
        Fewer than two answers without runs, or none that these runs allow.
    DataError
        The runs can't be read, or a budget isn't a positive number.
    """
    budgets = read_values("C", C)
    given: dict[str, Approach] = {}
    if fit is not None:
        given["parametric"] = parametric(fit, seed, **(group or {}))
    for name, answer in (("isoflop", isoflop), ("envelope", envelope)):
        if answer is not None:
            given[name] = _checked(name, answer)
    if runs is None:
        if len(given) < 2:
            raise FitError(
                f"approaches compares two or three answers and got {len(given)}: give fit=, "
                "isoflop= or envelope=, or the runs to make them from."
            )
        return Approaches(given, budgets, source=_source(fit, envelope))
    made, refused, source = _make(
        runs, set(given), run, law, {"draws": draws, "seed": seed, "progress": progress}, reading
    )
    both = {**given, **made}
    found = {n: both[n] for n in ("parametric", "isoflop", "envelope") if n in both}
    if not found:
        raise FitError(
            f"{source} allows none of the three approaches. "
            + " ".join(f"{name}: {why}" for name, why in refused.items())
        )
    return Approaches(found, budgets, refused, source)


def _checked(name: str, answer: Any) -> Approach:
    if not isinstance(answer, Approach) or answer.name != name:
        raise FitError(
            f"{name}= is {type(answer).__name__}; expected what bayescale.{name}() returns, for "
            "one experiment."
        )
    return answer


def _source(fit: "Fit | None", envelope: "Envelope | None") -> str:
    return envelope.source if envelope else fit.extent.source if fit else ""


def _make(
    source: Any,
    there: set[str],
    run: str | tuple[str, ...] | None,
    law: "Law | str",
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> tuple[dict[str, Approach], dict[str, str], str]:
    """The approaches that aren't there, and why some can't be."""
    from bayescale.answers.envelope.reading import read_table
    from bayescale.data.read import read_runs

    columns: tuple[str, ...] | None = None
    why = ""
    plain = {k: v for k, v in reading.items() if k != "curves"} if run else reading
    table = read_runs(source, **plain)
    table.require(["N", "D", "C", "loss"], by="a comparison of approaches")
    try:
        table, columns = read_table(table, run, {"curves": reading.get("curves")})
    except DataError as problem:
        if run is not None:
            raise
        why = str(problem)
    ways = {
        "parametric": lambda: _fit(table, columns, law, settings),
        "isoflop": lambda: _isoflop(table, columns, settings),
        "envelope": lambda: _envelope(table, columns, why, settings["seed"]),
    }
    made: dict[str, Approach] = {}
    refused: dict[str, str] = {}
    for name, way in ways.items():
        if name in there:
            continue
        try:
            made[name] = way()
        except (DataError, FitError) as problem:
            refused[name] = str(problem)
    return made, refused, table.source


def _fit(
    table: "Runs", columns: tuple[str, ...] | None, law: "Law | str", settings: dict[str, Any]
) -> Approach:
    from bayescale.fitting import fit

    if columns is None or has_budgets(table) or _one_each(table, columns):
        return parametric(fit(law, table, **settings))
    from bayescale.answers.envelope.reading import near_rows
    from bayescale.data.curves import Curves
    from bayescale.data.curves.which import name_runs
    from bayescale.data.read import read_runs
    from bayescale.noise import Noise

    named, which = name_runs(table, columns)
    keep = near_rows(table, which, NEAR)
    rows = named.assign(curve_of=np.asarray(which.names, dtype=object)[which.code])[keep]
    part: Any = rows[["N", "D", "loss", "curve_of"]]
    thin = read_runs(
        part.reset_index(drop=True), cost=table.cost, curves=Curves("curve_of", thin=CHECKPOINTS)
    )
    # offsets of runs would stand in for the size term (22 Gemstones shapes: theirs goes with N,
    # correlation .98), and a Student-t tail without them would let runs lie anywhere
    noise = Noise(tail="normal", runs="curve_of", along="D", offset=False)
    return parametric(fit(law, thin, noise=noise, **settings))


def _one_each(table: "Runs", columns: tuple[str, ...]) -> bool:
    """Whether each run has one row."""
    from bayescale.data.curves.which import name_runs

    _, which = name_runs(table, columns)
    return bool((which.sizes() == 1).all())


def _isoflop(table: "Runs", columns: tuple[str, ...] | None, settings: dict[str, Any]) -> Approach:
    from bayescale.answers.isoflop.run import isoflop

    runs: Any = table
    if columns is not None and not has_budgets(table):
        runs = cut_slices(table, columns)[["N", "D", "C", "loss"]]
    found = isoflop(runs, **settings)
    assert isinstance(found, Approach)  # without `by` it is one answer
    return found


def _envelope(table: "Runs", columns: tuple[str, ...] | None, why: str, seed: int) -> Approach:
    from bayescale.answers.envelope import envelope

    if columns is None:
        raise DataError(why)
    return envelope(table, run=columns, seed=seed)
