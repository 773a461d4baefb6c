"""Row filters: "family == 'llama' and N > 1e9", in the query syntax of pandas."""

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.columns import listed
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

# Comparisons and arithmetic on columns; no calls, attributes or subscripts, so nothing of Python
# can be reached from an expression.
_ALLOWED = (
    ast.Expression,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.Invert,
    ast.USub,
    ast.UAdd,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Mod,
    ast.FloorDiv,
    ast.BitAnd,
    ast.BitOr,
    ast.Compare,
    ast.Eq,
    ast.NotEq,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.In,
    ast.NotIn,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.List,
    ast.Tuple,
)
_EXAMPLE = "for instance: family == 'llama' and N > 1e9"


def filter_rows(df: "pd.DataFrame", expression: str) -> np.ndarray:
    """Return the rows of a table for which an expression holds.

    Parameters
    ----------
    df
        The table.
    expression
        Comparisons of columns with numbers or quoted text, joined by and, or, not; names with
        spaces or punctuation in backticks: ``"`Model Size` > 1e9"``.

    Returns
    -------
    ndarray
        Boolean mask, one entry a row.

    Raises
    ------
    DataError
        Where the expression can't be understood, names an unknown column, or leaves no row.
    """
    names = [str(c) for c in df.columns]
    text, quoted = _take_backticks(expression)
    tree = _parse(text, expression)
    used: dict[str, str] = {}
    for node in ast.walk(tree):
        operator = getattr(node, "op", ast.Add())  # named by its whole expression in the message
        if not isinstance(node, _ALLOWED) or not isinstance(operator, _ALLOWED):
            raise DataError(
                f"where: '{expression}' holds '{ast.unparse(node)}', which isn't allowed: only "
                f"columns, numbers, quoted text, comparisons, + - * / %, and, or, not, in; "
                f"{_EXAMPLE}."
            )
        if isinstance(node, ast.Name):
            node.id = _resolve(quoted.get(node.id, node.id), names, used, expression)
    mask = _evaluate(df, tree, used, expression)
    if not mask.any():
        raise DataError(
            f"where: '{expression}' leaves none of {len(df)} rows.{_values_of(df, used)}"
        )
    return mask


def _take_backticks(expression: str) -> tuple[str, dict[str, str]]:
    """Replace names in backticks by plain identifiers."""
    quoted: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        identifier = f"_quoted_{len(quoted)}"
        quoted[identifier] = match[1]
        return identifier

    return re.sub(r"`([^`]+)`", replace, expression), quoted


def _parse(text: str, expression: str) -> ast.Expression:
    try:
        return _Powers().visit(ast.parse(text.strip(), mode="eval"))
    except OverflowError:
        raise DataError(f"where: '{expression}' holds a number too large; {_EXAMPLE}.") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        equals = " (compare with ==, not =)" if re.search(r"[^=!<>]=[^=]", text) else ""
        raise DataError(
            f"where: '{expression}' can't be understood{equals}; {_EXAMPLE}. Put names with "
            "spaces in `backticks` and text in quotes."
        ) from None


class _Powers(ast.NodeTransformer):
    """Turns 10**9 into a float, so that no power can grow without bound."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = (getattr(side, "value", None) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow) and type(left) in (int, float) and type(right) is int:
            return ast.Constant(float(left) ** right)  # type: ignore[arg-type]
        return node


def _resolve(name: str, names: Sequence[str], used: dict[str, str], expression: str) -> str:
    """Return the stand-in for a column, and remember it."""
    if name not in names:
        raise DataError(
            f"where: '{expression}' names '{name}', which is no column; there are "
            f"{listed(names)}.{nearest(name, list(names))} Text goes in quotes."
        )
    return used.setdefault(name, f"column_{len(used)}")


def _evaluate(
    df: "pd.DataFrame", tree: ast.Expression, used: dict[str, str], expression: str
) -> np.ndarray:
    frame = df[list(used)].set_axis(list(used.values()), axis=1)
    try:
        result = frame.eval(ast.unparse(tree), engine="python", parser="pandas")
        mask = np.asarray(result)
    except Exception as err:  # pandas raises many kinds; none of them is for the user
        text = str(err)
        for name, stand_in in used.items():
            text = text.replace(stand_in, name)
        reason = text.splitlines()[0] if text else type(err).__name__
        raise DataError(
            f"where: '{expression}' can't be evaluated ({reason}); does it compare text with "
            f"numbers? {_EXAMPLE}."
        ) from None
    if mask.shape != (len(df),) or (mask.dtype != bool and mask.dtype != object):
        raise DataError(
            f"where: '{expression}' is no comparison of a column; write {_EXAMPLE[14:]}."
        )
    if mask.dtype == object:
        mask = np.array([value is True or value is np.True_ for value in mask])
    return mask


def _values_of(df: "pd.DataFrame", used: dict[str, str]) -> str:
    """Say what the columns of an expression hold, since it fits no row."""
    from pandas.api.types import is_numeric_dtype

    parts = []
    for name in used:
        column = df[name].dropna()
        if is_numeric_dtype(column) and len(column):
            parts.append(f"{name} lies between {column.min():.4g} and {column.max():.4g}")
        else:
            parts.append(f"{name} holds {listed([str(v) for v in column.unique()], 6)}")
    return f" {'; '.join(parts)}." if parts else ""
