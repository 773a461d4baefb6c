"""Equations of a page: MathML from a law's LaTeX."""

import re
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING

from bayescale.errors import LawError
from bayescale.reporting.blocks import Equation

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from bayescale.law import Law

JOINING = ("=", "+", "-", r"\cdot", "^", "_")  # what follows these belongs to them
LONG = 60  # characters of LaTeX from which an equation is cut where lines may break


def equation(law: "Law") -> Equation:
    """The law's equation, in pieces between which lines may break; as text where LaTeX fails."""
    text = law.text()
    try:
        latex = law.latex()
        pieces = [latex] if len(latex) <= LONG else list(split(latex))
        return Equation([mathml(piece) for piece in pieces], text)
    except Exception:  # a user's own LaTeX: whatever its parser dislikes, the text is there
        return Equation([], text)


def mathml(latex: str) -> str:
    """LaTeX as a MathML element, all text in it escaped.

    The library's own serialiser takes escapes back, so that a name such as ``<script>`` in a
    law's LaTeX would become markup: the tree is written out here.
    """
    from xml.etree.ElementTree import tostring

    from latex2mathml.converter import convert_to_element

    tree = convert_to_element(latex, display="block")
    tree.set("display", "inline")
    tree.set("displaystyle", "true")
    _unescape(tree)
    return tostring(tree, encoding="unicode")


def _unescape(tree: "Element") -> None:
    """Turn entities, which the library writes as text, into the characters that they stand for."""
    for element in tree.iter():
        if element.text:
            element.text = unescape(element.text)
        for name, value in element.attrib.items():
            element.set(name, unescape(value))


_OPEN = re.compile(r"\\left(?![a-z])|[{(\[]")
_SHUT = re.compile(r"\\right(?![a-z])|[})\]]")
_TOKEN = re.compile(r"\\(?:left|right)(?:\\[{}|]|.)|\\[A-Za-z]+|\\.|.", re.DOTALL)


def split(latex: str) -> Iterator[str]:
    """Cut LaTeX before each +, - and dot, and behind each comma, that stands outside all brackets.

    Raises
    ------
    LawError
        Brackets don't match.
    """
    depth, piece = 0, ""
    for token in _TOKEN.findall(latex):
        joins = piece.rstrip().endswith(JOINING) or not piece.strip()
        if depth == 0 and token in ("+", "-", r"\cdot") and not joins:
            yield piece.strip()
            piece = ""
        if depth == 0 and token in (r"\quad", r"\qquad"):
            if piece.strip():
                yield piece.strip()
            piece = ""
            continue
        depth += bool(_OPEN.match(token)) - bool(_SHUT.match(token))
        piece += token
    if depth:
        raise LawError(f"the brackets of the equation {latex} don't match.")
    if piece.strip():
        yield piece.strip()
