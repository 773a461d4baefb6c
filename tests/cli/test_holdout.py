"""``bayescale holdout`` on the sweep that ships with the package."""


def test_json_and_picture(call, sweep, tmp_path):
    picture = tmp_path / "holdout.png"
    ended = call("holdout", "chinchilla", sweep, "--split", "compute:10", "--json",
                 "--plot", picture)  # fmt: skip
    assert ended.code == 0, ended.err
    record = ended.json()
    assert record["split"] == "compute:10"
    assert record["scale"] == "log loss"
    (split,) = record["splits"]
    found = record["results"]["chinchilla"]["overall"]
    assert found["n_test"] == split["n_test"] == len(found["pit"])
    assert set(found["coverage"]) == {"50", "80", "90", "95"}
    # the sweep is the law's own: a right law covers it
    assert found["coverage"]["95"] > 0.7
    assert 0 < found["crps"] < found["median_width"] < 0.2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_messages(call, sweep, tmp_path):
    ended = call("holdout", "chinchilla,couplet", sweep)
    assert ended.code == 1
    assert "Did you mean 'coupled'" in ended.err
    ended = call("holdout", "chinchilla", sweep, "--split", "computer:10")
    assert ended.code == 1
    assert "Did you mean 'compute'" in ended.err
    ended = call("holdout", "chinchilla", sweep, "--stack")
    assert "two laws or more" in ended.err
    ended = call("holdout", "chinchilla", sweep, "--plot", tmp_path / "picture.jpg")
    assert "ends in .png" in ended.err
