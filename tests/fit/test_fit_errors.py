"""What `fit` refuses, in one line that says what to do; nothing is compiled for it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import priors
from bayescale.errors import BayescaleError, DataError, FitError, LawError
from bayescale.inference import cache


@pytest.fixture(autouse=True)
def nothing_compiles(monkeypatch):
    """Whatever is wrong is said before anything is compiled."""

    def refuse(*_):
        raise AssertionError("compiled something before looking at the input")

    monkeypatch.setattr(cache, "_places", refuse)


SETTINGS = {
    "one chain": ({"chains": 1}, "chains is 1; expected a whole number of at least 2"),
    "no draws": ({"draws": 0}, "draws is 0; expected a whole number of at least 10"),
    "half a draw": ({"draws": 100.5}, "draws is 100.5"),
    "words": ({"warmup": "many"}, "warmup is 'many'"),
    "no warmup": ({"warmup": 0}, "warmup is 0; expected .* at least 20"),
    "acceptance of 1": ({"target_accept": 1.0}, "target_accept is 1.0; expected a number between"),
    "acceptance of 0": ({"target_accept": 0.0}, "target_accept is 0.0"),
    "acceptance in words": ({"target_accept": "high"}, "target_accept is 'high'"),
    "no trees": ({"max_tree_depth": 0}, "max_tree_depth is 0"),
    "no such device": ({"device": "abacus"}, "no JAX device 'abacus' here; available: .*cpu"),
    "negative seed": ({"seed": -3}, "seed is -3"),
}


@pytest.mark.parametrize(("options", "message"), SETTINGS.values(), ids=SETTINGS.keys())
def test_settings(table, options, message):
    with pytest.raises(FitError, match=message) as caught:
        bs.fit("chinchilla", table, **options)
    assert "\n" not in str(caught.value)


DECLARATIONS = {
    "unknown law": (("chinchila",), {}, "Did you mean 'chinchilla'"),
    "unknown parameter": (("chinchilla",), {"priors": {"betta": priors.Beta(1, 1)}}, "'beta'"),
    "prior of the noise": (("chinchilla",), {"priors": {"sigma": priors.Normal(0, 1)}}, "sigma"),
    "wrong support": (("chinchilla",), {"priors": {"E": priors.Normal(0, 1)}}, "positive"),
    "no prior": (("chinchilla",), {"priors": {"E": 1.8}}, "expected a prior"),
    "priors in a list": (("chinchilla",), {"priors": [1]}, "expected a mapping"),
    "noise in words": (("chinchilla",), {"noise": "student_t"}, "noise is 'student_t'; expected"),
    "pooling in words": (("chinchilla",), {"pooling": "family"}, "pooling is 'family'; expected"),
    "pooling of nothing": (("chinchilla",), {"pooling": {"q": bs.partial("family")}}, "names 'q'"),
}


@pytest.mark.parametrize(("law", "options", "message"), DECLARATIONS.values(), ids=DECLARATIONS)
def test_declarations(table, law, options, message):
    with pytest.raises(LawError, match=message):
        bs.fit(*law, table, **options)


COLUMNS = {
    "no loss": (lambda t: t.drop(columns="loss"), {}, "loss"),
    "no grouping column": (lambda t: t, {"pooling": {"E": bs.partial("corpus")}}, "'corpus'"),
    "no column of errors": (lambda t: t, {"noise": bs.student_t(known_sd="sd")}, "'sd'"),
    "no column of runs": (lambda t: t, {"noise": bs.student_t(runs="run_id")}, "'run_id'"),
    "no column of noise": (lambda t: t, {"noise": bs.student_t(varies_with="batch")}, "'batch'"),
    "a group without a name": (
        lambda t: t.assign(family=t["family"].where(t["family"] != "y")),
        {"pooling": {"E": bs.partial("family")}},
        "column 'family' names no group in row 2; fill it or drop the row",
    ),
    "two runs": (lambda t: t.head(2), {}, "has 2 runs; law 'chinchilla' has 5 shared parameters"),
    "four runs": (lambda t: t.head(4), {}, "has 4 runs"),
    "errors in words": (
        lambda t: t.assign(sd="small"),
        {"noise": bs.student_t(known_sd="sd")},
        "column 'sd'.* row 1",
    ),
    "an error of zero": (
        lambda t: t.assign(sd=[0.01, 0.0] * 75),
        {"noise": bs.log_normal(known_sd="sd", sigma=None)},
        "column 'sd' .* row 2",
    ),
    "an error that is missing": (
        lambda t: t.assign(sd=[0.01, 0.02, np.nan] * 50),
        {"noise": bs.student_t(known_sd="sd")},
        "column 'sd' .* row 3",
    ),
    "a negative error": (
        lambda t: t.assign(sd=[-0.01] * 150),
        {"noise": bs.student_t(known_sd="sd")},
        "column 'sd' .* row 1",
    ),
    "noise with a negative column": (
        lambda t: t.assign(batch=-1.0),
        {"noise": bs.student_t(varies_with="batch")},
        "column 'batch' .* row 1",
    ),
    "a group named as an axis": (
        lambda t: t.rename(columns={"family": "draw"}),
        {"pooling": {"E": bs.partial("draw")}},
        "grouping column 'draw' is the name of an axis",
    ),
    "a group with a slash": (
        lambda t: t.rename(columns={"family": "a/b"}),
        {"pooling": {"E": bs.partial("a/b")}},
        "grouping column 'a/b' holds a slash",
    ),
}


@pytest.mark.parametrize(("change", "options", "message"), COLUMNS.values(), ids=COLUMNS)
def test_columns(table, change, options, message):
    with pytest.raises(DataError, match=message) as caught:
        bs.fit("chinchilla", change(table), **options)
    assert "\n" not in str(caught.value)


OWN_COLUMNS = {
    "missing": (lambda t: t.drop(columns="width"), "'width'"),
    "words": (lambda t: t.assign(width="broad"), "column 'width' .* row 1"),
    "zero": (lambda t: t.assign(width=0.0), "column 'width' .* row 1"),
    "negative": (lambda t: t.assign(width=t["width"] - 2), "column 'width' .* row"),
    "a gap": (lambda t: t.assign(width=[1.0, np.nan] * 20), "column 'width' .* row 2"),
    "infinite": (lambda t: t.assign(width=[1.0, 2.0, 3.0, np.inf] * 10), "column 'width' .* row 4"),
}


@pytest.mark.parametrize(("change", "message"), OWN_COLUMNS.values(), ids=OWN_COLUMNS)
def test_columns_of_an_own_law(own_law, own_table, change, message):
    """Inputs that the reader knows nothing of are checked like N and D."""
    with pytest.raises(DataError, match=message):
        bs.fit(own_law, change(own_table))


def test_an_input_that_may_be_negative(own_table):
    """Declared with positive=False, it may; its reference is the mean."""
    from bayescale.inference.batch import make_batch, make_layout
    from bayescale.inference.model import Model

    law = bs.Law(
        "slope",
        (bs.Input("width", positive=False),),
        (bs.Param("E", priors.LogNormal(2, 1)), bs.Param("s", priors.Normal(0, 1))),
        mean=lambda E, s, width: E + s * width,
    )
    runs = bs.read_runs(own_table.assign(width=own_table["width"] - 2))
    layout = make_layout(Model(law), runs)
    assert layout.refs["width_ref"] == pytest.approx(runs.column("width").mean())
    assert np.all(np.isfinite(make_batch(Model(law), runs, layout)["inputs"]["width"]))


def test_whole_numbers_and_truth_values_as_inputs(own_law, own_table):
    from bayescale.inference.batch import make_batch, make_layout
    from bayescale.inference.model import Model

    runs = bs.read_runs(own_table.assign(width=np.arange(1, 41)))
    model = Model(own_law)
    batch = make_batch(model, runs, make_layout(model, runs))
    assert batch["inputs"]["width"].dtype == np.float64


@pytest.mark.parametrize("runs", [None, 3, "no-such-file.csv", {"N": [1]}])
def test_runs_that_are_none(runs):
    with pytest.raises(BayescaleError):
        bs.fit("chinchilla", runs)


def test_a_table_is_read_from_where_it_lies(table, tmp_path: Path):
    """Path, text and table all reach the same check, each under its own name."""
    path = tmp_path / "sweep.csv"
    table.head(2).to_csv(path, index=False)
    for source, name in ((path, "sweep.csv"), (str(path), "sweep.csv"), (table.head(2), "DataF")):
        with pytest.raises(DataError, match=f"{name}.* has 2 runs"):
            bs.fit("chinchilla", source)
    assert isinstance(table, pd.DataFrame)
