"""Clark's and Abnar's laws on 158 routed and 5 dense runs (arXiv:2202.01169).

Run it: ``python -m benchmarks.laws.routing_moe`` (BAYESCALE_DATA names the folder of data sets).

Published values are Table 3 of the paper, taken from a secondary source; its c and d are for
logarithms to base 10. The paper's runs all saw 130 billion tokens, so Abnar's data term is open:
the gate must say so.
"""

import os
from pathlib import Path

import bayescale as bs
from bayescale.data.cost import active_params
from benchmarks.laws.reporting import errors, parts, say, say_errors

PUBLISHED = {  # a, b, c, d, E_start, E_max
    "S-Base": (-0.082, -0.108, 0.009, 1.104, 1.847, 314.478),
    "RL-R": (-0.083, -0.126, 0.012, 1.111, 1.880, 469.982),
    "Hash": (-0.087, -0.136, 0.012, 1.157, 4.175, 477.741),
}
NAMES = ("a_N", "b_E", "c_log10", "d_log10", "E_start", "E_max")
FILE = Path(os.environ["BAYESCALE_DATA"]) / "routing_moe" / "routing_moe.csv"
FINAL = "is_final == True and k == 1 and routing_frequency == 0.5 and seed == 42"
TOKENS_PER_STEP = 2**19  # about: 130 billion tokens in 250,000 steps


def routed(router: str) -> bs.Runs:
    """Final checkpoints of a router and the dense models; N is the dense size."""
    columns = {"N": "dense_parameter_count", "loss": "loss_validation", "experts": "num_experts"}
    columns |= {"C": "", "D": ""}
    return bs.read_runs(
        FILE, columns=columns, where=f"{FINAL} and router_type in ['Dense', '{router}']"
    )


def clark(router: str) -> None:
    """Posterior beside the published values; the most experts and the largest sizes held out."""
    runs = routed(router)
    fit = bs.fit("clark", runs)
    a, b, c, d, start, most = PUBLISHED[router]
    expected = dict(zip(NAMES, map(str, (a, b, c, d, start, most)), strict=True))
    draws = fit.tree.posterior
    cut_off = -draws["b_E"].to_numpy().ravel() / draws["c_log10"].to_numpy().ravel()
    published = {"S-Base": "937B", "RL-R": "85B", "Hash": "83B"}[router]
    expected |= {"alpha_dense": "0.078", "log10 N_cutoff": f"{published} (from its figures)"}
    say(fit, expected, {"log10 N_cutoff": cut_off})
    found = {}
    for label, held in {
        "256 and 512 experts": runs.column("experts") > 128,
        "1.3B dense size": runs.column("N") > 1e9,
    }.items():
        train, test = parts(runs, held, label)
        found[label] = errors(bs.fit("clark", train), test)
    say_errors(f"{router}: held out", found)


def abnar() -> None:
    """Abnar's law on the S-Base runs: N with all experts, C from the active parameters."""
    table = routed("S-Base").table
    table = table.assign(
        active=table["N"],
        N=table["total_parameter_count"],
        S=1 - table["k"] / table["experts"],
        D=TOKENS_PER_STEP * table["step"],
    )
    columns = {"N": "N", "D": "D", "loss": "loss", "C": "", "S": "S"}
    runs = bs.read_runs(table, columns=columns, cost=active_params("active"))
    fit = bs.fit("abnar", runs, draws=2000)
    published = {"E": "0.94", "A": "16612", "alpha": "0.596", "B": "5456", "beta": "0.395"}
    published |= {"c": "0.46", "lambda_S": "-0.167", "d": "17.3", "delta_S": "0.160"}
    published["gamma_N"] = "0.160"
    say(fit, {name: f"{value} (the paper's own runs)" for name, value in published.items()})
    found = {}
    for label, held in {
        "256 and 512 experts": runs.column("S") > 1 - 1 / 200,
        "1.3B dense size": runs.column("active") > 1e9,
    }.items():
        train, test = parts(runs, held, label)
        found[label] = errors(bs.fit("abnar", train, draws=2000), test)
    say_errors("Abnar on S-Base: held out", found)


if __name__ == "__main__":
    for router in PUBLISHED:
        clark(router)
    abnar()
