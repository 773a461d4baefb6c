"""Files and tables of every kind come in alike."""

import gzip
import hashlib
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescale.data import Runs, active_params, read_runs

N, D = [1e8, 4e8, 1e9, 4e9], [2e9, 8e9, 2e10, 8e10]
LOSS = [3.875, 3.25, 3.0, 2.75]
FRAME = pd.DataFrame({"N": N, "D": D, "loss": LOSS, "family": list("aabb")})
CSV = FRAME.to_csv(index=False)


def check(runs: Runs) -> None:
    """Check the numbers of FRAME."""
    np.testing.assert_allclose(runs.column("N"), N, rtol=1e-14)
    np.testing.assert_allclose(runs.column("D"), D, rtol=1e-14)
    np.testing.assert_allclose(runs.column("C"), 6 * np.array(N) * D, rtol=1e-14)
    np.testing.assert_allclose(runs.column("loss"), LOSS, rtol=1e-14)
    assert runs.table[["N", "D", "C", "loss"]].dtypes.eq("float64").all()
    assert not runs.flags


# How one and the same table comes out of other programs.
WRITTEN = {
    "plain": CSV,
    "byte order mark": "\ufeff" + CSV,
    "Windows line ends": CSV.replace("\n", "\r\n"),
    "old Mac line ends": CSV.replace("\n", "\r"),
    "no last line end": CSV.rstrip("\n"),
    "empty lines": "\n" + CSV.replace("\n", "\n\n") + "\n\n",
    "index column": FRAME.to_csv(),
    "index column from one": FRAME.set_axis(range(1, 5)).to_csv(),
    "semicolons": FRAME.to_csv(index=False, sep=";"),
    "tabs": FRAME.to_csv(index=False, sep="\t"),
    "bars": FRAME.to_csv(index=False, sep="|"),
    "Excel in Europe": "N;D;loss;family\n100000000;2E+09;3,875;a\n400000000;8E+09;3,25;a\n"
    "1000000000;2E+10;3;b\n4000000000;8E+10;2,75;b\n",
    "Excel in Europe, thousands": "sep=;\nN;D;loss;family\n100.000.000;2.000.000.000;3,875;a\n"
    "400.000.000;8.000.000.000;3,250;a\n1.000.000.000;20.000.000.000;3,000;b\n"
    "4.000.000.000;80.000.000.000;2,750;b\n;;;\n",
    "decimal commas in quotes": "N,D,loss\n1e8,2e9,"
    '"3,875"\n4e8,8e9,"3,25"\n1e9,2e10,"3,0"\n4e9,8e10,"2,75"\n',
    "thousands in quotes": 'N,D,loss\n"100,000,000","2,000,000,000",3.875\n'
    '"400,000,000","8,000,000,000",3.25\n"1,000,000,000","20,000,000,000",3.0\n'
    '"4,000,000,000","80,000,000,000",2.75\n',
    "suffixes": "N,D,loss\n100M,2B,3.875\n0.4b,8B,3.25\n1B,20 B,3.0\n4B,80B,2.75\n",
    "units in the header": "params (M),tokens_B,loss (nats)\n100,2,3.875\n400,8,3.25\n"
    "1000,20,3.0\n4000,80,2.75\n",
    "spaces in the header": CSV.replace("N,D,loss", " N , D\t, Loss "),
    "spaces around cells": CSV.replace(",", " , "),
    "comments above": "# sweep of May\n# 4 runs\n" + CSV,
    "comments between": CSV.replace("\n1000000000.0", "\n# larger, later\n1000000000.0"),
    "header in a comment": "# " + CSV,
    "header with a hash": "#" + CSV,
    "line breaks in the header": CSV.replace("N,D,loss", '"N\n(params)","D\n(tokens)",loss'),
    "line breaks in a cell": CSV.replace(",a\n", ',"a\n\nnote"\n'),
    "trailing separators in rows": CSV.replace("\n", ",\n").replace("family,", "family"),
    "trailing separators": CSV.replace("\n", ",\n"),
    "trailing rows of nothing": CSV + ",,,\n,,,\n",
    "colours in the first column": "color,N,D,loss\n#fae,1e8,2e9,3.875\n#fbe,4e8,8e9,3.25\n"
    "#fce,1e9,2e10,3.0\n#fde,4e9,8e10,2.75\n",
    "lists in another column": "N,D,loss,layers\n"
    '1e8,2e9,3.875,"12,24"\n4e8,8e9,3.25,"1,2"\n1e9,2e10,3.0,"6,6"\n4e9,8e10,2.75,"2,3"\n',
}


