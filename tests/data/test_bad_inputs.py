"""Bad tables: each is refused with one line that names the offender and says what to do."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayescale.data import (
    active_params,
    custom,
    load_dataset,
    parse_quantity,
    read_runs,
)
from bayescale.errors import DataError

GOOD = "N,D,loss\n1e8,2e9,3.9\n4e8,8e9,3.3\n1e9,2e10,3.0\n4e9,8e10,2.7\n"
ROWS = "1e8,2e9,3.9\n4e8,8e9,3.3\n1e9,2e10,3.0\n"

# What is wrong: the text of the file, options, and pieces the message must have.
TABLES = {
    # columns
    "two losses": (
        "N,D,train_loss,val_loss\n1e8,2e9,3,4\n1e9,2e10,2,3\n",
        {},
        ["'train_loss', 'val_loss'", "columns={'loss': 'val_loss'}", '--map "loss=val_loss"'],
    ),
    "two parameter counts": (
        "params_total,params_active,D,loss\n1e9,1e8,2e9,3\n2e9,1e8,4e9,2.9\n",
        {},
        ["could be N (parameters)", "'params_active', 'params_total'", "--map"],
    ),
    "loss and val_loss that differ": (
        "N,D,loss,val_loss\n1e8,2e9,3,4\n1e9,2e10,2,3\n",
        {},
        ["2 columns could be loss", "they differ"],
    ),
    "mapped column isn't there": (
        GOOD,
        {"columns": {"N": "n_parms"}},
        ["no column 'n_parms' to take as N", "'N', 'D', 'loss'"],
    ),
    "mapped column is nearly there": (
        "model_sise,D,loss\n" + ROWS,
        {"columns": {"N": "model_size"}},
        ["no column 'model_size'", "Did you mean 'model_sise'?"],
    ),
    "unknown role": (GOOD, {"columns": {"tokens": "D"}}, ["'tokens' is no role", "N, D, C, loss"]),
    "one column for two roles": (
        GOOD,
        {"columns": {"N": "D", "D": "D"}},
        ["'D' is mapped to two roles"],
    ),
    "two statements on the loss": (
        GOOD,
        {"loss": "N", "columns": {"loss": "loss"}},
        ["loss='N'", "differ", "give one"],
    ),
    "column name twice": ("N,D,loss,loss\n1e8,2e9,3,3\n", {}, ["two columns named 'loss'"]),
    # cells
    "text in a number column": (
        "N,D,loss\n1e8,2e9,3\nsmall,2e9,3\n",
        {},
        ["runs.csv row 2: N: 'small' is not a number", "7.68B"],
    ),
    "text in the loss": ("N,D,loss\n1e8,2e9,3\n1e8,2e9,crashed\n", {}, ["row 2", "'crashed'"]),
    "percent in the loss": ("N,D,loss\n1e8,2e9,3%\n", {}, ["row 1", "loss", "'3%'"]),
    "suffix in the loss": ("N,D,loss\n1e8,2e9,3B\n", {}, ["row 1", "loss", "'3B'"]),
    "truth values": ("N,D,loss\nTrue,2e9,3\n", {}, ["row 1", "N", "true or false"]),
    "unknown suffix": ("N,D,loss\n7X,2e9,3\n", {}, ["'7X'", "'X' is unknown"]),
    "NaN": (
        "N,D,loss\n1e8,2e9,3\n1e8,2e9,nan\n",
        {},
        ["loss", "missing in row 2", "drop_missing=True", "--drop-missing"],
    ),
    "empty cells": (
        "N,D,loss\n" + "1e8,,3\n" * 7 + "1e8,1e9,3\n",
        {},
        ["D (tokens) is missing in rows 1, 2, 3, 4, 5 and 2 more"],
    ),
    "dashes for empty cells": (
        "N,D,loss\n1e8,1e9,3\n1e8,-,3\n1e8,\u2014,3\n1e8,n.a.,3\n",
        {},
        ["D (tokens) is missing in rows 2, 3, 4", "drop_missing"],
    ),
    "every row has an empty cell": (
        "N,D,loss\n1e8,,3\n,1e9,3\n",
        {"drop_missing": True},
        ["no row has all of N, D, loss"],
    ),
    "infinite": ("N,D,loss\n1e8,inf,3\n", {}, ["D (tokens) is infinite in row 1", "finite"]),
    "zero tokens": ("N,D,loss\n1e8,0,9\n1e8,1e9,3\n", {}, ["D", "zero in row 1", 'where="D > 0"']),
    "negative parameters": ("N,D,loss\n-1e8,1e9,3\n", {}, ["N", "negative in row 1 (-1e+08)"]),
    "negative loss": ("N,D,loss\n1e8,1e9,-3\n", {}, ["loss", "negative in row 1 (-3)"]),
    "loss above 20": (
        "N,D,loss\n1e8,1e9,3\n1e8,1e9,45.5\n",
        {},
        ["loss is above 20 in row 2 (45.5)", "perplexity", "logarithm"],
    ),
    # units
    "N in billions": (
        "N,D,loss\n0.07,2e9,3.9\n7,1.4e11,2.5\n70,1.4e12,2.1\n",
        {},
        ["N (parameters) is between 0.07 and 70", "billions", "units={'N': 1e9}", "--unit N=1"],
    ),
    "N in billions, all whole": (
        "N,D,loss\n7,1.4e11,2.5\n13,2.6e11,2.3\n70,1.4e12,2.1\n",
        {},
        ["N (parameters) is between 7 and 70", "units={'N': 1e9}"],
    ),
    "N in millions": (
        "N,D,loss\n70,1.4e9,3.9\n410,8e9,3.2\n12000,3e11,2.3\n",
        {},
        ["between 70 and 1.2e+04", "millions", "units={'N': 1e6}", "units={'N': 1}"],
    ),
    "D in billions": (
        "N,D,loss\n7e8,14,3.9\n7e9,140,2.5\n7e10,1400,2.1\n",
        {},
        ["D (tokens) is between 14 and 1400", "billions", "units={'D': 1e9}", "--unit D=1e9"],
    ),
    "D in trillions": (
        "N,D,loss\n7e9,1.5,3.9\n7e10,2,2.5\n7e10,15,2.1\n",
        {},
        ["D (tokens) is between 1.5 and 15", "units={'D': 1e"],
    ),
    "N in millions and D in billions, all whole": (
        "N,D,loss\n70,100,3.9\n160,300,2.5\n410,1000,2.1\n",
        {},
        ["N (parameters) is between 70 and 410", "units={'N': 1"],
    ),
    "C as a logarithm": (
        "N,C,loss\n7e8,19.5,3.9\n7e9,22,2.5\n7e10,24,2.1\n",
        {},
        ["C (training FLOP) is between 19.5 and 24", "base-10 logarithms", "10**C"],
    ),
    "C in exaFLOP": ("C,loss\n1.2,3.9\n50,2.5\n800,2.1\n", {}, ["C", "units={'C': 1e18}"]),
    "C doesn't fit N and D": (
        "N,D,C,loss\n1e8,2e9,1.2e9,3\n2e8,4e9,4.8e9,2.8\n4e8,8e9,2e10,2.7\n",
        {},
        ["C is 1e-09 times what N and D cost", "units={'C': 1e18}", "columns={'C': ''}"],
    ),
    "some cells with a suffix": (
        "N,D,loss\n7B,1.4e11,2.5\n13,2.6e11,2.3\n",
        {},
        ["N is 13 in row 2", "without a suffix", "one way"],
    ),
    "unit in the header and in some cells": (
        "params (B),D,loss\n7B,1.4e11,2.5\n13,2.6e11,2.3\n",
        {},
        ["header names a unit (x 1e9)", "7B"],
    ),
    "unit for no role": (GOOD, {"units": {"loss": 2}}, ["units: 'loss' is none of N, D, C"]),
    "unit of zero": (GOOD, {"units": {"N": 0}}, ["units: N = 0 must be a number above zero"]),
    # filters
    "filter names no column": (
        GOOD,
        {"where": "familly == 'x'"},
        ["'familly', which is no column", "'N', 'D', 'loss'"],
    ),
    "filter with single equals": (GOOD, {"where": "N = 1e8"}, ["can't be understood", "=="]),
    "filter keeps nothing": (
        GOOD,
        {"where": "N > 1e12"},
        ["leaves none of 4 rows", "N lies between 1e+08 and 4e+09"],
    ),
    "filter compares text with numbers": (
        GOOD,
        {"where": "N > '1B'"},
        ["can't be evaluated", "text with numbers"],
    ),
    "filter is no comparison": (GOOD, {"where": "N + D"}, ["no comparison of a column"]),
    "filter calls a function": (
        GOOD,
        {"where": "__import__('os').getcwd() == ''"},
        ["isn't allowed", "only columns"],
    ),
    "filter takes an attribute": (GOOD, {"where": "N.values > 1"}, ["'N.values'", "isn't allowed"]),
    # the file itself
    "trailing separators only": ("N,D,loss\n1e8,2e9,nope,\n", {}, ["row 1: loss: 'nope'"]),
    "empty": ("", {}, ["runs.csv is empty", "header line"]),
    "blank lines": ("\n\n  \n", {}, ["runs.csv is empty"]),
    "header only": ("N,D,loss\n", {}, ["header line but no rows"]),
    "rows of nothing": ("N,D,loss\n,,\n,,\n", {}, ["runs.csv has no rows"]),
    "no header": (ROWS, {}, ["no header", "'1e8,2e9,3.9'", "N,D,loss"]),
    "no header, first column text": (
        "a,1e8,2e9,3\nb,1e9,2e10,2.5\n",
        {},
        ["no header", "'a,1e8,2e9,3'"],
    ),
    "title line": ("My sweep,,\nN,D,loss\n1e8,2e9,3\n", {}, ["'My sweep'", "title", "delete it"]),
    "separated by spaces": ("N D loss\n1e8 2e9 3\n", {}, ["separated by spaces", "commas"]),
    "row too long": (GOOD + "1e9,2e10,3,0\n", {}, ["row 5 has 4 cells", "3 columns"]),
    "row too long where others end in a separator": (
        "N,D,loss\n1e8,2e9,3.9,\n4e8,8e9,3.3,\n1e9,2e10,3,0\n",
        {},
        ["row 3 has more cells", "(3)"],
    ),
    "only comments": ("# nothing yet\n# to see\n", {}, ["header line but no rows"]),
    "only a separator line": ("sep=;\n", {}, ["runs.csv is empty"]),
    "thousands without quotes": (
        "N,D,loss\n1,000,000,20,000,000,3\n",
        {},
        ["first row has 7 cells", "3 columns", "quote"],
    ),
    "open quote": (GOOD + '"1e9,2e10,3\n', {}, ["quotation mark", "never closed"]),
    "one decimal comma": (
        "N;D;loss\n1e8;2e9;3,9\n4e8;8e9;3.3\n1e9;2e10;3.0\n",
        {},
        ["row 1: loss: '3,9'", "decimal comma", "point"],
    ),
    "decimal comma in N": (
        'N,D,loss\n"1,5",2e9,3.9\n2e8,4e9,3.5\n',
        {},
        ["row 1: N: '1,5'", "decimal comma", "1.5"],
    ),
    "web page": ("<!DOCTYPE html><html></html>", {}, ["web page", "raw file"]),
    "LFS pointer": ("version https://git-lfs.github.com/spec/v1\n", {}, ["Git LFS pointer"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_table_is_named(name, refuse):
    text, options, pieces = TABLES[name]
    message = refuse(text, **options)
    for piece in pieces:
        assert piece in message


BYTES = {
    "UTF-16": (GOOD.encode("utf-16"), "runs.csv", ["UTF-16", "iconv -f UTF-16 -t UTF-8 runs.csv"]),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), "runs.csv", ["NUL bytes", "UTF-16"]),
    "Windows-1252": (
        "N,D,loss,note\n1e8,2e9,3,ok\n1e9,2e10,2.5,d\u00e9but\n".encode("cp1252"),
        "runs.csv",
        ["not UTF-8 (byte 0xe9 in line 3)", "iconv -f WINDOWS-1252"],
    ),
    "Excel under another name": (b"PK\x03\x04rest", "runs.csv", ["zip or Excel file", "CSV"]),
    "gzip under another name": (gzip.compress(b"N,D"), "runs.csv", ["gzip", ".csv.gz"]),
    "Parquet under another name": (b"PAR1....PAR1", "runs.csv", ["Parquet", ".parquet"]),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-9], "runs.csv.gz", ["no complete gzip"]),
    "no gzip": (GOOD.encode(), "runs.csv.gz", ["no complete gzip file"]),
    "no Parquet": (GOOD.encode(), "runs.parquet", ["no readable Parquet file"]),
    "Excel": (b"PK\x03\x04", "runs.xlsx", ["'.xlsx'", "CSV UTF-8"]),
    "pickle": (b"", "runs.pkl", ["'.pkl'", "never opened"]),
    "netCDF": (b"", "fit.nc", ["'.nc'", "bayescale.load"]),
    "JSON": (b"[]", "runs.json", ["'.json'", "one JSON object a line"]),
    "unknown suffix": (b"", "runs.dat", ["'.dat'", ".csv", ".parquet"]),
    "no suffix": (b"", "runs", ["file without suffix", ".csv"]),
    "broken JSON line": (b'{"N": 1e8}\n{"N": \n', "runs.jsonl", ["runs.jsonl line 2", "not JSON"]),
    "JSON lines of lists": (b"[1, 2]\n", "runs.jsonl", ["line 1 is a list", "JSON object"]),
}


@pytest.mark.parametrize("name", BYTES)
def test_bad_file_is_named(name, refuse):
    content, file, pieces = BYTES[name]
    message = refuse(content, file)
    for piece in pieces:
        assert piece in message


def message_of(function, *args, **options) -> str:
    with pytest.raises(DataError) as caught:
        function(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_file_names_a_similar_one(tmp_path: Path):
    (tmp_path / "my_runs.csv").write_text(GOOD)
    message = message_of(read_runs, tmp_path / "my_run.csv")
    assert "there is no file" in message
    assert "Did you mean 'my_runs.csv'?" in message
    assert "nor the folder" in message_of(read_runs, tmp_path / "no" / "a.csv")


def test_folder_in_place_of_a_file(tmp_path: Path):
    message = message_of(read_runs, tmp_path)
    assert "is a folder" in message
    assert ".csv" in message


@pytest.mark.parametrize("thing", [[1, 2], {"N": [1e8]}, np.zeros((3, 3)), None, 3.5])
def test_things_that_are_no_tables(thing):
    message = message_of(read_runs, thing)
    assert type(thing).__name__ in message
    assert "pandas.DataFrame" in message


def test_frame_with_two_levels_of_columns():
    frame = pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", "N"), ("a", "D")]))
    assert "several levels" in message_of(read_runs, frame)


def test_frame_with_a_name_twice():
    frame = pd.DataFrame([[1e8, 2e9, 3.0]], columns=["N", "D", " N"])
    assert "two columns named 'N'" in message_of(read_runs, frame)


def test_law_says_what_it_needs(read):
    runs = read("model,n_tokens,loss\na,2e9,3.9\nb,8e9,3.3\nc,2e10,3.0\n")
    message = message_of(runs.require, ["N", "D", "loss"], "law 'chinchilla'")
    assert "law 'chinchilla' needs N (parameters)" in message
    assert "'n_tokens', 'loss', 'model'" in message
    assert "columns={'N': 'its name'}" in message
    assert "--map" in message


def test_law_that_needs_a_loss_is_pointed_at_perplexity(read):
    runs = read("N,D,perplexity\n1e8,2e9,30\n4e8,8e9,25\n")
    assert "natural logarithm" in message_of(runs.require, ["loss"], "law 'chinchilla'")


def test_law_that_needs_another_column_gets_the_nearest(read):
    runs = read("N,D,loss,epochs\n1e8,2e9,3,1\n4e8,8e9,2.5,2\n")
    assert "Did you mean 'epochs'?" in message_of(runs.require, ["epoch"], "law 'repetition'")


def test_selecting_nothing_or_by_a_wrong_mask(read):
    runs = read(GOOD)
    assert "no run of runs.csv is left (C <= 1)" in message_of(
        runs.select, runs.column("C") <= 1, "C <= 1"
    )
    assert "shape (2,)" in message_of(runs.select, np.array([True, False]), "half")
    assert "no column 'M'" in message_of(runs.column, "M")


def test_active_parameters_that_are_missing_or_unusable(refuse):
    message = refuse(GOOD, cost=active_params("n_activ"))
    assert "C = 6 [n_activ] D needs the column 'n_activ'" in message
    text = "N,D,n_active,loss\n1e8,2e9,1e7,3\n1e9,2e10,,2.5\n"
    message = refuse(text, cost=active_params("n_active"))
    assert "active parameters ('n_active')" in message
    assert "row 2" in message


def test_own_cost_that_cannot_be_solved(refuse):
    cost = custom(lambda n, d: np.full_like(np.asarray(n * d), 1e20), "flat")
    message = refuse("N,C,loss\n1e8,1e19,3\n", cost=cost)
    assert "cost model 'flat' can't be solved for D" in message


@pytest.mark.parametrize(
    ("text", "what", "pieces"),
    [
        ("24", "C", ["C = 24", "24 FLOP", "too small", "1e24"]),
        ("7", "N", ["7 parameters", "7.68B"]),
        ("1.4", "D", ["1.4 tokens", "1.4T"]),
        ("-7B", "N", ["N = -7B", "above zero"]),
        ("nan", "N", ["N = nan", "finite"]),
        ("1e999", "C", ["C = 1e999", "finite"]),
        ("seven", "N", ["'seven' is not a number"]),
        ("7Q", "N", ["'Q' is unknown"]),
        ("1,5B", "N", ["decimal comma", "1.5"]),
        ("", "D", ["D: '' is not a number"]),
    ],
)
def test_bad_quantities(text, what, pieces):
    message = message_of(parse_quantity, text, what)
    for piece in pieces:
        assert piece in message


def test_unknown_data_set_has_the_nearest_name():
    assert "Did you mean 'gemstones'?" in message_of(load_dataset, "gemstone")
    message = message_of(read_runs, "chinchila-epoch")
    assert "neither a file nor a data set" in message
    assert "Did you mean 'chinchilla-epoch'?" in message
    assert "there is no file" in message_of(read_runs, "chinchilla.csv")
