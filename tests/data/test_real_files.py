"""Every real table reads right, or is refused with a message that helps."""

import numpy as np
import pytest

from bayescale.data import active_params, read_runs
from bayescale.errors import DataError

HELPS = ("columns={", "drop_missing=True", "where=", "units={")


def test_every_table_reads_or_says_what_to_do(data_dir):
    files = sorted(data_dir.glob("*/*.csv"))
    assert files
    for path in files:
        try:
            runs = read_runs(path)
        except DataError as err:
            message = str(err)
            assert path.name in message
            assert "\n" not in message
            assert any(help_ in message for help_ in HELPS), message
        else:
            assert len(runs) > 0
            for role in runs.columns:
                values = runs.column(role)
                assert values.dtype == np.float64
                assert np.all(np.isfinite(values) & (values > 0)), (path, role)


def test_the_ambiguous_ones_are_refused_and_can_be_mapped(data_dir):
    path = data_dir / "gadre_overtraining" / "gadre_overtraining.csv"
    with pytest.raises(DataError, match="'loss_c4_val', 'loss_openlm'"):
        read_runs(path)
    runs = read_runs(path, loss="loss_c4_val")
    assert runs.columns["N"] == "n_params"
    assert runs.columns["C"] == "flops_6nd"


def test_exact_names_win_among_variants(data_dir):
    runs = read_runs(data_dir / "misfitting" / "scaling_results_last_ckpt_only.csv")
    assert dict(runs.columns) == {"N": "N", "D": "D", "C": "C", "loss": "loss", "lr": "peak_lr"}
    runs = read_runs(data_dir / "step_law" / "dense_lr_bs_loss.csv")
    taken = {"N": "N", "D": "D", "C": "6 N D", "loss": "loss", "lr": "lr", "bs": "bs"}
    assert dict(runs.columns) == taken


def test_headers_with_units(data_dir):
    path = data_dir / "sloth_leaderboard" / "llm_benchmarks.csv"
    runs = read_runs(path, drop_missing=True)
    assert runs.columns["N"] == "n_params_b x 1e9"
    assert runs.columns["D"] == "tokens_t x 1e12"
    assert runs.columns["C"] == "flops_1e21 x 1e21"
    assert not {"cost-far", "mixed-units"} & {flag.kind for flag in runs.flags}
    path = data_dir / "obs_scaling" / "base_llm_benchmark_eval.csv"
    runs = read_runs(path, where="Model == 'meta-llama/Llama-2-7b-hf'")
    assert (runs.column("N")[0], runs.column("D")[0]) == (7e9, 2e12)
    assert runs.column("C")[0] == pytest.approx(84e21)


def test_diverged_runs_are_found_and_healthy_sweeps_are_not_flagged(data_dir):
    def rows(file, **options):
        runs = read_runs(data_dir / file, **options)
        flagged = {row for flag in runs.flags if flag.kind == "diverged" for row in flag.rows}
        return runs, np.array([row in flagged for row in runs.row_numbers])

    runs, flagged = rows("step_law/dense_lr_bs_loss.csv", loss="smooth loss")
    np.testing.assert_array_equal(flagged, runs.column("loss") > 3.5)

    runs, flagged = rows("datablations_repetition/repetition.csv")
    repeated = (runs.table["epochs"] > 40).to_numpy() & (runs.column("N") > 4e8)
    assert flagged[repeated & (runs.column("loss") > 5)].all()
    assert not flagged[runs.table["epochs"] <= 4].any()

    for file in (
        "chinchilla_epoch/svg_extracted_data.csv",
        "porian_isoflop/porian_isoflop.csv",
        "isoflop_marin/isoflops.csv",
        "gemstones/gemstones_curves.csv",
    ):
        assert not rows(file)[1].any(), file


def test_sparse_models_with_active_parameters(data_dir):
    path = data_dir / "step_law" / "moe_lr_bs_loss.csv"
    runs = read_runs(path, cost=active_params("Na"))
    expected = 6 * runs.table["Na"] * runs.table["D"]
    np.testing.assert_allclose(runs.column("C"), expected, rtol=1e-15)


def test_products_of_integer_columns_do_not_overflow(data_dir):
    runs = read_runs(data_dir / "step_law" / "dense_lr_bs_loss.csv")
    assert runs.column("C").max() > 2**63
    exact = [6 * int(n) * int(d) for n, d in zip(runs.column("N"), runs.column("D"), strict=True)]
    np.testing.assert_allclose(runs.column("C"), np.array(exact, dtype=float), rtol=1e-15)
