"""Tables of mixtures: which columns are what, tokens from shares, masked losses, errors by row."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.data.mixture_columns import find_columns
from bayescale.data.mixtures import melt, read_mixtures
from bayescale.errors import DataError

WIDE = pd.DataFrame(
    {
        "model_size": [1e8, 1e9],
        "n_tokens": [1e10, 2e10],
        "share_text": [0.75, 0.5],
        "share_code": [0.25, 0.5],
        "loss_text": [3.0, 2.5],
        "code_loss": [1.5, 1.25],
    }
)


def test_shares_times_tokens_one_row_a_run_and_target():
    runs = read_mixtures(WIDE)
    table = runs.table
    assert list(table["target"]) == ["text", "code"] * 2
    np.testing.assert_allclose(table["loss"], [3.0, 1.5, 2.5, 1.25])
    np.testing.assert_allclose(table["D_text"], [7.5e9, 7.5e9, 1e10, 1e10])
    np.testing.assert_allclose(table["D_code"], [2.5e9, 2.5e9, 1e10, 1e10])
    np.testing.assert_allclose(table["D"], [1e10, 1e10, 2e10, 2e10])
    np.testing.assert_allclose(table["C"], 6 * table["N"] * table["D"])
    assert table["run"].nunique() == 2
    assert list(runs.row_numbers) == [1, 1, 2, 2]
    said = runs.describe()
    assert "shares from 'share_text', 'share_code' times 'n_tokens'" in said
    assert "4 rows of 2 runs for targets 'text', 'code'" in said


def test_a_long_table_is_read_alike():
    wide = read_mixtures(WIDE)
    again = melt(wide)
    pd.testing.assert_frame_equal(again.table, wide.table, check_like=True)
    columns = ["N", "D_text", "D_code", "target", "loss"]
    bare = read_mixtures(wide.table[columns])
    assert list(bare.table["run"]) == ["1", "1", "2", "2"]
    np.testing.assert_allclose(bare.table["loss"], wide.table["loss"])
    twice = read_mixtures(pd.concat([wide.table[columns]] * 2))  # the same inputs: another run
    assert twice.table["run"].nunique() == 4


NAMES = {
    "slimpajama": (
        ["weight_arxiv", "weight_c4", "arxiv_loss", "c4_loss", "openhermes_loss"],
        {"shares": ["arxiv", "c4"], "losses": ["arxiv", "c4", "openhermes"]},
    ),
    "regmix": (
        [
            "train_the_pile_github",
            "train_the_pile_pile_cc",
            "metric/the_pile_github_val_loss",
            "metric/the_pile_pile_cc_val_loss",
        ],
        {"shares": ["github", "pile_cc"], "losses": ["github", "pile_cc"]},
    ),
    "tokens and unique tokens": (
        ["D_text", "D_image", "U_image", "loss_text", "val_loss", "train_loss", "loss_std"],
        {"tokens": ["text", "image"], "unique": ["image"], "losses": ["text"]},
    ),
    "tokens beside shares of the same sources": (
        ["text_share", "code_share", "text_tokens", "code_tokens", "n_tokens", "loss_text"],
        {"shares": ["text", "code"], "tokens": ["text", "code"], "losses": ["text"]},
    ),
    "tokens of something else beside shares": (
        ["text_share", "code_share", "warmup_tokens", "loss_text"],
        {"shares": ["text", "code"], "tokens": [], "losses": ["text"]},
    ),
    "unique under another name": (
        ["tokens_text", "tokens_code", "unique_tokens_text", "code_unique_tokens", "loss_code"],
        {"tokens": ["text", "code"], "unique": ["text", "code"], "losses": ["code"]},
    ),
}


@pytest.mark.parametrize(("headers", "expected"), NAMES.values(), ids=NAMES.keys())
def test_columns_are_known_by_their_names(headers, expected):
    found = find_columns(headers, {}, None, None, "table")
    for part in ("shares", "tokens", "unique", "losses"):
        assert list(getattr(found, part)) == expected.get(part, []), part


def test_what_is_named_comes_first():
    odd = WIDE.rename(columns={"share_text": "p", "share_code": "q", "loss_text": "lt"})
    runs = read_mixtures(odd, shares={"words": "p", "code": "q"}, losses={"words": "lt"})
    assert {"D_words", "D_code"} <= set(runs.table)
    assert list(runs.table["target"]) == ["words"] * 2
    some = read_mixtures(WIDE, targets="code")
    assert list(some.table["target"]) == ["code"] * 2
    units = read_mixtures(WIDE.drop(columns="n_tokens"))
    np.testing.assert_allclose(units.table["D"], 1.0)
    assert "tokens in units of a run" in units.describe()
    total = read_mixtures(WIDE.assign(seen=3e9), total="seen")
    np.testing.assert_allclose(total.table["D"], 3e9)


def test_units_in_headers_count():
    billions = WIDE.drop(columns=["share_text", "share_code"])
    billions = billions.assign(**{"text_tokens (B)": [1.0, 2.0], "code_tokens (B)": [3.0, 4.0]})
    given = {"text": "text_tokens (B)", "code": "code_tokens (B)"}
    runs = read_mixtures(billions, tokens=given)
    np.testing.assert_allclose(runs.table["D_code"][::2], [3e9, 4e9])


def test_empty_losses_are_masked_and_counted():
    runs = read_mixtures(WIDE.assign(code_loss=[np.nan, 1.25]))
    assert len(runs) == 3
    flag = next(f for f in runs.flags if f.kind == "dropped")
    assert flag.rows == (1,)
    assert "1 empty loss cell in row 1 ('code')" in flag.message


def test_empty_unique_tokens_mean_no_repetition_and_it_is_said():
    table = WIDE.assign(U_code=[np.nan, 2e9])
    runs = read_mixtures(table)
    np.testing.assert_allclose(runs.table["U_code"][::2], [2.5e9, 2e9])
    assert "U_code is empty in 1 runs" in runs.describe()


def test_rounded_shares_are_divided_by_their_sum():
    runs = read_mixtures(WIDE.assign(share_text=[0.748, 0.5]))
    np.testing.assert_allclose(runs.table["D"][0], 1e10)
    assert "rounding; divided by their sum" in runs.describe()
    far = WIDE.assign(share_text=[0.8, 0.5])
    with pytest.raises(
        DataError, match=r"row 1: the shares sum to 1.05, not to 1 .*normalise=True"
    ):
        read_mixtures(far)
    runs = read_mixtures(far, normalise=True)
    np.testing.assert_allclose(runs.table["D_text"][0], 0.8 / 1.05 * 1e10)
    assert "row 1 far from 1; divided" in runs.describe()


BAD = {
    "negative share": (WIDE.assign(share_text=[-0.25, 0.5]), "row 1: share_text.*is -0.25"),
    "empty share": (WIDE.assign(share_code=[0.25, np.nan]), "row 2: share_code.*is empty"),
    "text": (WIDE.assign(share_code=["a", "b"]), "row 1: share_code .*'a'"),
    "no source": (WIDE[["model_size", "loss_text"]], "no column of shares"),
    "no loss": (WIDE.drop(columns=["loss_text", "code_loss"]), "has no losses of targets"),
    "nothing of a source": (
        WIDE.assign(share_text=1.0, share_code=0.0),
        "no run has any tokens of 'code'.*sources=",
    ),
    "unique above sampled": (WIDE.assign(U_code=[9e9, 1e9]), "row 1: U_code is 9e.09, above"),
    "no unique tokens": (WIDE.assign(U_code=[0.0, 1e9]), "row 1: U_code is 0, not above zero"),
    "two columns for one source": (
        WIDE.assign(text_share=WIDE["share_text"]),
        "'share_text' and 'text_share' could both be the shares of 'text'",
    ),
    "a run without tokens": (
        WIDE.drop(columns=["share_text", "share_code"]).assign(D_a=[0.0, 1], D_b=[0.0, 1]),
        "no tokens of any source in row 1",
    ),
}


@pytest.mark.parametrize(("table", "words"), BAD.values(), ids=BAD.keys())
def test_tables_that_make_no_sense(table, words):
    with pytest.raises(DataError, match=words) as caught:
        read_mixtures(table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": ("text", "image")}, "no target 'image'"),
        ({"sources": ("text", "cod")}, "no source 'cod'.*Did you mean 'code'"),
        ({"shares": {"text": "share_txt"}}, "no column 'share_txt'"),
        ({"shares": {"a": "share_text", "b": "share_text"}}, "'share_text' is named twice"),
        ({"losses": ["loss_text"]}, "expected a mapping"),
        ({"sources": ("text",)}, "row 2: the shares sum to 0.5"),
    ],
)
def test_arguments_that_name_nothing(options, words):
    with pytest.raises(DataError, match=words):
        read_mixtures(WIDE, **options)


def test_a_target_that_no_row_of_a_long_table_has():
    with pytest.raises(
        DataError, match="no row of .* has target 'image'; there are 'text', 'code'"
    ):
        melt(read_mixtures(WIDE), targets=("image",))


def test_a_part_of_the_table_is_not_taken_for_repeats_or_failures():
    wide = pd.concat([WIDE] * 4, ignore_index=True).assign(loss_text=9.0)
    runs = read_mixtures(wide)
    part = runs.select((runs.column("N") > 5e8), "large ones")
    assert (
        {"note", "selected"} <= {f.kind for f in part.flags} <= {"note", "selected", "duplicates"}
    )


def test_public_tables(data_dir):
    runs = read_mixtures(data_dir / "slimpajama_mixtures/dmsl_llm_slimpajama.csv")
    assert len(runs) == 8 * 2452 - 16
    assert "16 empty loss cells" in runs.describe()
    np.testing.assert_allclose(runs.table["D"], runs.table["n_tokens"], rtol=1e-6)
    seven = data_dir / "mixinglaws/redpajama_seven_domain.csv"
    with pytest.raises(DataError, match=r"row 123: the shares sum to 1.0199, not to 1"):
        read_mixtures(seven)
    assert len(read_mixtures(seven, normalise=True)) == 22 * 322
    code = read_mixtures(data_dir / "datablations_code_mix/code_mix.csv")
    np.testing.assert_allclose(code.table["D"], 84e9)
    assert isinstance(code, bs.Runs)
