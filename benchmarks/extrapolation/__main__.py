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

from benchmarks.extrapolation import ours, rival, scales, sweeps, table
from benchmarks.extrapolation.kept import Kept
from benchmarks.extrapolation.record import Record
from benchmarks.speed.process import ProcessFailed, machine


def main(argv: Sequence[str] | None = None) -> None:
    """Hold out the larger runs of each sweep, score, print, and write the numbers if asked to."""
    args = _arguments(argv)
    runs = sweeps.load(args.sweeps)
    python = None if args.no_rival else rival.find_python(args.rival)
    if python is None:
        _say("simple-scaling-laws is left out: not found (--rival PYTHON names its Python)")
    kept = Kept(args.keep)
    records = [r for factor in args.factor for r in _run(args, runs, factor, python, kept)]
    for factor in args.factor:
        _print([r for r in records if r.factor == factor], factor, list(runs))
    if args.json:
        about = {"machine": machine(), "seed": args.seed, "draws": args.draws}
        rows = [asdict(r) for r in records]
        args.json.write_text(json.dumps(about | {"records": rows}))


def _run(
    args: argparse.Namespace, runs: dict[str, Any], factor: float, python: str | None, kept: Kept
) -> Iterator[Record]:
    asked = ours.Asked(
        tuple(args.laws), tuple(args.points), args.stack, args.inside, args.learn_scale, args.seed,
        args.draws,
    )  # fmt: skip
    for name, table_of in runs.items():
        _say(f"{name}, C <= C_max/{factor:g}")
        about = {"sweep": name, "factor": factor, "seed": args.seed}

        def fitted(name: str = name, table_of: Any = table_of) -> Iterator[Record]:
            return ours.run(name, table_of, factor, asked, sweeps.BY.get(name), args.workers)

        def theirs(name: str = name, table_of: Any = table_of) -> Iterator[Record]:
            with tempfile.TemporaryDirectory() as folder:
                yield rival.run(str(python), name, table_of, factor, Path(folder), args.seed)

        yield from kept.rows(about | asdict(asked), Record, fitted)
        if python is None:
            continue
        try:
            yield from kept.rows(about | {"model": rival.NAME}, Record, theirs)
        except ProcessFailed as failure:
            _say(f"{rival.NAME} failed on {name}: {failure}")


def _print(records: Sequence[Record], factor: float, names: Sequence[str]) -> None:
    """The tables of one factor."""
    print(f"\n## Fitted to C <= C_max/{factor:g}\n\n{_legend(records)}\n")
    extra = [r for r in records if table.is_extra(r)]
    main = [r for r in records if not table.is_extra(r)]
    picked, chosen = scales.learnt(records) if any(map(scales.scaled, records)) else ([], {})
    print(table.by_sweep(main, factor))
    groups = {"the sixteen": sweeps.sixteen(), "fresh": [d.name for d in sweeps.FRESH]}
    groups["all"] = list(sweeps.sweeps())
    for title, group in groups.items():
        some = [name for name in group if name in names]
        if some:
            print(f"\nMeans over {len(some)} sweeps ({title}), each counting once:\n")
            print(table.means([*main, *extra, *picked], factor, some))
    if chosen:
        told = ", ".join(f"{name} {centre:g}" for name, centre in chosen.items())
        print(f"\nCentre of the drift's scale that the other families choose: {told}.")


def _legend(records: Sequence[Record]) -> str:
    versions = sorted({r.note for r in records if r.model == rival.NAME})
    other = f" {rival.NAME} {', '.join(versions)}: its defaults, new-run quantiles."
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
    parser.add_argument("--laws", nargs="+", default=ours.LAWS, metavar="LAW")
    parser.add_argument("--points", nargs="*", default=("huber",), metavar="NAME")
    parser.add_argument("--stack", action="store_true", help="also mix by leave-one-out; slow")
    parser.add_argument("--inside", action="store_true", help="also mix and shift by reach")
    parser.add_argument("--learn-scale", action="store_true", help="leave one family out")
    parser.add_argument("--rival", metavar="PYTHON", help="a Python with simple-scaling-laws")
    parser.add_argument("--no-rival", action="store_true", help="bayescale alone")
    parser.add_argument("--draws", type=int, default=500, help="kept draws a chain, of four")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="results as they come; what is there is kept")
    parser.add_argument("--json", type=Path, help="write all numbers here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