@pytest.mark.parametrize("name", WRITTEN)
def test_csv_as_other_programs_write_it(name, read):
    check(read(WRITTEN[name]))


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".txt", ".CSV"])
def test_suffixes_of_text_files(suffix, read):
    text = CSV.replace(",", "\t") if suffix == ".tsv" else CSV
    content = gzip.compress(text.encode()) if suffix == ".csv.gz" else text.encode()
    check(read(content, f"runs{suffix}"))


def test_json_lines(read):
    lines = "\n".join(json.dumps(row) for row in FRAME.to_dict("records"))
    check(read(lines, "runs.jsonl"))
    check(read(gzip.compress((lines + "\n\n").encode()), "runs.ndjson.gz"))


def test_parquet(tmp_path):
    FRAME.set_index("family").to_parquet(tmp_path / "runs.parquet")
    check(read_runs(tmp_path / "runs.parquet"))


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame.copy,
        lambda df: df.set_axis([5, 7, 9, 11]),
        lambda df: df.set_index("N"),
        lambda df: df.convert_dtypes(),
        lambda df: df.astype(object),
        pl.from_pandas,
        lambda df: pl.from_pandas(df).lazy(),
        pa.Table.from_pandas,
    ],
)
def test_tables_in_memory(convert):
    runs = read_runs(convert(FRAME))
    check(runs)
    assert runs.source == "DataFrame"
    assert list(runs.table.index) == [0, 1, 2, 3]


def test_the_callers_frame_stays_as_it_is():
    frame = FRAME.copy()
    runs = read_runs(frame)
    runs.column("N")[:] = 0
    pd.testing.assert_frame_equal(frame, FRAME)
    check(runs)


def test_hashes(read):
    assert read(CSV).sha256 == hashlib.sha256(CSV.encode()).hexdigest()
    first = read_runs(FRAME).sha256
    assert first == read_runs(FRAME.copy()).sha256
    assert first != read_runs(FRAME.assign(loss=FRAME.loss + 1e-9)).sha256
    assert first != read_runs(FRAME.rename(columns={"loss": "Loss"})).sha256


def test_what_was_taken_for_what_is_told(read):
    runs = read("params (M),Tokens,Val Loss,seed\n100,2e9,3.9,1\n400,8e9,3.3,2\n1000,2e10,3,3\n")
    assert runs.describe() == (
        "3 runs from runs.csv: N <- params (M) x 1e6, D <- Tokens, C = 6 N D, loss <- Val Loss"
    )
    assert "3 runs from runs.csv" in repr(runs)
    assert list(runs.table.columns) == ["N", "D", "C", "loss", "seed"]
    np.testing.assert_array_equal(runs.column("Tokens"), runs.column("D"))


def test_tables_without_all_columns(read):
    assert dict(read("C,loss\n1e18,3\n1e19,2.8\n1e20,2.7\n").columns) == {"C": "C", "loss": "loss"}
    assert "loss" not in read("N,D\n1e8,1e9\n1e8,2e9\n2e8,2e9\n").columns
    runs = read("model,accuracy\na,0.5\nb,0.6\nc,0.7\n")
    assert runs.describe() == "3 runs from runs.csv: no column is N, D, C or loss"


def test_rows_keep_their_numbers(read):
    text = "N,D,loss\n1e8,2e9,3.9\n,,\n4e8,8e9,3.3\n1e9,,3.0\n4e9,8e10,2.7\n"
    runs = read(text, drop_missing=True)
    assert list(runs.row_numbers) == [1, 3, 5]
    assert [f.kind for f in runs.flags] == ["dropped"]
    assert "row 4" in runs.flags[0].message
    few = runs.select(runs.column("N") > 2e8, "larger than 200M")
    assert list(few.row_numbers) == [3, 5]
    assert list(few.table.index) == [0, 1]
    assert "2 of 3 runs kept: larger than 200M" in few.describe()
    assert few.sha256 == runs.sha256


def test_bad_rows_that_a_filter_leaves_out_are_no_error(read):
    text = "N,D,loss\n1e8,0,9\nsmall,8e9,3.3\n1e9,2e10,3.0\n4e9,8e10,2.7\n2e9,4e10,-1\n"
    runs = read(text, where="D > 0 and N > 0 and loss > 0")
    assert list(runs.row_numbers) == [3, 4]


