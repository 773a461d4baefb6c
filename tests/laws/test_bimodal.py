"""The bimodal law: its two limits, its equation, tables, and recovery of published exponents."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.choosing import choose, rebuild
from bayescale.data.simulate import simulate
from bayescale.errors import DataError, LawError
from bayescale.laws import CHINCHILLA
from bayescale.laws.bimodal import bimodal
from bayescale.noise import log_normal

# arXiv:2301.03728, Table 3: exponents of single modalities
ALPHA = {"text": 0.18, "speech": 0.31, "image": 0.13, "code": 0.37}
BETA = {"text": 0.22, "speech": 0.24, "image": 0.13, "code": 0.32}
CENTRE = {"N": 5e8, "D": 1.4e10}


def truth_of(modalities):
    """Published exponents; stand-ins for what isn't published, in nats at the centre."""
    return {
        "E": {"text": 1.8, "speech": 2.0, "image": 2.4, "code": 0.8},
        "alpha": ALPHA,
        "beta": BETA,
        "A": {m: 0.5 * CENTRE["N"] ** ALPHA[m] for m in modalities},
        "B": {m: 0.4 * CENTRE["D"] ** BETA[m] for m in modalities},
        "C_pair": 0.08,
        "A_pair": 0.05 * CENTRE["N"] ** 0.3,
        "B_pair": 0.04 * CENTRE["D"] ** 0.25,
        "alpha_pair": 0.3,
        "beta_pair": 0.25,
        "sigma": 0.002,
    }


def test_runs_on_one_modality_are_chinchillas():
    law = bimodal()
    table = simulate(law, truth_of(("text", "speech")) | {"sigma": 1e-12}, law.design(),
                     noise=log_normal())  # fmt: skip
    known = truth_of(("text", "speech"))
    for m in ("text", "speech"):
        own = table[table["target"] == m]
        p = {name: known[name][m] for name in ("E", "A", "B", "alpha", "beta")}
        expected = CHINCHILLA.mean(**p, N=own["N"].to_numpy(), D=own[f"D_{m}"].to_numpy())
        np.testing.assert_allclose(own["loss"], expected, rtol=1e-9)


def test_runs_on_two_are_the_mean_of_theirs_less_the_gain_plus_the_costs():
    names = ("text", "speech", "image")
    law = bimodal(names, (("text", "image"), ("text", "speech")))
    known = truth_of(names) | {"C_pair": {"text+image": 0.1, "text+speech": -0.03}, "sigma": 1e-12}
    inputs = {"N": 1e9, "D_text": 3e9, "D_speech": 0.0, "D_image": 5e9, "target": "text+image"}
    found = float(simulate(law, known, inputs, noise=log_normal())["loss"].iloc[0])
    alone = [
        known["E"][m] + known["A"][m] * 1e9 ** -ALPHA[m] + known["B"][m] * d ** -BETA[m]
        for m, d in (("text", 3e9), ("image", 5e9))
    ]
    cost = known["A_pair"] * 1e9**-0.3 + known["B_pair"] * 8e9**-0.25
    assert found == pytest.approx(np.mean(alone) - 0.1 + cost, rel=1e-9)


def test_pairs_of_what_is_not_there_are_named():
    with pytest.raises(LawError, match=r"the pair \('text', 'video'\) is not two of text, speech"):
        bimodal(("text", "speech"), (("text", "video"),))
    with pytest.raises(LawError, match="is not two of"):
        bimodal(("text", "speech"), (("text", "text"),))


@pytest.fixture(scope="module")
def table():
    law = bimodal()
    runs = simulate(law, truth_of(("text", "speech")), law.design(), noise=log_normal(), seed=4)
    return runs.drop(columns="target")


def test_modalities_and_pairs_are_read_off_the_tokens(table):
    law, runs = choose("bimodal", table, {})
    assert law is bimodal()
    assert rebuild(law.recipe) is law
    assert runs.table["target"].value_counts().to_dict() == {
        "text": 30, "speech": 30, "text+speech": 30,
    }  # fmt: skip
    renamed = table.rename(columns={"D_text": "text_tokens", "D_speech": "speech_tokens"})
    assert choose("bimodal", renamed, {})[0] is law


def broken(table, change):
    table = table.assign(D_image=0.0)
    both = (table["D_text"] > 0) & (table["D_speech"] > 0)
    if change == "three":
        table.loc[both.idxmax(), "D_image"] = 1e9
    if change == "none":
        table.loc[3, ["D_text", "D_speech"]] = 0.0
    if change == "never alone":
        table = table[both | (table["D_text"] > 0)].drop(columns="D_image")
    if change == "no pair":
        table = table[~both].drop(columns="D_image")
    return table.reset_index(drop=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("three", "row 3 has tokens of 3 modalities"),
        ("none", "row 4 has tokens of 0 modalities"),
        ("zero", "no run on 'image' alone"),
        ("never alone", "no run on 'speech' alone"),
        ("no pair", "no run on two of text, speech; fit each modality apart"),
    ],
)
def test_tables_that_say_nothing_of_a_pair_are_named(table, change, message):
    with pytest.raises(DataError, match=message):
        bs.fit("bimodal", broken(table, change), progress=False)


def test_a_target_beside_other_tokens_is_named(table):
    runs = choose("bimodal", table, {})[1].table
    runs.loc[0, "target"] = "speech"
    with pytest.raises(DataError, match="row 1 is of 'speech' but has 2e"):
        bs.fit(bimodal(), runs, progress=False)


def test_the_published_exponents_are_recovered(table):
    fit = bs.fit("bimodal", table, noise=log_normal(), progress=False)
    assert fit.converged, fit.gate.headline()
    assert fit.record["gradients_per_draw"] < 30
    known = truth_of(("text", "speech"))
    for name in ("alpha", "beta", "E"):
        for place, m in enumerate(("text", "speech")):
            low, high = np.quantile(fit.draws(name)[:, place], [0.005, 0.995])
            assert low < known[name][m] < high, (name, m)
    low, high = np.quantile(fit.draws("C_pair"), [0.005, 0.995])
    assert low < 0.08 < high
