"""The one command: every contender on the same runs, model and priors.

python -m benchmarks.speed.run [--data chinchilla-epoch] [--quick] [--json results.json]
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.speed import table
from benchmarks.speed.job import make_job
from benchmarks.speed.lineup import lineup
from benchmarks.speed.measure import Bench, Result
from benchmarks.speed.process import ProcessFailed, machine


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write the numbers if asked to."""
    args = _arguments(argv)
    repeats = 1 if args.quick else args.repeats
    before = machine()
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(args.data, Path(folder), args.chains, args.draws)
        results = list(_run(Bench(job, Path(folder), repeats, _say), args.only))
    after = machine()
    notes = [
        f"{args.data}, {args.chains} chains x {args.draws} draws, each tool's own warm-up; "
        f"medians of {repeats}",
        "whole processes, imports included; CPU = user + system seconds, "
        "steadier than wall seconds on a shared machine",
        ", ".join(f"{k} {v}" for k, v in before.items() if k != "load"),
        f"load average before: {before['load']}; after: {after['load']}",
    ]
    _show(results, notes)
    if args.json:
        record = {"results": [asdict(r) for r in results], "before": before, "after": after}
        args.json.write_text(json.dumps(record | {"job": asdict(job), "repeats": repeats}))


def _run(bench: Bench, only: Sequence[str]) -> Iterator[Result]:
    """Results one by one; a rival that fails is named and left out, bayescale must not fail."""
    for contender in lineup():
        if contender.name != table.OURS and only and contender.name not in only:
            continue
        try:
            yield bench.run(contender)
        except ProcessFailed as failure:
            if contender.name == table.OURS:
                raise
            _say(f"{contender.name} failed and is left out: {failure}")


def _show(results: Sequence[Result], notes: Sequence[str]) -> None:
    console = Console(width=max(150, Console().width), highlight=False)
    console.print(table.measured(results, notes), table.ratios(results), table.targets(results))
    for when, phases in results[0].phases.items():
        spent = ", ".join(f"{k} {v:.2f}" for k, v in phases.items())
        console.print(f"bayescale's wall seconds, {when}: {spent}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.run", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", default="chinchilla-epoch", help="data set name or file")
    parser.add_argument("--quick", action="store_true", help="one repeat")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rivals to run, by row name")
    parser.add_argument("--json", type=Path, help="write all numbers here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
