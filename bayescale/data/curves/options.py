"""How a table of training curves is cleaned, as one frozen value."""

from dataclasses import dataclass

from bayescale.data.messages import short
from bayescale.data.quantity import parse_quantity
from bayescale.errors import DataError


@dataclass(frozen=True)
class Curves:
    """How checkpoints of training runs are cleaned, in this order; done by ``read_runs``.

    Parameters
    ----------
    run : str or tuple of str
        Column that names the training run, or several that do so together; ``*`` stands for any
        text, so ``("weight_*", "model_size")`` are all columns of weights and the size. Where
        they are several, a column ``run`` is added (``curve`` where that name is taken).
    drop_before : float or str, optional
        Leave out the first checkpoints: those with fewer tokens than this number, or, as
        ``"step=1000"``, with a smaller value of that column. Warm-up follows no scaling law.
    smooth : int, optional
        Width of a centred rolling mean of the loss along each run, an odd number of checkpoints.
        Windows narrow towards both ends of a run, so that a run's last loss isn't pulled up
        towards earlier ones. Neighbours then share their scatter.
    last : bool
        Keep only the last checkpoint of each run.
    thin : int, optional
        Keep at most so many checkpoints of each run, first and last included, as evenly spaced
        in log tokens as there are.
    smoothed : tuple of str
        Columns that are smoothed, with ``*`` as above: the loss, or in a table with a column a
        domain ``("*_loss",)``.

    Raises
    ------
    DataError
        An option is out of range, or two say opposite things.

    Examples
    --------
    >>> Curves(run="run_id", drop_before="step=1000", smooth=5)
    """

    run: str | tuple[str, ...]
    drop_before: float | str | None = None
    smooth: int | None = None
    last: bool = False
    thin: int | None = None
    smoothed: tuple[str, ...] = ("loss",)

    def __post_init__(self) -> None:
        for name in ("run", "smoothed"):
            given = getattr(self, name)
            names = given if isinstance(given, tuple | list) else (given,)
            if not names or not all(isinstance(n, str) and n for n in names):
                raise DataError(
                    f"curves: {name} is {given!r}; expected the name of a column, or several."
                )
            object.__setattr__(self, name, tuple(names))
        self._check_whole("smooth", 3, "an odd whole number of at least 3")
        self._check_whole("thin", 2, "a whole number of at least 2")
        if self.smooth is not None and self.smooth % 2 == 0:
            raise DataError(
                f"curves: smooth is {self.smooth}; a centred window is an odd number of "
                f"checkpoints: {self.smooth + 1}."
            )
        if self.last and self.thin is not None:
            raise DataError("curves: last keeps one checkpoint of a run, so thin says nothing.")
        if self.drop_before is not None:
            self.start()  # refuses what can't be read

    def _check_whole(self, name: str, least: int, expected: str) -> None:
        value = getattr(self, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and value >= least):
            raise DataError(f"curves: {name} is {value!r}; expected {expected}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns (or patterns) that together name the run."""
        return tuple(self.run)

    def start(self) -> tuple[str, float]:
        """Column and least value of the checkpoints that stay.

        Raises
        ------
        DataError
            ``drop_before`` is no number above zero, nor ``column=number``.
        """
        column, sign, text = str(self.drop_before).rpartition("=")
        column = column.strip() if sign else "D"
        try:
            value = parse_quantity(text if sign else text or "", "drop_before")
        except DataError:
            value = -1.0
        if not column or not value > 0:
            raise DataError(
                f"curves: drop_before is {self.drop_before!r}; expected a number of tokens, or "
                "'column=number' such as 'step=1000'."
            )
        return column, value

    def describe_start(self) -> str:
        """What ``drop_before`` drops: "step below 1000"."""
        column, value = self.start()
        return f"{'tokens' if column == 'D' else column} below {short(value)}"
