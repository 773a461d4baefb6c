"""What a report's sections are made of: plain values, which the page's template lays out.

All text in them is plain: the template escapes it, so that a label in someone's table stays a
label. Only `Equation.markup` is markup, and `bayescale.reporting.maths` makes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from bayescale.tables import Table

Tone = Literal["plain", "lead", "doubt", "note", "good", "bad"]


@dataclass(frozen=True)
class Words:
    """A paragraph; ``heading`` is set above it."""

    text: str
    tone: Tone = "plain"
    kind: ClassVar[str] = "words"


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Bullets:
    """Several lines that belong together."""

    items: Sequence[str]
    tone: Tone = "plain"
    kind: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class Facts:
    """Names with a value each."""

    pairs: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Grid:
    """A table: the first cell of a row names the row.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str
    caption : str
        What the table shows.
    words : sequence of str
        Columns of words, which are set to the left and may wrap.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    words: Sequence[str] = ()
    kind: ClassVar[str] = "grid"


@dataclass(frozen=True)
class Picture:
    """A picture inside the page.

    Parameters
    ----------
    uri : str
        The picture itself, as a data URI.
    alt : str
        What it shows, for those who can't see it.
    caption : str
    width, height : int
        Natural size in CSS pixels.
    """

    uri: str
    alt: str
    caption: str
    width: int
    height: int


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side where there is room."""

    items: Sequence[Picture]
    kind: ClassVar[str] = "pictures"


@dataclass(frozen=True)
class Equation:
    """An equation.

    Parameters
    ----------
    markup : sequence of str
        MathML, a piece for each part between which a line may break.
    text : str
        The same in plain text.
    """

    markup: Sequence[str]
    text: str
    kind: ClassVar[str] = "equation"


@dataclass(frozen=True)
class Code:
    """Lines to type."""

    lines: Sequence[str]
    kind: ClassVar[str] = "code"


@dataclass(frozen=True)
class Bars:
    """Shares of a whole, a bar for each row.

    Parameters
    ----------
    names : sequence of str
        What the whole is made of.
    rows : sequence of (str, sequence of float)
        A label, and the share of each name.
    caption : str
    colours : sequence of int
        Number of each name's colour.
    """

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]
    caption: str
    colours: Sequence[int] = (1, 2, 3)
    kind: ClassVar[str] = "bars"


Block = Words | Heading | Bullets | Facts | Grid | Pictures | Equation | Code | Bars


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Parameters
    ----------
    name : str
        Anchor in the page.
    title : str
    blocks : sequence of Block
    failed : str
        Why it could not be made; empty where it could.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    failed: str = ""


def grid_of(
    table: "Table",
    caption: str = "",
    first: str = "",
    rename: Sequence[tuple[str, str]] = (),
) -> Grid:
    """An answer's table as a block, without its title, warnings and notes.

    Parameters
    ----------
    table : Table
    caption : str
        What it shows; default: the table's title.
    first : str
        Heading of the first column, where it has none.
    rename : sequence of (str, str)
        Other headings: the answer's, and the page's.
    """
    names = dict(rename)
    columns = [names.get(c, c) or (first if k == 0 else "") for k, c in enumerate(table.columns)]
    words = [new for new, old in zip(columns, table.columns, strict=True) if old in table.text]
    return Grid(columns, table.rows, caption or table.title, words)


def joined_columns(grid: Grid, pairs: Iterable[str]) -> Grid:
    """The grid with each column of 90% intervals put into the cell of the column before it.

    Parameters
    ----------
    grid : Grid
    pairs : iterable of str
        Headings of columns that have their interval in the column behind.
    """
    joined, columns = set(pairs), list(grid.columns)
    behind = {k + 1 for k, name in enumerate(columns) if name in joined}
    rows = [
        [
            f"{cell} ({row[k + 1]})" if k + 1 in behind else cell
            for k, cell in enumerate(row)
            if k not in behind
        ]
        for row in grid.rows
    ]
    heads = [
        f"{name} (90%)" if k + 1 in behind else name
        for k, name in enumerate(columns)
        if k not in behind
    ]
    return Grid(heads, rows, grid.caption, [w for w in grid.words if w in heads])
