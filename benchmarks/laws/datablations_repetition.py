"""What repeated tokens are worth: runs on C4 with 1 to 9,000 epochs (arXiv:2305.16264).

Run it: ``python -m benchmarks.laws.datablations_repetition`` (BAYESCALE_DATA names the folder of
data sets).

The paper finds R_D* = 15.4 and R_N* = 5.3 on C4 (182 runs, alpha and beta tied); a robust point fit
of the runs with at most 10 epochs gives 34.6 and 6.1 (SOURCE.md). Runs harmed by repetition (losses
up to 11) are outside the law.
"""

import bayescale as bs
from bayescale.data.overrepetition import harmed
from bayescale.data.public import load_dataset
from bayescale.laws.repetition import repetition
from benchmarks.laws.reporting import errors, parts, say, say_errors

EXPECTED = {
    "E": "2.00 (quick fit), 1.87 (paper)",
    "alpha": ".400, .353",
    "beta": ".385, .353",
    "R_D_star": "34.6, 15.4",
    "R_N_star": "6.1, 5.3",
    "N_opt_ratio": ", .051",
    "sigma": ".010 (robust SD of the quick fit)",
}


def main() -> None:
    """Print R_D* as more and more repeated runs are let in, and errors on fewer epochs."""
    runs = load_dataset("datablations-repetition")
    which = harmed(runs)
    epochs = runs.column("D") / runs.column("U")
    first, highest = epochs[which].min(), runs.column("loss")[which].max()
    print(f"harmed by repetition: {which.sum()} of {len(runs)} runs, from {first:.0f} epochs on, ")
    print(f"with losses up to {highest:.1f} where fewer epochs had 3.7")
    sound = runs.select(~which, "not harmed by repetition")
    chosen = {
        "up to 10 epochs": bs.read_runs(runs, where="D <= 10 * U"),
        "up to 40 epochs, not harmed": bs.read_runs(sound, where="D <= 40 * U"),
        "not harmed, however many epochs": sound,
        "all": runs,
    }
    for name, kept in chosen.items():
        print(f"\n{name}")
        say(bs.fit("repetition", kept, seed=1, progress=False), EXPECTED)
    few = chosen["up to 10 epochs"]
    fitted, held = parts(few, few.column("N") > 4e9, "the largest models, above 4B")
    laws = {"repetition": "repetition", "all parameters count": repetition(False)}
    laws["repeats as good as new"] = "chinchilla"
    found = {
        name: errors(bs.fit(law, fitted, seed=1, progress=False), held)
        for name, law in laws.items()
    }
    say_errors("models above 4B, predicted from smaller ones (up to 10 epochs)", found)


if __name__ == "__main__":
    main()
