"""Many fits of one law to simulated sweeps: fit_many, loops of fit, and loops of others.

python -m benchmarks.many [--fits 1000] [--rows 245] [--rival PYTHON] [--growth] [--json FILE]
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.many import growth, table
from benchmarks.many.contender import Outcome
from benchmarks.many.lineup import MANY, Size, lineup
from benchmarks.many.measure import Bench, Row, make_task
from benchmarks.many.sweeps import DESIGNS, simulate
from benchmarks.speed.million import NOISE, TRUTH
from benchmarks.speed.process import machine

WIDTH = 160  # columns of text that the widest table takes


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write the numbers if asked to."""
    args = _arguments(argv)
    size = Size(args.fits, args.rows, args.design, args.seed, args.quick)
    before = machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "sweeps.npz"
        simulate(size.fits, size.rows, size.design, size.seed).write(file)
        bench = Bench(make_task(file, args.chains, size.seed), folder, args.rival, _say)
        if args.growth:
            found: list[Any] = list(growth.run(bench, size))
        else:
            found = list(_run(bench, size, args.only))
    notes = _notes(args, before, machine())
    console = Console(width=max(WIDTH, Console().width), highlight=False)
    if args.growth:
        console.print(*growth.tables(found), *notes, sep="\n")
    else:
        console.print(table.measured(found, notes), table.targets(found))
    if args.json:
        about = {"options": vars(args) | {"json": str(args.json)}, "machine": before}
        args.json.write_text(json.dumps(about | {"rows": [asdict(f) for f in found]}))


def _run(bench: Bench, size: Size, only: Sequence[str]) -> Iterator[Row]:
    """Rows one by one; all are compared with fit_many, which always runs."""
    many = Outcome()
    for contender in lineup(size):
        if contender.name != MANY and only and contender.name not in only:
            continue
        row = bench.run(contender, many)
        if contender.name == MANY:
            many = row.outcome
            if many.missing:
                raise SystemExit(f"{MANY} failed: {many.missing}")
        yield row


def _notes(args: argparse.Namespace, before: dict[str, str], after: dict[str, str]) -> list[str]:
    truth = ", ".join(f"{k} {v:g}" for k, v in (TRUTH | NOISE).items())
    known = {k: v for k, v in before.items() if k != "load" and v != "not installed"}
    return [
        f"sweeps of {args.rows} rows, design {args.design}, {args.chains} chains; truth: {truth}; "
        f"sweep k has seed ({args.seed}, k)",
        "wall ms, CPU ms: of a fit; cores: CPU over wall; draws: a chain; gradients: a draw; "
        "x: times fit_many's; load: before the row",
        "start: wall / CPU s until the first fit is done (imports, compiling from empty caches or "
        "loading what a row above compiled); the other columns are of the fits after it",
        "all but fit_many fit one after another in one warm process; same draws: as many as "
        "fit_many kept on average, and its warm-up; nutpie: the fewest that do in all its fits",
        "ESS: smallest rank-normalised bulk or tail ESS over all scalar quantities of a fit",
        ", ".join(f"{k} {v}" for k, v in known.items()),
        f"load average before: {before['load']}; after: {after['load']}",
    ]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=245)
    parser.add_argument("--design", choices=DESIGNS, default=DESIGNS[0])
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a fifth of the slower fits")
    parser.add_argument("--rival", metavar="PYTHON", default=sys.executable,
                        help="a Python with nutpie, PyMC and simple-scaling-laws")  # fmt: skip
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows beside fit_many, by name")
    parser.add_argument("--growth", action="store_true", help="how the cost grows, instead")
    parser.add_argument("--json", type=Path, help="write all numbers here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
