"""Coverage and interval scores beyond the data, on real sweeps, as markdown.

python -m benchmarks.extrapolation [--factor 10 ...] [--sweeps NAME ...] [--rival PYTHON]
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.extrapolation import ours, rival, sweeps, table
from benchmarks.extrapolation.record import Record
from benchmarks.speed.process import ProcessFailed, machine


def main(argv: Sequence[str] | None = None) -> None:
    """Hold out the larger runs of each sweep, score, print, and write the numbers if asked to."""
    args = _arguments(argv)
    runs = sweeps.load(args.sweeps)
    python = None if args.no_rival else rival.find_python(args.rival)
    if python is None:
        _say("simple-scaling-laws is left out: not found (--rival PYTHON names its Python)")
    records, versions = [], set()
    for factor in args.factor:
        for record, version in _run(args, runs, factor, python):
            records.append(record)
            versions |= {version} - {None}
    for factor in args.factor:
        print(f"\n## Fitted to C <= C_max/{factor:g}\n\n{_legend(versions)}\n")
        print(table.by_sweep(records, factor))
        some = [name for name in sweeps.sixteen() if name in runs]
        print(f"\nMeans over {len(some)} of these sweeps, each counting once:\n")
        print(table.means(records, factor, some))
    if args.json:
        about = {"machine": machine(), "seed": args.seed, "draws": args.draws}
        rows = [asdict(r) for r in records]
        args.json.write_text(json.dumps(about | {"rival": sorted(versions), "records": rows}))


def _run(
    args: argparse.Namespace, runs: dict[str, Any], factor: float, python: str | None
) -> Iterator[tuple[Record, str | None]]:
    options = {"seed": args.seed, "draws": args.draws, "workers": args.workers}
    for name, table_of in runs.items():
        _say(f"{name}, C <= C_max/{factor:g}")
        options |= {"points": args.points, "progress": False}
        for record in ours.run(name, table_of, factor, by=sweeps.BY.get(name), **options):
            yield record, None
        if python is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield rival.run(python, name, table_of, factor, Path(folder), args.seed)
            except ProcessFailed as failure:
                _say(f"{rival.NAME} failed on {name}: {failure}")


def _legend(versions: set[str]) -> str:
    other = f" {rival.NAME} {', '.join(sorted(versions))}: its defaults, new-run quantiles."
    return (
        "Each cell: share of held-out runs inside 90% intervals of a new run / interval (Winkler) "
        "score of log loss at 90% / median width in log loss. * the fit failed its gate."
        + (other if versions else "")
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.extrapolation", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--factor", nargs="+", type=float, default=[10.0], metavar="X")
    parser.add_argument("--sweeps", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--points", nargs="*", default=(), metavar="NAME", help="huber, ...")
    parser.add_argument("--rival", metavar="PYTHON", help="a Python with simple-scaling-laws")
    parser.add_argument("--no-rival", action="store_true", help="bayescale alone")
    parser.add_argument("--draws", type=int, default=500, help="kept draws a chain, of four")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write all numbers here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
