"""Run the notebooks, tidy what they print, and check what is stored.

    python notebooks/execute.py                     # all of them, in place
    python notebooks/execute.py 03 05               # those whose names begin so
    python notebooks/execute.py --check             # only look at what is stored

BAYESCALE_DRAWS sets the draws a chain (1,000 by default), BAYESCALE_DATA the folder of public data
sets. A notebook that fails, or holds what it shouldn't, is not written.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LIMIT = 300_000  # bytes of a notebook, so that a web page shows it at once
COLOURS = 96  # of a picture: plots have few, and a palette halves the file
CELL_SECONDS = 1800
PLACES = re.compile(r"(?<![\w.])/(?:home|tmp|work|root|opt|usr|var|Users|mnt|private)/[\w.]")
QUIET = {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore:IProgress"}  # no progress in what is stored
LAST = "What is this answer worth?"


def notebooks(names: "list[str] | tuple[str, ...]" = ()) -> list[Path]:
    """The notebooks whose file names begin with one of ``names``; all of them by default."""
    found = sorted(HERE.glob("[0-9][0-9]-*.ipynb"))
    return [p for p in found if not names or p.name.startswith(tuple(names))]


def read(path: Path) -> Any:
    """A notebook from its file."""
    import nbformat

    return nbformat.read(path, as_version=4)


def run(notebook: Any, environment: Mapping[str, str] | None = None, manager: Any = None) -> None:
    """Run a notebook's cells, which then hold their outputs.

    Parameters
    ----------
    notebook : NotebookNode
    environment : mapping, optional
        Variables of the kernel's process; default: this one's.
    manager : KernelManager, optional
        A kernel that is running already, whose names are forgotten first: it has all imports
        and compiled functions of the notebooks before.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        A cell raised; the message has the cell and the error.
    """
    from nbclient import NotebookClient

    settings: dict[str, Any] = {"timeout": CELL_SECONDS, "record_timing": False}
    settings["resources"] = {"metadata": {"path": str(HERE)}}
    client = NotebookClient(notebook, km=manager, **settings)
    if manager is None:
        client.execute(env=kernel_environment(environment))
        return
    notebook.cells.insert(0, _forget())
    try:
        client.execute(cleanup_kc=False)
    finally:
        del notebook.cells[0]


def _forget() -> Any:
    from nbformat.v4 import new_code_cell

    return new_code_cell("%reset -f")


def kernel_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables of a kernel that draws its pictures into the notebook."""
    chosen = dict(os.environ if environment is None else environment)
    chosen.pop("MPLBACKEND", None)
    return chosen | QUIET


def tidy(notebook: Any) -> None:
    """Take out what says nothing of the answer, such as versions; make pictures small."""
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                data["image/png"] = _smaller(data["image/png"])
                data["text/plain"] = "a picture"
            if "text/markdown" in data:
                data.pop("text/plain", None)
            if "metadata" in output:
                output.metadata = {}


def _smaller(picture: str) -> str:
    """A PNG with a palette, in base64."""
    from base64 import b64decode, b64encode

    from PIL import Image

    image = Image.open(BytesIO(b64decode(picture))).convert("RGBA")
    flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    small = flat.quantize(COLOURS, dither=Image.Dither.NONE)
    out = BytesIO()
    small.save(out, format="PNG", optimize=True)
    return b64encode(out.getvalue()).decode() + "\n"


def problems(notebook: Any, size: int) -> Iterator[str]:
    """What a stored notebook shouldn't hold, one line each.

    Parameters
    ----------
    notebook : NotebookNode
    size : int
        Bytes of its file.
    """
    cells = notebook.cells
    if size > LIMIT:
        yield f"it has {size:,} bytes; at most {LIMIT:,} are allowed"
    if not cells[0].source.startswith("# ") or not _ends_asking(cells[0].source):
        yield "its first cell must be a title and end with the question"
    titles = [line for c in cells if c.cell_type == "markdown" for line in c.source.splitlines()
              if line.startswith("## ")]  # fmt: skip
    if not titles or titles[-1] != f"## {LAST}":
        yield f"its last section must be '## {LAST}'"
    for place, cell in enumerate(cells, 1):
        if cell.cell_type == "code":
            yield from (f"cell {place}: {line}" for line in _problems_of_cell(cell))


def _ends_asking(text: str) -> bool:
    return text.strip().rstrip("*_ ").endswith("?")


def _problems_of_cell(cell: Any) -> Iterator[str]:
    if cell.execution_count is None:
        yield "it was not run"
    if match := PLACES.search(cell.source):
        yield f"its code has an absolute path ({match.group()}…)"
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"it failed: {output.ename}: {output.evalue}"
        if output.output_type == "stream" and output.name == "stderr":
            yield f"it warned: {output.text.strip()[:200]}"
        data = output.get("data", {})
        shown = [output.get("text", ""), *(v for k, v in data.items() if k.startswith("text/"))]
        for text in shown:
            if match := PLACES.search(text):
                yield f"its output has an absolute path ({match.group()}…)"
            if "Traceback (most recent call last)" in text:
                yield "its output has a traceback"
            if "\x1b[" in text:
                yield "its output has codes for colours, which web pages show as they are"


def main(arguments: list[str] | None = None) -> int:
    """Run or check notebooks; the exit status is 1 where one is not as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="beginnings of file names; default: all")
    parser.add_argument("--check", action="store_true", help="run nothing")
    asked = parser.parse_args(arguments)
    failed = False
    for path in notebooks(asked.names):
        notebook = read(path)
        text = path.read_text(encoding="utf-8")
        if not asked.check:
            print(f"{path.name} …", flush=True)
            run(notebook)
            tidy(notebook)
            text = _text(notebook)
        found = list(problems(notebook, len(text.encode())))
        for line in found:
            print(f"{path.name}: {line}", file=sys.stderr)
        failed |= bool(found)
        if not found and not asked.check:
            path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {len(text.encode()):,} bytes, {'NOT ' * bool(found)}as it should be")
    return int(failed)


def _text(notebook: Any) -> str:
    import nbformat

    return nbformat.writes(notebook)


if __name__ == "__main__":
    sys.exit(main())
