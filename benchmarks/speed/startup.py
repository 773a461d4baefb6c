"""What it costs to ask: CPU time of whole new processes, as ratios.

``python -m benchmarks.speed.startup [REPEATS]``: answers from a shipped fit and the help, beside
``import jax`` and ``import numpy, pandas``. Each is run in turn, and the medians are compared, so
that a busy machine slows both sides.
"""

import sys
from statistics import median

from bayescale.tables import Table, render
from benchmarks.speed.process import machine, measure, program

MODEL = "chinchilla-epoch2024"
ASKED = {
    "predict": ["predict", MODEL, "--N", "70B", "--D", "1.4T"],
    "allocate": ["allocate", MODEL, "--C", "5.76e23"],
    "help": ["--help"],
}
IMPORTS = {"import jax": "import jax", "import numpy, pandas": "import numpy, pandas"}
PAIRS = (
    ("predict", "import jax"),
    ("allocate", "import jax"),
    ("help", "import numpy, pandas"),
)
KEPT = ("predict", "help")  # what must cost less; an allocation optimises, and imports SciPy for it


def seconds(repeats: int) -> dict[str, float]:
    """Median CPU seconds, user and system, of each process."""
    shell = program("bayescale")
    assert shell is not None, "install bayescale first"
    commands = {name: [shell, *args] for name, args in ASKED.items()}
    commands |= {name: [sys.executable, "-c", code] for name, code in IMPORTS.items()}
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, command in commands.items():
            found[name].append(measure(command, {})[0].cpu)
    return {name: median(times[1:]) for name, times in found.items()}  # the first warms the disk


def main() -> None:
    """Print times and ratios; exit with 1 where one that is kept cheap costs more."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    spent = seconds(repeats)
    rows = [
        [f"bayescale {mine}", f"{spent[mine]:.2f}", theirs, f"{spent[theirs]:.2f}",
         f"{spent[mine] / spent[theirs]:.2f}"]
        for mine, theirs in PAIRS
    ]  # fmt: skip
    columns = ["", "CPU s", "beside", "CPU s ", "ratio"]
    told = ", ".join(f"{k} {v}" for k, v in machine().items() if k in ("cores", "load", "python"))
    title = f"whole processes, median of {repeats}"
    print(render(Table(columns, rows, title, notes=[told], text=["", "beside"]), 100))
    if any(spent[mine] >= spent[theirs] for mine, theirs in PAIRS if mine in KEPT):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
