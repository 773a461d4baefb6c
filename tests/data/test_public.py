"""Public data sets: the catalogue, where files come from, what is taken of them."""

import hashlib
import http.server
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from bayescale.data import datasets, find_dataset, load_dataset, read_runs
from bayescale.errors import DataError

NAMES = [record.name for record in datasets()]
COUNTS = {
    "chinchilla-epoch": 245,
    "porian": 62,
    "porian-owt2": 62,
    "gadre-c4": 34,
    "gadre-rpj": 35,
    "gadre-rw": 35,
    "gemstones": 199,
    "misfitting": 81,
    "step-law": 17,
    "llama3-isoflop": 133,
    "marin-comma": 85,
    "marin-dclm": 85,
    "marin-nemotron": 88,
    "datablations-one-epoch": 31,
}


# of other designs: mixtures, repeated data, curves, experts, scores
OTHERS = {
    "simulated-sweep": 72,
    "step-law-sweep": 1730,
    "simulated-mixtures": 470,
    "simulated-text-multimodal": 294,
    "simulated-backbones": 170,
    "datablations-repetition": 196,
    "openclip": 29,
    "slimpajama-mixtures": 224,
    "mixinglaws-two": 10,
    "mixinglaws-three": 41,
    "mixinglaws-five": 106,
    "code-mix": 10,
    "bilingual": 27,
    "addition": 17,
    "nmt-6enc-6dec": 11,
    "nmt-28enc-6dec": 10,
    "nmt-6enc-28dec": 11,
    "nmt-dec-only": 11,
    "nmt-tenc-lstm": 10,
    "gemstones-curves": 3850,
    "routing-s-base": 53,
    "routing-hash": 51,
    "routing-rl-r": 54,
    "vlm-capability": 96,
    "obs-scaling": 148,
}


