"""Pages that come from the package: laws, the interface, notebooks, measurements."""

import importlib
import inspect
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import bayescale as bs
from bayescale.law import Law
from bayescale.prior_table import prior_table
from bayescale.tables import Table

ROOT = Path(__file__).parent.parent
GENERATED = "generated"
GROUPS = {  # headings, and the homes of the names under them
    "Runs": ("bayescale.data",),
    "Fitting": ("bayescale.fit", "bayescale.inference", "bayescale.many", "bayescale.saving",
                "bayescale.choosing", "bayescale.reporting"),
    "Laws, noise, pooling": ("bayescale.law", "bayescale.laws", "bayescale.families",
                             "bayescale.noise", "bayescale.pooling", "bayescale.drift"),
    "Answers": ("bayescale.answers", "bayescale.check.comparison.stacked"),
    "Errors": ("bayescale.errors",),
}  # fmt: skip
MEASURED = {  # pages of measurements, and where they stand in the repository
    "extrapolation": "Intervals on larger runs",
    "calibration": "Calibration of laws",
    "curves": "Training curves",
}


def write(docs: Path) -> None:
    """Write all pages into ``docs/generated``, anew."""
    folder = docs / GENERATED
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _write_laws(folder / "laws")
    _write_api(folder / "api")
    _write_notebooks(folder / "notebooks")
    _write_measured(folder / "measured")


def _write_laws(folder: Path) -> None:
    folder.mkdir()
    laws = [*bs.LAWS.values(), *(family.example for family in bs.FAMILIES.values())]
    for law in laws:
        (folder / f"{law.name}.md").write_text(_law_page(law))
    head = "What `fit` takes: inputs, parameters with priors, one mean, a source."
    _index(folder, "Laws", head, [law.name for law in laws])


def _law_page(law: Law) -> str:
    """One law: equation, inputs, parameters and priors, what is reported beside them."""
    reads = Table(["input", "meaning", "unit"], [[i.name, i.meaning, i.unit] for i in law.inputs])
    derived = Table(["reported", "meaning"], [[d.name, d.meaning] for d in law.derived])
    parts = [
        f"# {law.name}",
        f"{law.title}. Response: {law.response} ({law.response_unit}).",
        f"$$\n{law.latex()}\n$$",
        f"Source: {law.reference}.",
        law.note,
        _markdown(reads),
        "## Parameters and default priors",
        _markdown(prior_table(law.params)),
        _markdown(derived) if law.derived else "",
        f"In a shell: `bayescale fit {law.name} RUNS -o fit.nc`.",
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _markdown(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    clean = [[str(c).replace("|", r"\|").replace("\n", " ") for c in line] for line in lines]
    notes = "".join(f"\n\n{note}" for note in table.notes)
    return "\n".join(f"| {' | '.join(line)} |" for line in clean) + notes


def _write_api(folder: Path) -> None:
    folder.mkdir()
    pages = []
    for title, prefixes in GROUPS.items():
        names = [n for n in bs.__all__ if _belongs(bs._HOME[n], prefixes)]
        pages.append(_api_page(folder, title, "bayescale", names))
    for title, module in (("Checks", "check"), ("Plots", "plot"), ("The zoo", "zoo")):
        home = getattr(bs, module)
        names = [n for n in home.__all__ if callable(getattr(home, n))]
        pages.append(_api_page(folder, title, f"bayescale.{module}", names))
    _index(folder, "Interface", "What `import bayescale as bs` gives.", pages)


def _belongs(home: str, prefixes: Iterable[str]) -> bool:
    every = (p for group in GROUPS.values() for p in group if home.startswith(p))
    best = max(every, key=len, default="")  # what is of no group stands in a module of its own
    return best in prefixes


def _api_page(folder: Path, title: str, module: str, names: Iterable[str]) -> str:
    """One page of functions and classes with their docstrings; its name."""
    home = importlib.import_module(module)
    lines = [title, "=" * len(title), ""]
    for name in names:
        thing = getattr(home, name)
        kind = "autoclass" if inspect.isclass(thing) else "autofunction"
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        lines += [f".. {kind}:: {module}.{name}"]
        lines += ["   :members:"] if kind == "autoclass" else []
        lines += [""]
    page = re.sub(r"\W+", "-", title.lower())
    (folder / f"{page}.rst").write_text("\n".join(lines))
    return page


def _write_notebooks(folder: Path) -> None:
    folder.mkdir()
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in found:
        shutil.copy(path, folder)
    _index(folder, "Notebooks", "Questions, answered on runs.", [path.stem for path in found])


def _write_measured(folder: Path) -> None:
    folder.mkdir()
    for name, title in MEASURED.items():
        text = (ROOT / "benchmarks" / name / "README.md").read_text()
        (folder / f"{name}.md").write_text(re.sub(r"^# .*", f"# {title}", text, count=1))
    _index(folder, "Measured", "What was measured, with the commands.", list(MEASURED))


def _index(folder: Path, title: str, head: str, pages: Iterable[str]) -> None:
    tree = "\n".join(["```{toctree}", ":maxdepth: 1", "", *pages, "```"])
    (folder / "index.md").write_text(f"# {title}\n\n{head}\n\n{tree}\n")
