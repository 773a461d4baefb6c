"""Tables for decoupled laws: wide, long or by ratio; and those that make no sense."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.choosing import choose
from bayescale.errors import DataError
from bayescale.laws.decoupled import decoupled

BOTH = ("text", "multimodal")


def wide(ratios=(0.0, 0.1, 0.3)):
    """A few runs as a wide table with tokens of each objective."""
    rng = np.random.default_rng(0)
    rows = [
        {"N": n, "D_text": d, "D_multimodal": r * d, "loss_text": 2 + rng.random(),
         "loss_multimodal": 1 + rng.random() if r else np.nan}
        for n in (1e8, 1e9) for d in (1e10, 4e10) for r in ratios
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_wide_long_and_ratio_tables_give_the_same_law_and_rows():
    table = wide()
    law, runs = choose("decoupled", table, {})
    assert law is decoupled(centre=0.2, at=(0.1, 0.3), sources=BOTH)
    assert len(runs) == 12 + 8
    order = ["N", "D_text", "objective"]
    for other in (_long(table), _by_ratio(table)):
        again, found = choose("decoupled", other, {})
        assert again is law
        one, two = (x.table.sort_values([*order, "D_multimodal"]) for x in (runs, found))
        np.testing.assert_allclose(one["loss"], two["loss"])
        np.testing.assert_allclose(one["D_multimodal"], two["D_multimodal"], rtol=1e-12)


def _long(table):
    parts = [
        table.assign(objective=o, loss=table[f"loss_{o}"]).drop(
            columns=["loss_text", "loss_multimodal"]
        )
        for o in BOTH
    ]
    return pd.concat(parts).dropna(subset="loss")


def _by_ratio(table):
    r = table["D_multimodal"] / table["D_text"]
    return table.drop(columns=["D_text", "D_multimodal"]).assign(
        n_tokens=table["D_text"] * (1 + r), r=r
    )


def test_invariances_are_switched_in_the_shell_form_too():
    law, _ = choose("decoupled:varying=text+multimodal,varies=a+K", wide(), {})
    assert law.axes["varying"] == BOTH
    assert {"a_slope", "C_c_slope"} <= {p.name for p in law.params}
    assert "N_c_slope" not in {p.name for p in law.params}
    none, _ = choose("decoupled:varying=none", wide(), {})
    assert not none.signs
    assert choose("decoupled", wide().assign(N=1e9), {})[0].name == "decoupled-data"


@pytest.mark.parametrize(
    ("table", "law", "message"),
    [
        (wide((0.2,)), "decoupled", "ratio of 'multimodal' is 0.2 in every row .*add runs at"),
        (wide().assign(D_audio=0.0), "decoupled", "no run has any tokens of 'audio'"),
        (wide(), "decoupled:objectives=text+audio", "has no target 'audio'"),
        (wide().assign(loss_audio=1.5), "decoupled", "loss of 'audio' but no tokens of it"),
        (wide().assign(loss_multimodal=1.5), "decoupled",
         "holds the loss of 'multimodal' but D_multimodal is 0"),
        (_by_ratio(wide()).assign(loss_audio=1.5), "decoupled", "3 objectives, not 2"),
        (_by_ratio(wide()).assign(r=-0.1), "decoupled", "holds no ratio of at least 0"),
    ],
)  # fmt: skip
def test_tables_that_make_no_sense_are_named(table, law, message):
    with pytest.raises(DataError, match=message):
        bs.fit(law, table, progress=False)


def test_a_ratio_to_tokens_that_a_run_lacks_is_named():
    table = wide()
    table.loc[0, ["D_text", "loss_text"]] = [0.0, np.nan]
    table.loc[0, ["D_multimodal", "loss_multimodal"]] = [1e9, 1.5]
    with pytest.raises(DataError, match="'D_text' is 0 in row 1, and ratios are to it"):
        bs.fit("decoupled:composition=ratio", table, progress=False)
