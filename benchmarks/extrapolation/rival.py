"""simple-scaling-laws on the same splits: the caller's side, and the process it starts.

The process (this file run as a script) imports nothing of bayescale, so that it runs in an
environment of its own.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

NAME = "simple-scaling-laws"
SIZE, DATA, LOSS = "model_size__n_params", "dataset_size__n_tokens", "test_loss__val"


def find_python(asked: str | None) -> str | None:
    """The Python that has simple-scaling-laws: the one asked for, or that of its command."""
    from benchmarks.speed.process import program

    if asked:
        return asked
    command = program("scaling-laws")
    return str(Path(command).parent / "python") if command else None


def run(python: str, sweep: str, runs: Any, factor: float, folder: Path, seed: int) -> Any:
    """Fit and predict in a process of its own.

    Returns
    -------
    Record
        With the package's version as its note.
    """
    from bayescale.check.extrapolation.held import QUANTILES
    from bayescale.check.extrapolation.splits import make_splits
    from benchmarks.extrapolation.record import from_quantiles
    from benchmarks.speed.process import measure

    (split,) = make_splits(runs, f"compute:{factor:g}")
    table = {SIZE: runs.column("N"), DATA: runs.column("D"), LOSS: runs.column("loss")}
    job = {
        part: {name: values[mask].tolist() for name, values in table.items()}
        for part, mask in (("train", split.train), ("test", split.test))
    }
    path = folder / "job.json"
    path.write_text(json.dumps(job | {"quantiles": QUANTILES, "seed": seed}))
    _, printed = measure([python, __file__, str(path)], {})
    answer = json.loads(printed.splitlines()[-1])
    about = {"sweep": sweep, "model": NAME, "factor": factor}
    about |= {"n_train": int(split.train.sum()), "n_test": int(split.test.sum())}
    about |= {"note": answer["version"]}
    return from_quantiles(table[LOSS][split.test], answer["quantiles"], **about)


def main(path: str) -> None:
    """Fit with the package's defaults, predict a new run, print quantiles as JSON."""
    from importlib.metadata import version

    import polars as pl
    import simple_scaling_laws as ssl  # pyright: ignore[reportMissingImports]

    warnings.simplefilter("ignore")  # it says of each point that it lies beyond the data
    job = json.loads(Path(path).read_text())
    train = pl.DataFrame(job["train"]).with_row_index("training_run_id")
    train = train.with_columns(pl.col("training_run_id").cast(pl.String))
    model = ssl.fit(train, seed=job["seed"])
    names, levels = list(job["quantiles"]), list(job["quantiles"].values())
    points = pl.DataFrame({name: job["test"][name] for name in (SIZE, DATA)})
    predicted = model.predict(points, kind="new-run", quantiles=levels)
    columns = [c for c in predicted.columns if c.startswith(f"{LOSS}__")]
    found = {name: predicted[c].to_list() for name, c in zip(names, columns, strict=True)}
    print(json.dumps({"quantiles": found, "version": version("simple-scaling-laws")}))


if __name__ == "__main__":
    main(sys.argv[1])
