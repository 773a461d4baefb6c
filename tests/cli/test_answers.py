"""predict, allocate, multiplier and plot from a saved fit."""

import pytest

LEVELS = {"q025", "q05", "q25", "median", "q75", "q95", "q975"}


def test_predict_table(call, fit_file):
    ended = call("predict", fit_file, "--N", "7B,70B", "--D", "1.4T")
    assert ended.code == 0
    assert "converged" in ended.out.splitlines()[0]
    for shown in ("7B", "70B", "5.88e23", "90% credible", "90% new run", "above"):
        assert shown in ended.out


def test_predict_json(call, fit_file):
    record = call("predict", fit_file, "--N", "1B", "--C", "1.2e20", "--json").json()
    assert record["converged"] is True
    (point,) = record["predictions"]
    assert point["D"] == pytest.approx(2e10)
    assert set(point["loss"]) >= LEVELS
    assert set(point["new_run"]) >= LEVELS
    assert point["new_run"]["q05"] < point["loss"]["q05"] < point["loss"]["median"]
    # the sweep's own truth: E + A/N^alpha + B/D^beta at this point
    truth = 1.76 + 415 / 1e9**0.34 + 1350 / 2e10**0.352
    assert point["loss"]["q025"] < truth < point["loss"]["q975"]
    assert point["outside"]["inside_data"] is True


def test_values_can_be_repeated_or_in_one_option(call, fit_file):
    together = call("predict", fit_file, "--N", "1B,2B", "--D", "20B", "--json").json()
    apart = call("predict", fit_file, "--N", "1B", "--N", "2B", "--D", "20B", "--json").json()
    assert together == apart
    separators = call("predict", fit_file, "--N", "1,000,000,000", "--D", "20B", "--json").json()
    assert separators["predictions"][0]["N"] == 1e9


def test_predict_far_outside_says_so(call, fit_file):
    record = call("predict", fit_file, "--N", "70B", "--D", "1.4T", "--json").json()
    assert record["predictions"][0]["outside"]["factor"]["C"] > 100
    assert any("Beyond the data" in w for w in record["warnings"])


def test_allocate(call, fit_file):
    record = call("allocate", fit_file, "--C", "1e22,1e23", "--N", "70B", "--json").json()
    assert [a["C"] for a in record["allocations"]] == [1e22, 1e23]
    for budget in record["allocations"]:
        size, tokens = budget["N_opt"]["median"], budget["D_opt"]["median"]
        assert 6 * size * tokens == pytest.approx(budget["C"], rel=0.02)
        assert set(budget["tokens_per_param"]) >= LEVELS
        (choice,) = budget["choices"]
        assert choice["expected_regret"] >= budget["recommended"]["expected_regret"] >= 0
    assert record["exponents"]["a"]["q05"] < 0.5087 < record["exponents"]["a"]["q95"]


def test_allocate_with_another_cost(call, fit_file):
    six = call("allocate", fit_file, "--C", "1e22", "--json").json()
    eight = call("allocate", fit_file, "--C", "1e22", "--factor", "8", "--json").json()
    assert "8 N D" in eight["cost"]
    ratio = (
        six["allocations"][0]["D_opt"]["median"] * six["allocations"][0]["N_opt"]["median"]
    ) / (eight["allocations"][0]["D_opt"]["median"] * eight["allocations"][0]["N_opt"]["median"])
    assert ratio == pytest.approx(8 / 6, rel=0.02)


def test_multiplier_of_a_fit_against_itself_is_one(call, fit_file):
    record = call("multiplier", fit_file, fit_file, "--C", "1e21", "--json").json()
    found = record["multipliers"][0]["multiplier"]
    assert found["q05"] < 1 < found["q95"]
    assert record["converged"] is True


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal(call, fit_file, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for args in (
        ["predict", fit_file, "--N", "7B,70B", "--D", "1.4T"],
        ["allocate", fit_file, "--C", "1e22,1e23,5.76e23"],
        ["laws"],
        ["laws", "coupled"],
        ["datasets"],
    ):
        ended = call(*args)
        assert ended.code == 0
        assert max(map(len, ended.out.splitlines())) <= width


def test_numbers_are_never_broken_at_80_columns(call, fit_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = call("allocate", fit_file, "--C", "1e22,5.76e23").out
    intervals = [line for line in out.splitlines() if line.strip().startswith("90% ")]
    assert len(intervals) == 5  # four quantities turned on their side, and the note
    assert all(line.count(" to ") == 2 for line in intervals[:4])


def test_plot_writes_a_picture(call, fit_file, tmp_path):
    path = tmp_path / "a.png"
    ended = call("plot", fit_file, "--kind", "allocation", "-o", path)
    assert ended.code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {path}" in ended.out.replace("\n", "")


def test_plot_default_name_and_json(call, fit_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = call("plot", fit_file, "--kind", "isoflop", "--C", "1e20,1e21", "--json").json()
    assert record == {"kind": "isoflop", "output": "fit-isoflop.png", "converged": True}
    assert (tmp_path / "fit-isoflop.png").stat().st_size > 10_000
