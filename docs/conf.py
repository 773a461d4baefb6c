"""Sphinx: ``python -m sphinx -W docs build/docs`` (extra ``docs``); warnings are errors.

Pages of laws and of the interface are written by ``pages.py`` from the package itself, so that they
can't lag behind it; notebooks are shown as they were executed.
"""

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402

project = "bayescale"
copyright = "the authors of bayescale, MIT licence"  # noqa: A001
release = metadata.version("bayescale")
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_nb",
]
exclude_patterns = ["_build", "**/README.md"]
html_theme = "furo"
html_title = f"bayescale {release}"
html_static_path = ["overview.png"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"
suppress_warnings = ["myst.xref_missing", "mystnb.unknown_mime_type"]


def setup(app: object) -> None:
    """Write the pages that come from the package."""
    pages.write(HERE)
