"""Which column is what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescale.data import Runs, read_runs
from bayescale.data.aliases import LOOSE_NAMES, PLAIN_NAMES
from bayescale.data.columns import candidates

import pandas as pd  # isort: skip

VALUES = {
    "N": [1e8, 4e8, 1e9, 4e9],
    "D": [2e9, 8e9, 2e10, 8e10],
    "C": [1.2e18, 1.92e19, 1.2e20, 1.92e21],
    "loss": [3.9, 3.3, 3.0, 2.7],
}


def runs_of(names: dict[str, str], **options) -> Runs:
    """Read a table with the given names for N, D and loss."""
    frame = pd.DataFrame({name: VALUES[role] for role, name in names.items()})
    return read_runs(frame, **options)


@pytest.mark.parametrize("role", ["N", "D", "C", "loss"])
def test_every_alias_is_taken_for_its_role(role):
    for alias in sorted(PLAIN_NAMES[role] | LOOSE_NAMES[role]):
        assert [c.column for c in candidates([alias])[role]] == [alias]
        others = [r for r in ("N", "D", "C", "loss") if r != role]
        assert not any(candidates([alias])[other] for other in others)


SPELLINGS = {
    "N": ["n_params", "Model Size", "model_size", "nParams", "PARAMETERS", "# params", "N_active"],
    "D": ["n_tokens", "Training Tokens", "train-tokens", "tokens seen", "numTokens", "D"],
    "C": ["Training FLOP", "flops_6nd", "Compute", "FLOPs", "budget", "C_6ND"],
    "loss": ["val_loss", "eval/loss", "Final Loss", "C4 Eval Loss", "log_perplexity", "Loss"],
}


@pytest.mark.parametrize(("role", "name"), [(r, n) for r, ns in SPELLINGS.items() for n in ns])
def test_usual_spellings(role, name):
    runs = runs_of({role: name})
    assert runs.columns[role] == name
    np.testing.assert_array_equal(runs.column(role), VALUES[role])


@pytest.mark.parametrize(
    "name",
    [
        "D/N",
        "Na/N",
        "tokens_per_param",
        "tokens/param",
        "flops_per_step",
        "gflops_per_sample",
        "token_multiplier",
        "unique_tokens",
        "loss_scale",
        "loss_std",
        "log_loss",
        "hi95_loss",
        "loss (bits)",
        "bits_per_byte",
        "perplexity",
        "log10_flops",
        "ln_N",
        "size_label",
        "param_count_convention",
        "batch_tokens",
        "val_tokens",
        "vocab_size",
        "TFLOPs",
        "compute (TFLOPs)",
        "inference_flops",
        "mean_error",
    ],
)
def test_names_that_mean_something_else(name):
    assert not any(candidates([name]).values())


def test_plain_names_beat_variants_and_the_others_are_told():
    frame = pd.DataFrame(VALUES).drop(columns="C")
    frame["N_no_emb"] = frame.N / 2
    frame["smooth loss"] = frame.loss - 0.1
    runs = read_runs(frame)
    assert runs.columns["N"] == "N"
    assert runs.columns["loss"] == "loss"
    told = [flag.message for flag in runs.flags if flag.kind == "other-columns"]
    assert any("'N_no_emb'" in message for message in told)
    assert any("'smooth loss'" in message for message in told)


def test_copies_of_a_column_are_no_ambiguity():
    frame = pd.DataFrame(VALUES)
    frame["C4 Eval Loss"] = frame.loss
    frame["val_loss"] = frame.loss
    frame["train_tokens"] = frame.D
    runs = read_runs(frame)
    assert runs.columns["loss"] == "loss"
    assert not runs.flags


def test_a_rounded_copy_in_billions_is_the_same_size():
    frame = pd.DataFrame({"n_params": [411_616_256, 1.4e9, 7e9], "params_b": [0.41, 1.4, 7.0]})
    runs = read_runs(frame)
    assert runs.columns["N"] == "n_params"
    assert runs.column("N")[0] == 411_616_256


def test_mapping_overrides_and_keeps_the_files_own_column():
    frame = pd.DataFrame(VALUES)
    frame["N_no_emb"] = frame.N / 2
    runs = read_runs(frame, columns={"N": "N_no_emb"})
    np.testing.assert_array_equal(runs.column("N"), np.array(VALUES["N"]) / 2)
    np.testing.assert_array_equal(runs.column("N (file)"), VALUES["N"])


def test_mapping_can_leave_a_role_out():
    runs = read_runs(pd.DataFrame(VALUES), columns={"C": ""})
    assert runs.columns["C"] == "6 N D"
    assert "C" in runs.derived


def test_mapping_is_forgiving_about_case_only_where_it_is_sure():
    runs = runs_of({"N": "My Size", "D": "D", "loss": "loss"}, columns={"N": "my size"})
    assert runs.columns["N"] == "My Size"


def test_text_is_never_taken_by_a_loose_name():
    frame = pd.DataFrame({"size": ["small", "large"], "D": [2e9, 8e9], "loss": [3.9, 3.3]})
    runs = read_runs(frame)
    assert "N" not in runs.columns
    assert list(runs.table.columns) == ["D", "loss", "size"]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(SPELLINGS["N"]),
    st.sampled_from(SPELLINGS["D"]),
    st.sampled_from(SPELLINGS["loss"]),
    st.permutations(["N", "D", "loss"]),
    st.permutations(range(4)),
)
def test_order_of_columns_and_rows_changes_nothing(n, d, loss, roles, rows):
    names = {"N": n, "D": d, "loss": loss}
    frame = pd.DataFrame({names[role]: VALUES[role] for role in roles})
    straight = read_runs(frame)
    shuffled = read_runs(frame.iloc[list(rows)])
    assert dict(straight.columns) == {"N": n, "D": d, "C": "6 N D", "loss": loss}
    assert list(straight.table.columns) == ["N", "D", "C", "loss"]
    for role in ("N", "D", "C", "loss"):
        np.testing.assert_array_equal(shuffled.column(role), straight.column(role)[list(rows)])
