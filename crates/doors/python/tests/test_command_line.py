"""What Python computes is what the command line computes, to the byte."""

from __future__ import annotations

import json

import numpy as np
import pytest

import partita as pt
from conftest import column_of, labels_of, numbers_of, own_of, read_table, rows_of

SETS = {"iris": 3, "wine": 3, "wdbc": 2}
METHODS = [name for name in pt.methods() if name != "best"]
WEIGHTED = next(name for name, method in pt.methods().items() if method["weighted"])
# Which would take as long as all others.
SETTINGS = {"baum-eagon": {"iterations": 50}}
RECIPE = {"base_k": "2..6", "subsample": 0.8, "scale": "zscore"}


@pytest.fixture(scope="module", params=list(SETS))
def both(request, datasets, command, tmp_path_factory):
    """A run of the command line with all methods on a data set, and the same ensemble from Python."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param) / "out"
    # Every third object of the larger set: some methods take n².
    heading, *rows = (datasets / f"{name}.csv").read_text().splitlines()
    path = tmp_path_factory.mktemp("tables") / f"{name}.csv"
    path.write_text("\n".join([heading, *rows[:: 3 if len(rows) > 200 else 1]]) + "\n")
    names, values, _ = read_table(path)
    flags = ["--base", "kmeans:12", "--base-k", "2..6", "--subsample", 0.8, "--scale", "zscore", "--seed", 5]
    pairs = [f"{method}.{name}={value}" for method, some in SETTINGS.items() for name, value in some.items()]
    settings = [word for pair in pairs for word in ("--set", pair)]
    command("run", path, "--truth", "label", "-k", SETS[name], *flags, "-m", ",".join(METHODS), *settings, "-o", folder, "--no-report")
    ensemble = pt.generate(table(names, values), "kmeans:12", random_state=5, **RECIPE)
    return name, folder, ensemble, table(names, values)


def table(names, values):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(values, columns=names)


def test_base_clusterings(both):
    _, folder, ensemble, _ = both
    written = pt.read_ensemble(folder / "ensemble.npz")
    assert written == ensemble
    assert written.recipe == ensemble.recipe


@pytest.mark.parametrize("method", METHODS)
def test_every_method(both, method):
    name, folder, ensemble, features = both
    place = folder if method == METHODS[0] else folder / method
    found = pt.consensus(ensemble, SETS[name], method, features=features, random_state=5, **SETTINGS.get(method, {}))
    assert labels_of(place / "labels.csv") == found.labels_.tolist()
    assert column_of(place / "labels.csv", "agreement") == found.agreement_.tolist()
    assert (found.probabilities_ is not None) == pt.methods()[method]["soft"]
    assert (place / "soft.csv").exists() == (found.probabilities_ is not None)
    if found.probabilities_ is not None:
        assert np.array_equal(numbers_of(place / "soft.csv"), found.probabilities_)
        assert column_of(place / "labels.csv", "probability") == found.probability_.tolist()
    assert own_of(found.record_) == [own_of(json.loads((folder / "record.json").read_text()))[METHODS.index(method)]]


def test_best(ensemble, ensemble_file, command, tmp_path):
    command("consensus", ensemble_file, "-m", "best", "--set", "among=eac-average,lwgp,mm", "-k", 3, "-o", tmp_path / "l.csv")
    found = pt.consensus(ensemble, 3, "best", among="eac-average,lwgp,mm")
    assert labels_of(tmp_path / "l.csv") == found.labels_.tolist()


def test_choice_of_a_number_of_clusters(ensemble, ensemble_file, command, tmp_path):
    record = json.loads(command("consensus", ensemble_file, "-k", "2..6", "--json", "-o", tmp_path / "l.csv"))
    found = pt.consensus(ensemble, range(2, 7))
    assert found.record_["choice"] == record["choice"]
    assert found.n_clusters == record["methods"][0]["clusters"] == 3


def test_choose_k_of_a_table(datasets, command):
    names, values, _ = read_table(datasets / "iris.csv")
    few = ["criterion=rcsi", "runs=10", "draws=3", "draw_runs=5"]
    flags = [word for text in few for word in ("--set", text)]
    said = json.loads(command("choose-k", datasets / "iris.csv", "--truth", "label", "-k", "2..4", *flags, "--json"))
    found = pt.choose_k(table(names, values), range(2, 5), criterion="rcsi", runs=10, draws=3, draw_runs=5)
    assert said["rows"] == found.rows and said["clusters"] == found.n_clusters
    said = json.loads(command("choose-k", datasets / "iris.csv", "--truth", "label", "--json"))
    found = pt.choose_k(table(names, values))
    assert said["rows"] == found.rows and (said["clusters"], said["criterion"]) == (found.n_clusters, "score")
    fitted = pt.ConsensusClustering("auto").fit(values)
    assert fitted.n_clusters_ == found.n_clusters and fitted.record_["choice"]["reason"] == found.reason


def test_methods(command):
    assert json.loads(command("methods", "--json"))["methods"] == list(pt.methods().values())


def test_evaluate(command, tmp_path, result, truth):
    for name, column in (("found", result.labels_), ("truth", truth)):
        rows = "".join(f"o{at},{label}\n" for at, label in enumerate(column))
        (tmp_path / f"{name}.csv").write_text("object,label\n" + rows)
    said = json.loads(command("evaluate", tmp_path / "found.csv", "--truth", tmp_path / "truth.csv", "--json"))
    said.pop("js")
    assert said == pt.metrics.scores(result.labels_, truth)


def test_models_go_both_ways(ensemble_file, labels, result, command, tmp_path):
    command("consensus", ensemble_file, "-k", 3, "--model", tmp_path / "m.json", "-o", tmp_path / "l.csv")
    theirs = pt.load_model(tmp_path / "m.json")
    assert np.array_equal(theirs.predict_proba(labels), result.predict_proba(labels))
    result.save(tmp_path / "ours.json")
    command("predict", tmp_path / "ours.json", ensemble_file, "-o", tmp_path / "p.csv")
    assert labels_of(tmp_path / "p.csv") == result.predict(labels).tolist()


@pytest.mark.parametrize("keywords", [{"method": "pcc-l2"}, {"method": WEIGHTED, "base_weights": np.linspace(0.5, 2, 8)}])
def test_a_run_is_repeated_from_its_record(ensemble, command, tmp_path, keywords):
    record = pt.consensus(ensemble, 3, random_state=9, **keywords).save_run(tmp_path / "run")
    assert record["inputs"][0]["sha256"]
    again = json.loads(command("run", "--from", tmp_path / "run" / "record.json", "-o", tmp_path / "again", "--json"))
    assert again["experiment"]["seed"] == 9
    assert (tmp_path / "run/labels.csv").read_bytes() == (tmp_path / "again/labels.csv").read_bytes()
    assert "<html" in (tmp_path / "run" / "report.html").read_text()


def test_records_of_files_name_the_file(ensemble, command, tmp_path):
    ensemble.save(tmp_path / "e.csv")
    result = pt.consensus(pt.read_ensemble(tmp_path / "e.csv"), 3, random_state=2)
    (tmp_path / "record.json").write_text(json.dumps(result.record_))
    command("run", "--from", tmp_path / "record.json", "-o", tmp_path / "again", "--json")
    assert labels_of(tmp_path / "again" / "labels.csv") == result.labels_.tolist()


def test_cells_as_pandas_writes_them(command, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    kinds = np.arange(3000) * 7 % 6
    rng = np.random.default_rng(4)
    tools = {}
    for tool in ["seurat", "scanpy", "sc3", "cidr", "raceid"]:
        labels = np.where(rng.random(3000) < 0.1, rng.integers(0, 6, 3000), kinds)
        tools[tool] = pd.Categorical.from_codes(np.where(rng.random(3000) < 0.05, -1, labels), [f"c{k}" for k in range(6)])
    tools["celltype"] = pd.Categorical(np.array(["B", "T", "NK", "DC", "Mono", "pDC"])[kinds])
    cells = pd.DataFrame(tools, index=pd.Index([f"AAAC{cell:04}-1" for cell in range(3000)], name="barcode"))
    for name, write in (("cells.parquet", cells.to_parquet), ("cells.csv", cells.to_csv)):
        write(tmp_path / name)
        out = tmp_path / name.replace(".", "_")
        out.mkdir()
        command("consensus", tmp_path / name, "-k", 6, "--truth", "celltype", "-o", out)
        record = json.loads((out / "record.json").read_text())
        assert record["n"] == 3000 and record["base_clusterings"] == 5 and record["scores"]["ari"] > 0.98
        assert record["missing_labels"] == sum(cells[tool].isna().sum() for tool in list(tools)[:5])
        assert [row["object"] for row in rows_of(out / "labels.csv")] == cells.index.tolist()
        scores = json.loads(command("evaluate", out / "labels.csv", "--truth", f"{tmp_path / name}:celltype", "--json"))
        assert scores["ari"] == record["scores"]["ari"]
        assert "AAAC0000-1" in (out / "report.html").read_text()


def grow(labels):
    objects = [f"o{at}" for at in range(90)]
    old = pt.Ensemble(labels[:, :6], names=list("abcdef"), objects=objects)
    return old, pt.Ensemble(labels[:, 6:], names=["g", "h"], objects=objects)


def test_update_by_base_clusterings(labels, command, tmp_path):
    old, more = grow(labels)
    old.save(tmp_path / "e.npz")
    more.save(tmp_path / "more.csv")
    before = pt.consensus(old, 3, "mm")
    before.to_frame().to_csv(tmp_path / "labels.csv", index_label="object")
    flags = ["--warm-start", tmp_path / "labels.csv", "--labels", tmp_path / "new.csv", "--overlap", tmp_path / "theirs.npz"]
    said = json.loads(command("update", tmp_path / "e.npz", "--add", tmp_path / "more.csv", "-o", tmp_path / "all.npz", *flags, "--json"))
    grown = pt.update(old, more, warm_start=before, overlap=tmp_path / "ours.npz")
    assert grown.record_ == said and repr(grown).startswith("Updated(2 base clusterings added")
    assert grown.ensemble_ == pt.read_ensemble(tmp_path / "all.npz")
    assert (tmp_path / "ours.npz").read_bytes() == (tmp_path / "theirs.npz").read_bytes()
    assert labels_of(tmp_path / "new.csv") == grown.labels_.tolist()
    agreement = pt.metrics.object_agreement(grown.labels_, grown.ensemble_)
    assert column_of(tmp_path / "new.csv", "agreement") == agreement.tolist()
    by_labels = pt.update(old, more, warm_start=before.labels_)
    assert np.array_equal(by_labels.labels_, grown.labels_)
    assert pt.update(old, more, overlap=tmp_path / "ours.npz").labels_ is None


def test_update_by_objects(labels, command, tmp_path):
    names = list("abcdefgh")
    old, new = pt.Ensemble(labels[:80], names=names), pt.Ensemble(labels[80:], names=names)
    old.save(tmp_path / "e.npz")
    new.save(tmp_path / "new.npz")
    said = json.loads(command("update", tmp_path / "e.npz", "--add", tmp_path / "new.npz", "-o", tmp_path / "all.npz", "--json"))
    grown = pt.update(old, new)
    assert grown.record_ == said and grown.record_["adding"] == "rows"
    assert grown.ensemble_ == pt.read_ensemble(tmp_path / "all.npz") and grown.ensemble_.shape == (90, 8)
    assert np.array_equal(grown.ensemble_.to_numpy(), pt.Ensemble(labels, names=names).to_numpy())


def test_updates_that_do_not_fit(labels):
    old, more = grow(labels)
    with pytest.raises(pt.InputError, match="adding='cells'"):
        pt.update(old, more, "cells")
    with pytest.raises(pt.InputError, match="'g' already"):
        pt.update(pt.update(old, more).ensemble_, more, "runs")
    with pytest.raises(pt.InputError, match="labels 3 objects"):
        pt.update(old, more, warm_start=[0, 1, 1])


@pytest.mark.parametrize(("family", "settings"), [("half-rings", {}), ("gaussians", {"clusters": 3})])
def test_synth(family, settings, command, tmp_path):
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    soft = ["--soft", tmp_path / "soft.csv"] if family == "gaussians" else []
    command("synth", family, "-n", 150, "--seed", 3, *flags, *soft, "-o", tmp_path / "t.csv")
    drawn = pt.synth(family, 150, random_state=3, **settings)
    names, values, classes = read_table(tmp_path / "t.csv")
    assert names == drawn.columns and np.array_equal(values, drawn.X)
    assert [int(label) for label in classes] == drawn.y.tolist()
    assert (drawn.probabilities is not None) == bool(soft)
    if soft:
        assert np.array_equal(numbers_of(tmp_path / "soft.csv"), drawn.probabilities)


def test_families(command):
    listed = command("synth", "--list").splitlines()[1:]
    assert sorted(line.split()[0] for line in listed) == sorted(pt.synth_families())
    assert pt.synth("smiling-face").X.shape[0] == pt.synth_families()["smiling-face"]["objects"]
    with pytest.raises(pt.InputError):
        pt.synth("nothing")
    with pytest.raises(pt.SettingError):
        pt.synth("half-rings", nothing=1)
