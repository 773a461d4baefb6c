"""CLIP models on LAION: repeated image-text pairs, and learning curves (arXiv:2212.07143).

Run it: ``python -m benchmarks.laws.laion_openclip`` (BAYESCALE_DATA names the folder of data sets).

The response is the zero-shot error on ImageNet. Least squares with the repetition form has
R_D* of about 22 epochs and a SD of log error of .057 (SOURCE.md, N in parameters). ViT-B/16 and
B/32 have the same parameters and three times the computation, so computation a sample is tried as
N too. Learning curves fall, rest, and fall again as the learning rate goes to zero: breaks.
"""

import os
from pathlib import Path

import numpy as np

import bayescale as bs
from bayescale.data.public import load_dataset
from bayescale.laws.broken_power_law import broken_power_law
from bayescale.laws.repetition import repetition
from benchmarks.laws.reporting import errors, parts, say, say_errors

CURVES = Path(os.environ["BAYESCALE_DATA"]) / "laion_openclip" / "imagenet_learning_curves.csv"
RUNS = (
    "Model-B-32_Data-2B_Samples-34B_lr-1e-3_bs-79k",
    "Model-B-16_Data-80M_Samples-34B_lr-1e-3_bs-88k",
    "Model-L-14_Data-2B_Samples-34B_lr-1e-3_bs-86k",
)
EXPECTED = {
    "E": "",
    "alpha": ".88 (N in parameters)",
    "beta": ".94",
    "R_D_star": "about 22",
    "sigma": ".057 (N in parameters)",
}


def by_computation(runs: bs.Runs) -> bs.Runs:
    """The same runs with multiply-adds of a forward pass as N."""
    table = runs.table.drop(columns=["N", "C"])
    columns = {"N": "gmacs_per_sample", "D": "D", "U": "U", "loss": "loss"}
    return bs.read_runs(table, columns=columns, units={"N": 1e9})


def curve(name: str) -> bs.Runs:
    """Error along one training; D counts samples seen."""
    import pandas as pd

    table = pd.read_csv(CURVES).query("run_id == @name")
    table = table.assign(error=1 - table["acc1_imagenet1k"])
    return bs.read_runs(table, columns={"D": "samples_seen", "loss": "error"})


def repeated() -> None:
    """Print posteriors of the repetition law, and errors on the most repeated runs."""
    runs = load_dataset("openclip")
    found = {}
    for size, table in (("parameters", runs), ("computation", by_computation(runs))):
        for law in (repetition(False), repetition()):
            fit = bs.fit(law, table, seed=1, progress=False)
            print(f"\nN in {size}")
            say(fit, EXPECTED | ({"R_N_star": ""} if law.name == "repetition" else {}))
            many = table.column("D") > 100 * table.column("U")
            fitted, held = parts(table, many, "more than 100 epochs")
            found[f"{size}, {law.name}"] = errors(bs.fit(law, fitted, seed=1, progress=False), held)
    say_errors("runs of more than 100 epochs, predicted from fewer", found)


def curves() -> None:
    """Print how well power laws with 0 to 2 breaks describe three learning curves."""
    laws = {"no break": "power-law-D", "one break": "broken-power-law-D"}
    laws |= {"two breaks": broken_power_law("D", 2)}
    for name in RUNS:
        print(f"\n{name}")
        table = curve(name)
        for said, law in laws.items():
            fit = bs.fit(law, table, warmup=1000, seed=1, progress=False)
            loo = bs.check.loo(fit, by="row")
            mean = np.median(fit.predict(D=table.column("D")).loss, axis=0)
            spread = np.std(np.log(table.column("loss") / mean))
            places = [n for n in ("d_1", "d_2") if n in fit.summary.index]
            breaks = ", ".join(f"{fit.summary.loc[n, 'median']:.2g}" for n in places)
            print(
                f"  {said}: ELPD {loo.elpd:.1f}, SD of log error {spread:.3f}, breaks at "
                f"{breaks or '–'} samples; {fit.gate.headline().partition(' (')[0].lower()}",
                flush=True,
            )


if __name__ == "__main__":
    repeated()
    curves()
