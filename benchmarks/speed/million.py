"""A million simulated runs: does the fit end, in what time, in how much memory?

python -m benchmarks.speed.million [--rows 1000000] [--draws 100] [--warmup 100]
"""

import argparse
import resource
import sys
import time
from collections.abc import Sequence

import numpy as np

TRUTH = {"E": 1.82, "A": 480.0, "B": 2100.0, "alpha": 0.35, "beta": 0.37}
NOISE = {"sigma": 0.01, "nu": 4.0}


def simulate(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Runs over three decades of N and of D, with the noise that the fit assumes."""
    from bayescale.laws import get_law
    from bayescale.noise import Noise

    rng = np.random.default_rng(seed)
    inputs = {"N": 10 ** rng.uniform(7, 10, rows), "D": 10 ** rng.uniform(9, 12, rows)}
    mean = get_law("chinchilla").mean(**TRUTH, **inputs)
    return inputs | {"loss": Noise().draw(rng, mean, NOISE, {})}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.million")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    import pandas as pd

    import bayescale as bs

    runs = pd.DataFrame(simulate(args.rows, args.seed))
    begin = time.perf_counter()
    sizes = {"chains": args.chains, "draws": args.draws, "warmup": args.warmup}
    fit = bs.fit("chinchilla", runs, seed=args.seed, **sizes)
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    memory = used.ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    print(fit)
    print(f"truth: {TRUTH | NOISE}")
    print(
        f"{args.rows:,} rows: {wall:.1f} s for the fit, {used.ru_utime + used.ru_stime:.1f} CPU s "
        f"and {memory:.2f} GB at most for the whole process"
    )
    print("seconds by phase:", dict(fit.record["timings"]))


if __name__ == "__main__":
    main()
