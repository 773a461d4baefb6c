"""Results as tables: what was measured, ratios against bayescale, targets."""

from collections.abc import Callable, Sequence

from bayescale.tables import Table
from benchmarks.speed.measure import Result
from benchmarks.speed.process import Usage

OURS, SHELL, NUTPIE, SIMPLE = (
    "bayescale",
    "bayescale (shell)",
    "PyMC + nutpie",
    "simple-scaling-laws",
)


def measured(results: Sequence[Result], notes: Sequence[str] = ()) -> Table:
    """Seconds and effective samples of each contender."""
    columns = ("", "cold wall/CPU s", "next wall/CPU s", "warm wall/CPU s", "MB",
               "gradients/draw", "min ESS", "ESS/s", "ESS/CPU s", "a")  # fmt: skip
    rows = [
        (
            r.name,
            _cost(r.cold),
            _cost(r.next),
            _cost(r.warm),
            f"{r.next.memory:.0f}",
            number(r.gradients),
            number(r.ess),
            number(ess_per_second(r)),
            number(ess_per_second(r, "cpu")),
            f"{r.a[0]:.4f} ± {r.a[1]:.4f}" if r.a else "–",
        )
        for r in results
    ]
    return Table(columns, rows, title="Measured (medians)", notes=notes)


def ratios(results: Sequence[Result]) -> Table:
    """Each contender's cost over bayescale's, and bayescale's ESS a second over theirs."""
    ours = next(r for r in results if r.name == OURS)
    columns = ("", "cold CPU", "next CPU", "warm wall", "gradients/draw", "ESS/s", "ESS/CPU s")
    parts: list[Callable[[Result], float | None]] = [
        lambda r: ratio(r.cold.cpu, ours.cold.cpu),
        lambda r: ratio(r.next.cpu, ours.next.cpu),
        lambda r: ratio(r.warm and r.warm.wall, ours.warm and ours.warm.wall),
        lambda r: ratio(r.gradients, ours.gradients),
        lambda r: ratio(ess_per_second(ours), ess_per_second(r)),
        lambda r: ratio(ess_per_second(ours, "cpu"), ess_per_second(r, "cpu")),
    ]
    rows = [(r.name, *(number(part(r)) for part in parts)) for r in results if r is not ours]
    return Table(columns, rows, title="How many times better bayescale is (above 1: better)")


def targets(results: Sequence[Result]) -> Table:
    """The project's speed targets and what was reached; left out where the rival is."""
    by_name = {r.name: r for r in results}
    ours, nutpie, simple = (by_name.get(n) for n in (OURS, NUTPIE, SIMPLE))
    assert ours is not None
    rows = [target_row("gradient evaluations a draw", ours.gradients, 8.0)]
    if nutpie:
        speedup = ratio(ess_per_second(ours), ess_per_second(nutpie))
        rows.insert(0, target_row("warm min ESS/s over nutpie's", speedup, 20.0, at_least=True))
        rows.append(
            target_row("cold CPU over nutpie's", ratio(ours.cold.cpu, nutpie.cold.cpu), 1 / 3)
        )
    if simple:
        for r in (ours, by_name.get(SHELL)):
            if r:
                what = f"next CPU of {r.name} over simple-scaling-laws'"
                rows.append(target_row(what, ratio(r.next.cpu, simple.next.cpu), 1.0))
    return Table(("", "reached", "target", "met"), rows, title="Targets")


def ess_per_second(result: Result, clock: str = "wall") -> float | None:
    """Smallest bulk ESS of a warm fit over its wall (or CPU) seconds."""
    return ratio(result.ess, result.warm and getattr(result.warm, clock))


def ratio(above: float | None, below: float | None) -> float | None:
    """Quotient, or None where either side was not measured."""
    return above / below if above is not None and below else None


def target_row(what: str, reached: float | None, target: float, at_least: bool = False) -> tuple:
    """A line of the table of targets: what was reached, what was wanted, whether it was met."""
    if reached is None:
        return what, "–", number(target), "not measured"
    met = reached >= target if at_least else reached <= target
    gap = target / reached if at_least else reached / target
    sign = ">=" if at_least else "<="
    said = "yes" if met else f"no, {gap:.2f} times off"
    return what, number(reached), f"{sign} {number(target)}", said


def _cost(usage: Usage | None) -> str:
    return f"{usage.wall:.1f} / {usage.cpu:.1f}" if usage else "–"


def number(value: float | None) -> str:
    """Three digits, a dash for what was not measured."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
