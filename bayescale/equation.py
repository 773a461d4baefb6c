"""Equations for people: LaTeX traced from a law's mean, and plain text from LaTeX."""

import re
from typing import TYPE_CHECKING

from bayescale.errors import LawError

if TYPE_CHECKING:
    from bayescale.law import Law

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "kappa": "κ",
    "lambda": "λ", "theta": "θ", "omega": "ω", "psi": "ψ", "sigma": "σ", "nu": "ν",
    "phi": "φ", "tau": "τ", "exp": "exp", "ln": "ln",
    "log": "log", "rho": "ρ", "epsilon": "ε", "cdot": "·", "sum": "Σ", "prod": "Π",
}  # fmt: skip
STAR = "\N{ASTERISK OPERATOR}"


def plain_text(latex: str) -> str:
    r"""Write simple LaTeX as plain text: ``\frac{A}{N^{\alpha}}`` as ``A/N^α``.

    Parameters
    ----------
    latex : str
        An equation made of fractions, powers, subscripts, brackets and Greek letters.

    Returns
    -------
    str
    """
    text = re.sub(r"\\(left|right|big|Big|bigl|bigr|,|;|!|quad)(?![A-Za-z])", "", latex)
    text = text.replace("^{*}", STAR)  # part of a name, not a product
    text = re.sub(r"\{(\s*)-\s+", r"{\1-", text)  # a sign, not a difference
    for name, letter in _GREEK.items():
        text = re.sub(rf"\\{name}(?![A-Za-z])", letter, text)
    text = re.sub(r"\\(?:mathrm|mathit|text)\{([^{}]*)\}", r"\1", text)
    before = ""
    while before != text:  # innermost braces first
        before = text
        text = re.sub(r"_\{([^{}]*)\}", lambda m: "_" + m[1].strip(), text)
        text = re.sub(r"\^\{([^{}]*)\}", lambda m: "^" + _bracket(m[1]), text)
        text = re.sub(
            r"\\frac\{([^{}]*)\}\{([^{}]*)\}",
            lambda m: f"{_bracket(m[1])}/{_bracket(m[2])}",
            text,
        )
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\b(ln|log|exp)\{([^{}]*)\}", _called, text)
        text = re.sub(r"\{\(([^{}]*)\)\}", r"(\1)", text)  # SymPy's \log{\left(x \right)}
    text = re.sub(r"\\([a-z]+)(?=\()", r"\1", text)  # \tanh and other functions
    text = re.sub(r"\s+", " ", text).replace(" )", ")").replace("( ", "(").strip()
    return text.replace(STAR, "*")


def _bracket(part: str) -> str:
    part = part.strip()
    sign = part.startswith("-") and not re.search(r"[\s+*/]", part[1:])
    return part if sign or not re.search(r"[\s+*/-]", part) else f"({part})"


def _called(match: re.Match[str]) -> str:
    """A function of what stands in braces, which may be one bracket already."""
    inside = match[2].strip()
    whole = inside.startswith("(") and inside.find(")") == len(inside) - 1
    return f"{match[1]}{inside}" if whole else f"{match[1]}({inside})"


def traced_latex(law: "Law") -> str:
    """Equation of a law without a declared one, from calling its mean with SymPy symbols.

    Raises
    ------
    LawError
        SymPy is not installed, or the mean uses functions that can't be traced.
    """
    try:
        import sympy
    except ModuleNotFoundError:
        raise LawError(
            f"law '{law.name}' declares no equation, and tracing its mean needs SymPy: "
            "declare equation= or install sympy."
        ) from None
    symbols = {p.name: sympy.Symbol(p.latex or p.name, positive=True) for p in law.params}
    symbols |= {i.name: sympy.Symbol(i.name, positive=True) for i in law.inputs}
    try:
        return f"{law.response} = {sympy.latex(law.mean(**symbols))}"
    except Exception as problem:
        raise LawError(
            f"law '{law.name}': its mean can't be traced with symbols ({problem}); "
            "declare equation= instead."
        ) from None
