"""A report's sections as one HTML page that loads nothing from anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bayescale.reporting.blocks import Section

# nothing is fetched and nothing runs, whatever a table's labels say
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Page:
    """What stands on a page.

    Parameters
    ----------
    title : str
    facts : sequence of str
        The line below it.
    alarm : sequence of str
        Why the answers may not be used, in a box above all else; empty where they may.
    sections : sequence of Section
    footer : str
    """

    title: str
    facts: Sequence[str]
    alarm: Sequence[str]
    sections: Sequence[Section]
    footer: str


def coded(text: str) -> Any:
    """Text with what stands between backticks set as code, all of it escaped."""
    from markupsafe import Markup, escape

    parts = str(text).split("`")
    if len(parts) % 2 == 0:  # a lone backtick is itself
        return escape(text)
    pieces = [
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part)
        for k, part in enumerate(parts)
    ]
    return Markup("").join(pieces)


def render(page: Page) -> str:
    """The page as HTML, all text in it escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    folder = files("bayescale.reporting") / "templates"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coded"] = coded
    values: Mapping[str, Any] = {"page": page, "policy": POLICY}
    style = Markup(read("style.css"))  # our own file, and HTML leaves a style element's text alone
    return environment.get_template("page.html.j2").render(**values, style=style)
