"""The perturbations: runs (or noise) as they would be if an input were other than stated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.sensitivity.sizes import NotApplicable, other_count
from bayescale.errors import FitError, nearest
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit
    from bayescale.noise import Noise

WHAT = {
    "embeddings": "N counted with embeddings where it is without, or the other way round",
    "N_factor": "N larger or smaller by a constant factor",
    "N_bias": "N wrong by a factor that grows with N",
    "N_scatter": "N wrong at random, run by run",
    "D_factor": "D larger or smaller by a constant factor",
    "D_bias": "D wrong by a factor that grows with D",
    "D_scatter": "D wrong at random, run by run",
    "loss_offset": "loss shifted by a constant (another tokenizer, nats against bits)",
    "small_compute": "the half of the runs with the least compute left out",
    "smallest_size": "the smallest size left out",
    "noise": "log-normal noise in place of Student-t, or the other way round",
}


@dataclass(frozen=True)
class Sizes:
    """How large the perturbations are.

    Parameters
    ----------
    error : float
        Relative error of N and D (0.1: 10%).
    bias : float
        Exponent of the size-dependent bias.
    offset : float
        Shift of the loss, in its own unit.
    scatters : int
        Repeats of the random errors.
    size_column, vocabulary, width
        See `bayescale.check.sensitivity.sizes.other_count`.
    seed : int
    """

    error: float = 0.1
    bias: float = 0.05
    offset: float = 0.01
    scatters: int = 3
    size_column: str | None = None
    vocabulary: "int | float | str | None" = None
    width: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, most in (("error", 1.0), ("bias", 1.0), ("offset", np.inf)):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 < value < most
            ):
                room = "a number above 0" if np.isinf(most) else f"a number from 0 to {most:g}"
                raise FitError(f"{name} is {value!r}; expected {room}.")
        if isinstance(self.scatters, bool) or not isinstance(self.scatters, int):
            raise FitError(f"scatters is {self.scatters!r}; expected a whole number such as 3.")
        if not 1 <= self.scatters <= 100:
            raise FitError(f"scatters is {self.scatters}; expected a number from 1 to 100.")


@dataclass(frozen=True)
class Change:
    """One perturbation, ready to be fitted.

    Parameters
    ----------
    key, kind, label : str
    runs : Runs
    noise : Noise or None
        None for the fit's own.
    """

    key: str
    kind: str
    label: str
    runs: "Runs"
    noise: "Noise | None" = None


def changes(fit: "Fit", what: list[str], sizes: Sizes) -> tuple[list[Change], dict[str, str]]:
    """The perturbations that a fit can have, and for the others why not.

    Raises
    ------
    FitError
        An unknown perturbation; the message gives the nearest.
    """
    for kind in what:
        if kind not in WHAT:
            raise FitError(
                f"unknown perturbation '{kind}'; known: {', '.join(WHAT)}."
                + nearest(str(kind), list(WHAT))
            )
    listed: list[Change] = []
    skipped: dict[str, str] = {}
    for kind in dict.fromkeys(what):
        try:
            made = list(_MAKERS[kind](fit, sizes))
            if all(c.noise is None and _same(fit, c.runs) for c in made):
                raise NotApplicable(
                    f"law '{fit.law.name}' and its noise read nothing that it changes"
                )
            listed += [replace(c, kind=kind) for c in made]
        except NotApplicable as reason:
            skipped[kind] = str(reason)
    return listed, skipped


def with_column(runs: "Runs", name: str, values: np.ndarray, why: str) -> "Runs":
    """Runs with other numbers in N, D or loss; what was computed from them follows.

    The third of N, D and C that wasn't read from the file is computed again by the cost model: a
    wrong N makes a D that came from C / (6 N) wrong too.
    """
    from bayescale.data.flags import Flag
    from bayescale.data.frames import content_hash

    table = runs.table.assign(**{name: values})
    read = {r: table[r].to_numpy(float) for r in ("N", "D", "C") if r in table}
    if name in ("N", "D", "C"):
        for role in runs.derived - {name}:
            if role == "C":
                table["C"] = runs.cost.flops(read["N"], read["D"], table)
            elif role == "D":
                table["D"] = runs.cost.tokens(read["N"], read["C"], table)
            elif role == "N":
                table["N"] = runs.cost.params(read["C"], read["D"], table)
    flags = (*runs.flags, Flag("note", (), why))
    return replace(runs, table=table, flags=flags, sha256=content_hash(table))


def _same(fit: "Fit", runs: "Runs") -> bool:
    """Whether nothing that the model reads differs from the fit's runs."""
    from bayescale.inference.batch import needed_columns

    if len(runs) != len(fit.runs):
        return False
    return all(runs.table[c].equals(fit.runs.table[c]) for c in needed_columns(fit.model))