@pytest.fixture
def local(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    return data_dir


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Point the user's cache at an empty folder and unset BAYESCALE_DATA."""
    monkeypatch.delenv("BAYESCALE_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / name))
    return tmp_path / "bayescale" / "datasets"


def test_records_are_whole():
    assert set(COUNTS) <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    for record in datasets():
        assert len(record.sha256) == 64 or record.simulator
        assert record.title
        assert record.citation
        assert record.licence
        assert record.note
        assert record.laws
        if record.url:
            commit = record.url.split("/")[5]
            assert len(commit) == 40
            assert record.url.endswith(record.file.split("/")[-1])


def test_every_set_is_counted():
    assert {*COUNTS, *OTHERS} == {d.name for d in datasets()}


def test_laws_of_the_records_are_known():
    from bayescale.families import FAMILIES
    from bayescale.laws import LAWS

    for record in datasets():
        for law in record.laws:
            assert law in LAWS or law in FAMILIES, (record.name, law)


@pytest.mark.parametrize("name", OTHERS)
def test_other_sets_load(name, local):
    runs = load_dataset(name)
    assert (runs.source, len(runs)) == (name, OTHERS[name])
    assert not {flag.kind for flag in runs.flags} & {"checksum", "cost-far"}


@pytest.mark.parametrize("name", COUNTS)
def test_every_set_loads(name, local):
    runs = load_dataset(name)
    record = find_dataset(name)
    assert runs.source == name
    assert runs.sha256 == record.sha256
    assert len(runs) == COUNTS[name]
    runs.require(["N", "D", "C", "loss"], "test")
    kinds = {flag.kind for flag in runs.flags}
    assert "note" in kinds
    assert not kinds & {"checksum", "diverged", "duplicates", "repeats", "cost-far"}
    content = (local / record.file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == record.sha256


def test_best_of_each_cell(local):
    runs = load_dataset("step-law")
    assert runs.columns["loss"] == "smooth loss"
    cells = np.column_stack([runs.column("N"), runs.column("D")])
    assert len(np.unique(cells, axis=0)) == len(runs)
    everything = read_runs(str(local / find_dataset("step-law").file), loss="smooth loss")
    best = everything.table.groupby(["N", "D"])["loss"].min()
    np.testing.assert_array_equal(np.sort(runs.column("loss")), np.sort(best))


def test_porian_slice(local):
    runs = load_dataset("porian")
    ratio = runs.column("D") / runs.column("N")
    assert ratio.min() > 3
    assert ratio.max() < 300
    assert set(runs.table["dataset"]) == {"refinedweb"}


def test_a_name_takes_the_options_of_read_runs(local):
    runs = read_runs("chinchilla-epoch", where="C < 1e20")
    assert runs.column("C").max() < 1e20
    assert len(read_runs("chinchilla-epoch")) == 245


def test_a_file_beats_a_data_set_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemstones.csv").write_text("N,D,loss\n1e8,2e9,3\n4e8,8e9,2.8\n1e9,2e10,2.7\n")
    assert len(read_runs("gemstones.csv")) == 3
    assert len(read_runs(tmp_path / "gemstones.csv")) == 3


def test_another_copy_is_flagged_not_refused(local, tmp_path, monkeypatch):
    record = find_dataset("chinchilla-epoch")
    target = tmp_path / record.file
    target.parent.mkdir()
    lines = (local / record.file).read_text().splitlines()
    target.write_text("\n".join(lines[:100]))
    monkeypatch.setenv("BAYESCALE_DATA", str(tmp_path))
    runs = load_dataset(record.name)
    assert len(runs) == 99
    assert runs.flags[0].kind == "checksum"


def test_a_folder_without_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"svg_extracted_data.csv is missing; BAYESCALE_DATA must"):
        load_dataset("chinchilla-epoch")
    monkeypatch.setenv("BAYESCALE_DATA", str(tmp_path / "no"))
    with pytest.raises(DataError, match="BAYESCALE_DATA names .* which is no folder"):
        load_dataset("chinchilla-epoch")


def test_a_derived_file_has_no_address(cache):
    with pytest.raises(DataError, match="can't be fetched: its file was derived.*BAYESCALE_DATA"):
        load_dataset("gadre-c4")


def test_a_packaged_file_that_is_missing(cache):
    record = replace(find_dataset("porian"), packaged=True, file="simulated/no-such.csv")
    with pytest.raises(DataError, match="missing from the installed package"):
        load_dataset(record)


def test_a_packaged_file_is_found_without_folder_or_network(cache, tmp_path, monkeypatch):
    text = "N,D,loss\n1e8,2e9,3.9\n4e8,8e9,3.3\n1e9,2e10,3.0\n"
    (tmp_path / "simulated").mkdir()
    (tmp_path / "simulated" / "sweep.csv").write_text(text)
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    record = replace(
        find_dataset("gemstones"),
        name="simulated-sweep",
        packaged=True,
        file="simulated/sweep.csv",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    assert load_dataset(record).source == "simulated-sweep"


@pytest.fixture
def server():
    """Serve a small table over HTTP on this machine and count the requests."""
    text = b"N,D,loss\n1e8,2e9,3.9\n4e8,8e9,3.3\n1e9,2e10,3.0\n"

    class Handler(http.server.BaseHTTPRequestHandler):
        requests = 0

        def do_GET(self):
            Handler.requests += 1
            self.send_response(200 if "runs" in self.path else 404)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):
            pass

    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    record = replace(
        find_dataset("gemstones"),
        url=f"http://127.0.0.1:{httpd.server_port}/runs.csv",
        file="x/runs.csv",
        sha256=hashlib.sha256(text).hexdigest(),
    )
    yield record, Handler
    httpd.shutdown()
    httpd.server_close()


def test_fetched_once_then_from_the_cache(server, cache, capfd):
    record, handler = server
    assert len(load_dataset(record)) == 3
    assert len(load_dataset(record)) == 3
    assert handler.requests == 1
    assert [p.name for p in cache.iterdir()] == ["x-runs.csv"]
    assert capfd.readouterr().err == ""


def test_another_file_than_the_one_on_record_is_refused(server, cache):
    record, _ = server
    with pytest.raises(DataError, match="another file came.*BAYESCALE_DATA"):
        load_dataset(replace(record, sha256="0" * 64))
    assert not list(cache.glob("*.csv"))


def test_no_such_page_and_no_server(server, cache):
    record, _ = server
    with pytest.raises(DataError, match="couldn't be fetched from .*gone.*BAYESCALE_DATA"):
        load_dataset(replace(record, url=record.url.replace("runs.csv", "gone.csv")))
    with pytest.raises(DataError, match=r"couldn't be fetched .*Error\).*BAYESCALE_DATA") as caught:
        load_dataset(replace(record, url="http://127.0.0.1:9/runs.csv"))
    assert caught.value.__suppress_context__
    assert "\n" not in str(caught.value)


def test_importing_the_package_imports_no_pandas():
    code = (
        "import sys, bayescale.data as d; d.datasets(); d.parse_quantity('7B', 'N'); "
        "print(sorted(m for m in ('pandas', 'scipy', 'pooch', 'narwhals', 'jax') "
        "if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
