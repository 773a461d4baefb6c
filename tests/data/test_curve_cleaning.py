"""Training curves: order, start, smoothing, thinning; each step is said, each mistake named."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.data.runs import FILE_FLAGS
from bayescale.errors import DataError


def curve_table(runs=3, checkpoints=12, seed=0):
    rng = np.random.default_rng(seed)
    parts = []
    for k in range(runs):
        D = 1e9 * np.arange(1, checkpoints + 1)
        N = 1e8 * 2.0**k
        loss = 1.8 + 400 * N**-0.34 + 1500 * D**-0.36 + 0.01 * rng.standard_normal(checkpoints)
        step = 500 * np.arange(1, checkpoints + 1)
        parts.append(pd.DataFrame({"run": f"m{k}", "N": N, "D": D, "step": step, "loss": loss}))
    return pd.concat(parts, ignore_index=True)


def said(runs):
    return [f.message for f in runs.flags if f.kind == "curves"]


def refusal(table, **options):
    with pytest.raises(DataError) as caught:
        bs.read_runs(table, curves=bs.Curves(**options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_come_in_order_and_keep_their_numbers():
    table = curve_table().sample(frac=1, random_state=1, ignore_index=True)
    runs = bs.read_runs(table, curves=bs.Curves(run="run"))
    assert len(runs) == len(table)
    for _, rows in runs.table.groupby("run", sort=False):
        assert (np.diff(rows["D"]) > 0).all()
    assert runs.table["run"].ne(runs.table["run"].shift()).sum() == 3  # run by run
    np.testing.assert_array_equal(
        runs.column("loss"), table["loss"].to_numpy()[runs.row_numbers - 1]
    )
    assert said(runs) == ["36 checkpoints of 3 runs by run.", "rows put in order of run and D."]


def test_start_is_dropped_by_tokens_or_step_before_numbers_are_checked():
    table = curve_table()
    table.loc[::12, ["D", "step"]] = 0  # curves that begin before the first token
    with pytest.raises(DataError, match="is zero in row"):
        bs.read_runs(table, curves=bs.Curves(run="run"))
    by_step = bs.read_runs(table, curves=bs.Curves(run="run", drop_before="step=1000"))
    by_tokens = bs.read_runs(table, curves=bs.Curves(run="run", drop_before="2B"))
    pd.testing.assert_frame_equal(by_step.table, by_tokens.table)
    assert by_step.table["D"].min() == 2e9
    assert said(by_step)[0] == "3 of 36 checkpoints dropped: step below 1000."
    assert said(by_tokens)[0] == "3 of 36 checkpoints dropped: tokens below 2e9."


def test_smoothing_is_a_centred_mean_that_narrows_at_the_ends():
    table = curve_table(runs=2, checkpoints=7)
    runs = bs.read_runs(table, curves=bs.Curves(run="run", smooth=5))
    for name in ("m0", "m1"):
        raw = table["loss"][table["run"] == name].to_numpy()
        expected = [raw[0], raw[:3].mean(), *(raw[k : k + 5].mean() for k in range(3))]
        expected += [raw[-3:].mean(), raw[-1]]
        got = runs.column("loss")[(runs.table["run"] == name).to_numpy()]
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    # a straight line is left alone, its ends too: a window that looks back would lift them
    straight = table.assign(loss=4 - table["step"] / 5000)
    found = bs.read_runs(straight, curves=bs.Curves(run="run", smooth=5))
    np.testing.assert_allclose(found.column("loss"), straight["loss"], rtol=1e-12)


def test_smoothing_skips_empty_cells_of_other_columns_and_takes_patterns():
    table = curve_table().rename(columns={"loss": "code_loss"})
    table["text_loss"] = table["code_loss"] + 1
    table.loc[5, "text_loss"] = np.nan
    curves = bs.Curves(run="run", smooth=3, smoothed=("*_loss",))
    runs = bs.read_runs(table, columns={"loss": ""}, curves=curves)
    text, code = runs.column("text_loss"), runs.column("code_loss")
    assert np.isnan(text[5])
    assert np.isnan(text).sum() == 1
    assert text[4] == table["text_loss"][4]  # its window would reach into the hole
    np.testing.assert_allclose(np.delete(text, [4, 5, 6]) - np.delete(code, [4, 5, 6]), 1)


def test_thinning_keeps_both_ends_and_spaces_evenly_in_log_tokens():
    table = curve_table(checkpoints=64)
    runs = bs.read_runs(table, curves=bs.Curves(run="run", thin=7))
    for _, rows in runs.table.groupby("run"):
        np.testing.assert_array_equal(rows["D"] / 1e9, [1, 2, 4, 8, 16, 32, 64])
    assert "at most 7 checkpoints of each run" in said(runs)[-1]
    assert "21 of 192 rows" in said(runs)[-1]


def test_last_keeps_the_last_checkpoint():
    runs = bs.read_runs(curve_table(), curves=bs.Curves(run="run", last=True))
    assert runs.table["D"].tolist() == [12e9] * 3
    assert said(runs)[-1] == "only the last checkpoint of each run: 3 of 36 rows."


def test_several_columns_name_the_run():
    table = curve_table().drop(columns="run")
    table = pd.concat([table.assign(weight_a=w, weight_b=1 - w) for w in (0.2, 0.5)])
    runs = bs.read_runs(table, curves=bs.Curves(run=("weight_*", "N"), last=True))
    assert len(runs) == 6
    assert runs.table["run"].tolist() == [f"r{k}" for k in range(1, 7)]
    assert "6 runs by weight_*, N (column 'run': r1 to r6, as in the file)" in said(runs)[0]
    taken = bs.read_runs(table.assign(run="x"), curves=bs.Curves(run=("weight_*", "N"), last=True))
    assert taken.table["curve"].nunique() == 6


def test_what_was_done_survives_filters_and_is_saved_with_a_fit(tmp_path):
    curves = bs.Curves(run="run", drop_before="step=1000", smooth=3, thin=6)
    runs = bs.read_runs(curve_table(runs=4), curves=curves)
    assert "curves" in FILE_FLAGS
    part = runs.select(runs.column("N") < 4e8, "small ones")
    assert said(part) == said(runs)
    fit = bs.fit("chinchilla", curve_table(runs=4), curves=curves, chains=2, draws=50, warmup=50)
    assert said(fit.runs) == said(runs)
    fit.save(tmp_path / "fit.nc")
    assert said(bs.load(tmp_path / "fit.nc").runs) == said(runs)
    assert "smoothed along each run" in str(fit)


def test_remarks_on_single_checkpoints_short_runs_and_holes():
    table = curve_table(checkpoints=20)
    alone = table[table["run"] == "m0"].tail(1)
    short = table[table["run"] == "m1"].tail(3)
    holed = table[table["run"] == "m2"].drop(index=range(50, 58))
    runs = bs.read_runs(pd.concat([alone, short, holed]), curves=bs.Curves(run="run", smooth=5))
    text = "\n".join(said(runs))
    assert "1 of 3 runs has a single checkpoint: m0." in text
    assert (
        "1 of 3 runs has a hole between checkpoints, over 3 times the usual distance: m2." in text
    )
    assert "2 of 3 runs shorter than that, smoothed less: m0, m1." in text


def test_bad_tables_are_named():
    table = curve_table()
    twice = pd.concat([table, table.iloc[[3]].assign(loss=3.0)])
    message = refusal(twice, run="run")
    assert "run 'm0' has D = 4e+09 in rows 4 and 37" in message
    back = table.copy()
    back.loc[2, "step"] = 10_000
    assert "D grows from row 3 to row 4 while step goes from 10000 to 2000" in refusal(
        back, run="run"
    )
    assert "has 3 sizes N" in refusal(table.assign(D=1e9 * np.arange(1, 37), all="x"), run="all")
    empty = table.copy()
    empty.loc[6, "run"] = None
    assert "'run' names no run in row 7" in refusal(empty, run="run")
    assert "has no column 'rum'" in refusal(table, run="rum")
    assert "Did you mean 'run'?" in refusal(table, run="rum")
    assert "neither tokens D nor a column of steps" in refusal(
        table[["run", "N", "loss"]], run="run"
    )
    assert "wider than every run (the longest has 12" in refusal(table, run="run", smooth=13)
    assert "reads 'epoch', which is no column" in refusal(table, run="run", drop_before="epoch=2")
    assert "no checkpoint is left with D of at least 1e+15" in refusal(
        table, run="run", drop_before=1e15
    )
    assert "drop_before reads 'run', which holds no numbers" in refusal(
        table, run="run", drop_before="run=3"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"run": ""}, "run is ''"),
        ({"run": ()}, r"run is \(\)"),
        ({"run": "run", "smooth": 4}, "odd number of checkpoints: 5"),
        ({"run": "run", "smooth": 1}, "smooth is 1; expected an odd whole number"),
        ({"run": "run", "smooth": 2.5}, "smooth is 2.5"),
        ({"run": "run", "thin": 1}, "thin is 1; expected a whole number of at least 2"),
        ({"run": "run", "thin": 5, "last": True}, "so thin says nothing"),
        ({"run": "run", "drop_before": -1}, "drop_before is -1"),
        ({"run": "run", "drop_before": "step="}, "drop_before is 'step='"),
        ({"run": "run", "drop_before": "=5"}, "drop_before is '=5'"),
        ({"run": "run", "drop_before": "soon"}, "drop_before is 'soon'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(DataError, match=message):
        bs.Curves(**options)


def test_curves_that_are_no_value():
    with pytest.raises(DataError, match=r"expected a value such as Curves"):
        bs.read_runs(curve_table(), curves={"run": "run"})  # pyright: ignore


def test_real_curves(data_dir):
    gemstones = bs.read_runs(
        data_dir / "gemstones" / "gemstones_curves.csv",
        curves=bs.Curves(run="run_id", drop_before="5B", smooth=5, thin=20),
    )
    assert len(gemstones) == 22 * 20
    mixtures = bs.read_runs(
        data_dir / "slimpajama_mixtures" / "dmsl_llm_slimpajama.csv",
        loss="c4_loss",
        drop_missing=True,
        curves=bs.Curves(run=("weight_*", "model_size"), last=True),
    )
    assert len(mixtures) == 224  # as SOURCE.md counts them
    schedules = bs.read_runs(
        data_dir / "lr_schedule_curves" / "lr_schedule_curves.csv",
        loss="loss",
        curves=bs.Curves(run="run_id", drop_before="step=1000", smooth=5),
    )
    assert schedules.table["schedule"].nunique() == 3


@pytest.mark.parametrize(
    ("path", "options", "curves", "runs", "rows"),
    [
        (
            "routing_moe/routing_moe.csv",
            {"loss": "loss_c4", "columns": {"N": "dense_parameter_count"}, "drop_missing": True},
            bs.Curves(run="hyper_id", last=True),
            223,
            223,
        ),
        (
            "mixinglaws/two_domain.csv",
            {"loss": "loss_github"},
            bs.Curves(run="run_id", smooth=3, smoothed=("loss_*",)),
            10,
            110,
        ),
        (
            "fvlm_video/all_eval_points.csv",
            {"loss": "val_loss", "columns": {"N": "", "D": "samples_seen"}},
            bs.Curves(run="run_id", drop_before="step=500", thin=10),
            25,
            230,
        ),
    ],
)
def test_other_real_curves(data_dir, path, options, curves, runs, rows):
    found = bs.read_runs(data_dir / path, curves=curves, **options)
    assert len(found) == rows
    assert found.table[curves.columns[0]].nunique() == runs