def _need(fit: "Fit", name: str) -> np.ndarray:
    if name not in fit.runs.table:
        raise NotApplicable(f"the runs have no column {name}")
    return fit.runs.column(name).astype(float)


def _embeddings(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
    _need(fit, "N")
    other = other_count(fit.runs, sizes.size_column, sizes.vocabulary, sizes.width)
    label = f"{other.label} ({other.source})"
    yield Change("embeddings", "", label, with_column(fit.runs, "N", other.values, label))


def _factor(name: str) -> Callable[["Fit", Sizes], Iterator[Change]]:
    def make(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
        values = _need(fit, name)
        for key, factor in (("up", 1 + sizes.error), ("down", 1 / (1 + sizes.error))):
            label = f"{name} x {factor:.3g}"
            runs = with_column(fit.runs, name, values * factor, label)
            yield Change(f"{name}_factor_{key}", "", label, runs)

    return make


def _bias(name: str) -> Callable[["Fit", Sizes], Iterator[Change]]:
    def make(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
        values = _need(fit, name)
        relative = values / np.exp(np.mean(np.log(values)))
        for key, power in (("up", sizes.bias), ("down", -sizes.bias)):
            label = f"{name} x ({name}/{name}_mid)^{power:g}"
            runs = with_column(fit.runs, name, values * relative**power, label)
            yield Change(f"{name}_bias_{key}", "", label, runs)

    return make


def _scatter(name: str) -> Callable[["Fit", Sizes], Iterator[Change]]:
    def make(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
        values = _need(fit, name)
        for k in range(sizes.scatters):
            rng = np.random.default_rng([sizes.seed, k, 37 if name == "N" else 41])
            wrong = values * np.exp(np.log1p(sizes.error) * rng.standard_normal(len(values)))
            label = f"{name} scattered {100 * sizes.error:.3g}%, try {k + 1}"
            runs = with_column(fit.runs, name, wrong, label)
            yield Change(f"{name}_scatter_{k + 1}", "", label, runs)

    return make


def _loss_offset(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
    name = fit.law.response
    values = _need(fit, name)
    for key, offset in (("up", sizes.offset), ("down", -sizes.offset)):
        if fit.model.noise.on == "log" and (values + offset <= 0).any():
            raise NotApplicable(f"{name} {offset:+g} is not positive in all runs")
        label = f"{name} {'+' if offset > 0 else '-'} {abs(offset):g}"
        runs = with_column(fit.runs, name, values + offset, label)
        yield Change(f"loss_offset_{key}", "", label, runs)


def _small_compute(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
    compute = _need(fit, "C")
    middle = float(np.median(compute))
    keep = compute >= middle if (compute < middle).any() else compute > middle
    yield _dropped(fit, keep, "small_compute", f"C below {quantity(compute[keep].min())} left out")


def _smallest_size(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
    size = _need(fit, "N")
    smallest = quantity(float(size.min()))
    yield _dropped(fit, size > size.min(), "smallest_size", f"N = {smallest} left out")


def _dropped(fit: "Fit", keep: np.ndarray, key: str, label: str) -> Change:
    if not keep.any():
        raise NotApplicable("all runs are alike in it, so none would be left")
    label = f"{label} ({int((~keep).sum())} of {len(keep)} runs)"
    return Change(key, "", label, fit.runs.select(keep, label))


def _noise(fit: "Fit", sizes: Sizes) -> Iterator[Change]:
    noise = fit.model.noise
    tail = "normal" if noise.tail == "student_t" else "student_t"
    on = "log-normal" if noise.on == "log" else "normal"
    label = f"{on if tail == 'normal' else 'Student-t'} noise"
    yield Change("noise", "", label, fit.runs, replace(noise, tail=tail))


_MAKERS: dict[str, Callable[["Fit", Sizes], Iterator[Change]]] = {
    "embeddings": _embeddings,
    "N_factor": _factor("N"),
    "N_bias": _bias("N"),
    "N_scatter": _scatter("N"),
    "D_factor": _factor("D"),
    "D_bias": _bias("D"),
    "D_scatter": _scatter("D"),
    "loss_offset": _loss_offset,
    "small_compute": _small_compute,
    "smallest_size": _smallest_size,
    "noise": _noise,
}
