"""One table for terminal, notebook and script: rich text, HTML, DataFrame, JSON."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as RichTable

LEVELS = {"q025": 0.025, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95,
          "q975": 0.975}  # fmt: skip
WORDS = 10  # narrowest column of words worth reading


def quantity(value: float, digits: int = 3) -> str:
    """Write a number for people: 70.2B, 5.76e23, 0.0037.

    Thousands up to trillions get a letter (K, M, B, T); beyond that a power of ten.
    """
    if value is None or not math.isfinite(value):
        return "–"
    size = float(f"{abs(value):.{digits - 1}e}")  # as it's shown: 999.9B is 1T
    if size >= 1e15 or (0 < size < 1e-4):
        return f"{value:.{digits - 1}e}".replace("e+", "e").replace("e-0", "e-")
    for letter, unit in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e4)):
        if size >= unit:
            return f"{value / (1e3 if letter == 'K' else unit):.{digits}g}{letter}"
    if size >= 10**digits:
        return f"{float(f'{value:.{digits - 1}e}'):.0f}"  # 1460, not 1.46e+03
    return f"{value:.{digits}g}"


def with_spread(value: float, spread: float) -> str:
    """Write a number with as many digits as its standard deviation ``spread`` carries."""
    if not math.isfinite(value) or not math.isfinite(spread) or spread <= 0:
        return quantity(value, 4)
    if abs(value) >= 1e4 or abs(value) < 1e-3:
        return quantity(value, 3)
    decimals = max(0, min(6, 1 - math.floor(math.log10(spread))))
    return f"{value:.{decimals}f}"


@dataclass(frozen=True)
class Table:
    """Rows of text under headings, with lines before and after.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str
    title : str
        First line.
    warnings, notes : sequence of str
        Lines above (in red) and below the rows.
    text : sequence of str
        Columns of words, which may wrap; the others are numbers, which must not.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    text: Sequence[str] = ("", "meaning", "against the data")

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.text import Text

        if self.title:
            yield Text(self.title, style="bold")
        if self.warnings:
            yield _listed(self.warnings)
        if self.rows:
            yield self._grid(console, options.max_width)
        for line in self.notes:
            yield Text(line, style="dim")

    def _grid(self, console: "Console", width: int) -> "RichTable":
        """The rows as wide as they need; in a narrower place with words wrapped, or turned."""

        def need(table: "RichTable") -> int:
            return console.measure(table, options=console.options.update(max_width=1000)).maximum

        upright = _grid(self.columns, self.rows, self.text)
        if need(upright) <= width:
            return upright
        longest = [max(len(row[k]) for row in self.rows) for k in self._wrapping()]
        if need(upright) - sum(max(0, size - WORDS) for size in longest) <= width:
            return _grid(self.columns, self.rows, self.text, self._wrapping())
        first, *turned = zip(self.columns, *self.rows, strict=True)
        numbers = [line for line in turned if line[0] not in self.text]
        if need(_grid(first, numbers, first[:1])) <= width:
            return _grid(first, turned, first[:1])
        return upright

    def _wrapping(self) -> list[int]:
        """Columns that may wrap in a narrow place; names, under an empty heading, stay whole."""
        return [k for k, name in enumerate(self.columns) if name and name in self.text]

    def __str__(self) -> str:
        return render(self)

    def html(self) -> str:
        """The table as an HTML fragment."""
        from html import escape

        def lines(tag: str, items: Sequence[str], style: str = "") -> str:
            return "".join(f"<{tag}{style}>{escape(i)}</{tag}>" for i in items)

        head = f"<p><b>{escape(self.title)}</b></p>" if self.title else ""
        warned = lines("p", self.warnings, ' style="color:#b00"')
        body = "".join(f"<tr>{lines('td', row)}</tr>" for row in self.rows)
        table = f"<table><thead><tr>{lines('th', self.columns)}</tr></thead>{body}</table>"
        return head + warned + table + lines("p", self.notes)


def _grid(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    text: Sequence[str],
    wrapping: Sequence[int] | None = None,
) -> "RichTable":
    """A rich table; only columns at the places ``wrapping`` wrap, all of them by default."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for k, name in enumerate(columns):
        whole = wrapping is not None and k not in wrapping
        side = "left" if name in text else "right"
        table.add_column(name, justify=side, overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _listed(lines: Sequence[str]) -> "RichTable":
    """Warnings, each with a mark, its further lines indented."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable.grid(padding=(0, 1, 0, 0))
    for line in lines:
        table.add_row(Text("!", style="red"), Text(line, style="red"))
    return table


class Shown:
    """Base of answers: shown as a table in a terminal, a notebook and by ``print``."""

    def table(self) -> Table:
        """The answer as a table."""
        raise TypeError(f"{type(self).__name__} must say how it looks: define table().")

    def __str__(self) -> str:
        return render(self.table())

    def __rich__(self) -> Table:
        return self.table()

    def _repr_html_(self) -> str:
        return self.table().html()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows where there is no HTML: not the arrays, but the table."""
        printer.text(str(self))

    def __init_subclass__(cls, **options: Any) -> None:
        """Let each answer's own class have it: IPython takes a dataclass's repr before a base's."""
        super().__init_subclass__(**options)
        cls._repr_pretty_ = Shown._repr_pretty_


def intervals(draws: Any) -> dict[str, float]:
    """Quantiles of draws under the names that every answer uses, as plain numbers."""
    import numpy as np

    values = np.quantile(np.asarray(draws), list(LEVELS.values()))
    return {name: float(v) for name, v in zip(LEVELS, values, strict=True)}


def render(item: Any, width: int = 110) -> str:
    """Plain text of anything that rich can print, without colours."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    # in a notebook rich would show it there in place of writing it, and in bold
    off = dict.fromkeys(("highlight", "force_jupyter", "force_terminal"), False)
    console = Console(file=out, width=width, no_color=True, **off)
    console.print(item)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).rstrip()


def frame(records: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """A tidy DataFrame of flat records."""
    import pandas as pd

    return pd.DataFrame.from_records(list(records))