def test_filters_know_both_names_and_computed_columns(read):
    text = "Model Size,Training FLOP,loss\n1e8,1.2e18,3.9\n4e8,1.9e19,3.3\n1e9,1.2e20,3.0\n"
    for where in ("`Model Size` > 2e8", "N > 2e8", "D > 5e9", "C > 1e19", "20 > D/N - 1 > 18"):
        assert len(read(text, where=where)) >= 1
    assert len(read(text, where="D > 5e9")) == 2


def test_filters_see_suffixes_as_numbers(read):
    runs = read("size,D,loss\n100M,2e9,3.9\n7B,8e9,3.3\n", where="size > 1e9")
    assert list(runs.column("N")) == [7e9]


def test_stated_units(read):
    text = "N,D,loss\n0.1,2,3.9\n0.4,8,3.3\n1,20,3\n"
    runs = read(text, units={"N": 1e9, "D": 1e9})
    np.testing.assert_allclose(runs.column("N"), [1e8, 4e8, 1e9])
    assert runs.columns["N"] == "N x 1e9"
    assert read(text, units={"N": 1, "D": 1}).column("N")[0] == 0.1
    header = read("params (B),D,loss\n0.1,2e9,3.9\n0.4,8e9,3.3\n", units={"N": 1e9})
    assert header.column("N")[0] == 1e8


@pytest.mark.parametrize(
    "text",
    [
        "N,D,loss\n1000,100000,5.1\n2500,1e6,4.9\n6000,1e7,4.2\n",  # tiny models on a CPU
        "N,D,loss\n500,20000,5.1\n900,1e5,4.9\n700,1e5,4.2\n",  # tinier still
        "D,loss\n160,2.1\n192,2.0\n1024,0.5\n",  # examples of an arithmetic task
        "N,D,loss\n5000,512,2.1\n5000,1024,2.0\n9000,2048,1.5\n",  # few examples, tiny model
        "N,D,loss\n7e9,1e6,2.1\n7e9,1e7,2.0\n7e9,1e8,1.5\n",  # fine-tuning
        "C,loss\n1e9,6\n1e10,5\n1e11,4\n",  # toy budgets
        "N,D,loss\n7e9,2e12,2.1\n671e9,15e12,1.8\n2e12,4e13,1.6\n",  # the largest
    ],
)
def test_small_and_large_experiments_are_not_suspected(text, read):
    assert len(read(text)) == 3


def test_runs_come_back_as_they_are():
    runs = read_runs(FRAME)
    assert read_runs(runs) is runs


def test_runs_can_be_read_again_with_other_settings(read):
    text = "params (B),n_tokens,val_loss,other,Na\n0.1,2e9,3.9,1,1e7\n0.4,8e9,3.3,2,4e7\n"
    runs = read(text)
    again = read_runs(runs, where="n_tokens > 5e9")
    assert list(again.row_numbers) == [2]
    assert again.columns["N"] == "params (B) x 1e9"
    np.testing.assert_allclose(again.column("N"), [4e8])
    other = read_runs(runs, columns={"loss": "other"})
    assert list(other.column("loss")) == [1, 2]
    sparse = read_runs(runs, cost=active_params("Na"))
    np.testing.assert_allclose(sparse.column("C"), [6 * 1e7 * 2e9, 6 * 4e7 * 8e9])
    assert sparse.sha256 == runs.sha256


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(1e6, 1e12), st.floats(1e8, 1e13), st.floats(0.5, 12, allow_subnormal=False)
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_any_table_survives_any_separator(tmp_path_factory, rows, separator):
    frame = pd.DataFrame(rows, columns=["N", "D", "loss"])
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    frame.to_csv(path, sep=separator, index=False)
    runs = read_runs(path)
    for role in ("N", "D", "loss"):
        np.testing.assert_allclose(runs.column(role), frame[role], rtol=1e-15)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.51, 9.99).map(lambda x: round(x, 3)), min_size=2, max_size=6))
def test_decimal_commas_are_decimals(tmp_path_factory, losses):
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    rows = [f"{i + 1}e9;2e10;{loss:.3f}".replace(".", ",") for i, loss in enumerate(losses)]
    path.write_text("N;D;loss\n" + "\n".join(rows) + "\n")
    np.testing.assert_allclose(read_runs(path).column("loss"), losses)


def test_a_million_rows():
    rng = np.random.default_rng(7)
    n = 1_000_000
    size, tokens = np.exp(rng.uniform(16, 24, n)), np.exp(rng.uniform(20, 28, n))
    frame = pd.DataFrame({"N": size, "D": tokens, "loss": 1.8 + 400 * size**-0.35})
    runs = read_runs(frame)
    assert len(runs) == n
    assert not [flag for flag in runs.flags if flag.kind == "diverged"]
