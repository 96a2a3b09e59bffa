"""Files, texts, comparison by names and records: what the command line does with them, done from Python."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import partita as pt
from conftest import column_of, labels_of, numbers_of, read_table, run_python


@pytest.fixture
def cells(tmp_path):
    """Six cells under odd names, labels of two tools and classes, as a spreadsheet exports them."""
    path = tmp_path / "cells.csv"
    path.write_text("barcode;kind;a;b;c\nu;x;1;1;9\nv;x;1;-;9\nw;y;2;2;8\nx;y;2;2;8\ny;y;2;1;8\nz;x;1;1;9\n")
    return path


def test_read_options_are_those_of_the_command_line(cells, command, tmp_path):
    flags = ["--id", "barcode", "--truth", "kind", "--missing", "-", "--skip", "c", "--delimiter", ";", "--header"]
    record = json.loads(command("consensus", cells, *flags, "-k", 2, "-m", "eac-average", "--json", "-o", tmp_path / "l.csv"))
    ensemble = pt.read_ensemble(cells, id="barcode", truth="kind", missing=["-"], skip=["c"], delimiter=";", header=True)
    assert (ensemble.object_names, ensemble.truth) == (list("uvwxyz"), list("xxyyyx"))
    assert ensemble.names == ["a", "b"] and ensemble.missing == 1
    found = pt.consensus(ensemble, 2, "eac-average")
    assert labels_of(tmp_path / "l.csv") == found.labels_.tolist()
    ours, theirs = found.record_["experiment"]["input"], record["experiment"]["input"]
    assert ours == theirs


def test_a_file_without_a_heading_or_truth_and_a_transposed_one(tmp_path):
    (tmp_path / "plain.csv").write_text("1|5\n1|5\n2|6\n")
    made = pt.read_ensemble(tmp_path / "plain.csv", header=False, delimiter="|")
    assert made.shape == (3, 2) and made.names == ["1", "2"]
    assert pt.read_ensemble(tmp_path / "plain.csv", header=False, delimiter="|", transpose=True).shape == (2, 3)
    (tmp_path / "label.csv").write_text("a,label\n1,1\n1,1\n2,2\n")
    assert pt.read_ensemble(tmp_path / "label.csv").names == ["a"]
    assert pt.read_ensemble(tmp_path / "label.csv", truth=False).names == ["a", "label"]


@pytest.mark.parametrize(
    ("options", "said"),
    [({"truth": True}, "name the column"), ({"missing": "a"}, "a list"), ({"delimiter": "ab"}, "one character"), ({"decimal": ";"}, "write '.' or"), ({"id": "nothing"}, "nothing")],
)
def test_read_options_that_do_not_fit(cells, options, said):
    with pytest.raises(pt.InputError, match=said):
        pt.read_ensemble(cells, **options)


def test_ensembles_of_several_files(tmp_path, command):
    (tmp_path / "seurat.csv").write_text("cell,seurat\nu,1\nv,1\nw,2\nx,2\n")
    (tmp_path / "scanpy.csv").write_text("cell,scanpy\nx,T\nw,T\nv,B\nu,B\n")
    (tmp_path / "sc3.csv").write_text("cell,sc3\nu,7\nw,9\nx,9\n")
    files = [tmp_path / name for name in ("seurat.csv", "scanpy.csv", "sc3.csv")]
    record = json.loads(command("consensus", *files, "--id", "cell", "-k", 2, "--json", "-o", tmp_path / "l.csv"))
    ensemble = pt.read_ensemble(*files, id="cell")
    assert ensemble.names == ["seurat", "scanpy", "sc3"] and ensemble.missing == 1
    found = pt.consensus(ensemble, 2)
    assert found.record_["experiment"]["input"] == record["experiment"]["input"]
    assert [file["sha256"] for file in found.record_["inputs"]] == [file["sha256"] for file in record["inputs"]]
    (tmp_path / "record.json").write_text(json.dumps(found.record_))
    assert np.array_equal(pt.repeat(tmp_path / "record.json").labels_, found.labels_)


def test_tables(datasets, command, tmp_path):
    flags = ["--truth", "label", "--filter-labels", "setosa,virginica", "--max-per-label", 20, "--seed", 3]
    command("generate", datasets / "iris.csv", *flags, "--base", "kmeans:5", "--base-k", 3, "-o", tmp_path / "e.npz")
    table = pt.read_table(datasets / "iris.csv", truth="label", filter_labels=["setosa", "virginica"], max_per_label=20, random_state=3)
    assert table.shape == (40, 4) and sorted(set(table.truth)) == ["setosa", "virginica"] and "true classes" in repr(table)
    assert pt.generate(table, "kmeans:5", base_k=3, random_state=3) == pt.read_ensemble(tmp_path / "e.npz")
    names, values, _ = read_table(datasets / "iris.csv")
    whole = pt.read_table(datasets / "iris.csv")
    assert whole.columns == names and np.array_equal(whole.X, values)


def test_words_and_gaps_of_tables(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,colour\na,1,red\nb,,blue\nc,3,red\n")
    for keywords in ({"impute": "mean", "encode": "none"}, {"impute": "none", "skip": "colour"}):
        with pytest.raises(pt.InputError, match="colour|column 'x'"):
            pt.read_table(path, **keywords)
    table = pt.read_table(path, impute="mean", encode="one-hot")
    assert table.columns == ["x", "colour=red", "colour=blue"] and table.X[:, 0].tolist() == [1, 2, 3]
    assert table.object_names == ["a", "b", "c"]
    assert pt.read_table(path, impute="mean", encode="ordinal").X[:, 1].tolist() == [1, 0, 1]
    with pytest.raises(pt.InputError, match="two-hot"):
        pt.read_table(path, encode="two-hot")
    pandas = pytest.importorskip("pandas")
    assert isinstance(table.to_frame(), pandas.DataFrame) and table.to_frame().index.tolist() == ["a", "b", "c"]


DOCUMENTS = ["cats and dogs", "a dog barks at cats", "cats purr", None, "dogs bark loudly", "purring cats sleep"]


def test_texts(command, tmp_path):
    pytest.importorskip("scipy")
    lines = "".join(f"d{at},{text or ''}\n" for at, text in enumerate(DOCUMENTS))
    (tmp_path / "documents.csv").write_text("id,text\n" + lines)
    settings = ["--set", "min_documents=2", "--set", "idf=smooth"]
    said = json.loads(command("text", tmp_path / "documents.csv", "--column", "text", *settings, "-o", tmp_path / "w.npz", "--json"))
    words = pt.text(DOCUMENTS, min_documents=2, idf="smooth")
    theirs = pt.read_table(tmp_path / "w.npz")
    assert words.columns == theirs.columns and words.shape == (said["documents"], said["words"])
    assert np.array_equal(words.X.toarray(), theirs.X.toarray())
    assert theirs.object_names == [f"d{at}" for at in range(6)]
    base = {"base_k": 2, "subsample": 1.0}
    assert np.array_equal(pt.generate(words, "kmeans:5", **base).to_numpy(), pt.generate(theirs, "kmeans:5", **base).to_numpy())
    pandas = pytest.importorskip("pandas")
    named = pt.text(pandas.Series(DOCUMENTS, index=list("abcdef")), min_documents=2, idf="smooth")
    assert named.object_names == list("abcdef") and np.array_equal(named.X.toarray(), words.X.toarray())


def test_what_is_not_a_text():
    with pytest.raises(pt.InputError, match="document 1"):
        pt.text(["a", 7])
    with pytest.raises(pt.InputError, match="list"):
        pt.text("a text")
    with pytest.raises(pt.SettingError) as error:
        pt.text(["a dog"], nothing=1)
    assert error.value.name == "nothing"


def unadvised(facts):
    """Facts without what changes each column, which a door says in its words."""
    for column in facts.get("file_columns", []):
        del column["change"]
    return facts


def test_inspect(ensemble_file, result, datasets, command, tmp_path):
    result.save_run(tmp_path / "run")
    result.save(tmp_path / "m.json")
    for path in (ensemble_file, tmp_path / "run", tmp_path / "m.json", datasets / "iris.csv"):
        assert unadvised(pt.inspect(path)) == unadvised(json.loads(command("inspect", path, "--json"))), path
    assert pt.inspect(datasets / "iris.csv")["kind"] == "table" and pt.inspect(ensemble_file)["kind"] == "ensemble"
    flags = ["--as", "ensemble", "--skip", "b,c", "--delimiter", ";", "--id", "barcode", "--truth", "kind"]
    (tmp_path / "c.csv").write_text("barcode;kind;a;b;c\nu;x;1;1;9\nv;x;1;3;9\nw;y;2;2;8\n")
    said = json.loads(command("inspect", tmp_path / "c.csv", *flags, "--json"))
    found = pt.inspect(tmp_path / "c.csv", "ensemble", skip=["b", "c"], delimiter=";", id="barcode", truth="kind")
    assert unadvised(found) == unadvised(said)
    with pytest.raises(pt.InputError, match="'page' is no kind of file"):
        pt.inspect(tmp_path / "c.csv", "page")


def test_scores_by_name(command, tmp_path):
    (tmp_path / "found.csv").write_text("object,label\nu,0\nv,1\nw,1\nx,0\n")
    (tmp_path / "truth.csv").write_text("cell,kind,tissue\nv,B,t\nx,A,s\nw,B,s\nu,A,t\n")
    place = f"{tmp_path / 'truth.csv'}:kind"
    said = json.loads(command("evaluate", tmp_path / "found.csv", "--truth", place, "--json"))
    assert said.pop("js") is None and said["ari"] == 1
    assert pt.metrics.scores(tmp_path / "found.csv", place) == said
    found, truth = {"u": 0, "v": 1, "w": 1, "x": 0}, {"v": "B", "x": "A", "w": "B", "u": "A"}
    assert pt.metrics.scores(found, truth) == said
    pandas = pytest.importorskip("pandas")
    assert pt.metrics.scores(pandas.Series(found), pandas.Series(truth)) == said
    # By place they differ.
    assert pt.metrics.scores(list(found.values()), list(truth.values()))["ari"] < 1
    with pytest.raises(pt.InputError, match="object 'q' is not in truth"):
        pt.metrics.scores({**found, "q": 1}, truth)
    assert pt.metrics.scores({**found, "q": 1}, truth, common=True) == said
    assert pt.metrics.scores({**found, "q": 1}, {**truth, "q": None}) == said
    with pytest.raises(pt.InputError, match="two files, or neither"):
        pt.metrics.scores(tmp_path / "found.csv", truth)
    with pytest.raises(pt.InputError, match="by their names"):
        pt.metrics.scores([0, 1], [0, 1], common=True)


def test_perplexity(labels, command, tmp_path):
    pt.Ensemble(labels[:60]).save(tmp_path / "e.npz")
    pt.Ensemble(labels[60:]).save(tmp_path / "new.npz")
    command("consensus", tmp_path / "e.npz", "-m", "mm", "-k", 3, "--model", tmp_path / "m.json", "-o", tmp_path / "l.csv")
    said = json.loads(command("evaluate", "--model", tmp_path / "m.json", "--held-out", tmp_path / "new.npz", "--json"))
    assert pt.load_model(tmp_path / "m.json").perplexity(labels[60:]) == said["perplexity"] > 1


def test_labels_that_a_model_does_not_know(labels, result):
    model, other = result.model(), labels.copy()
    other[0, 0] = 99
    with pytest.warns(pt.PartitaWarning, match="1 values are unknown"):
        found = model.predict_proba(other)
    assert found.shape == (90, 3)
    with pytest.raises(pt.InputError, match="unknown='missing'"):
        model.predict_proba(other, unknown="refuse")
    with pytest.raises(pt.InputError, match="write 'missing' or 'refuse'"):
        model.predict_proba(labels, unknown="guess")


@pytest.mark.parametrize("method", ["pcc-kl", "mm"])
def test_relations(ensemble, ensemble_file, method, command, tmp_path):
    outputs = ["--relations", tmp_path / "r.csv", "--threshold", 0.05, "-o", tmp_path / "l.csv"]
    command("consensus", ensemble_file, "-m", method, "-k", 3, *outputs)
    written = numbers_of(tmp_path / "r.csv")
    found = pt.consensus(ensemble, 3, method).relations(0.05)
    assert [line[0] for line in written] == found.objects.tolist()
    assert [line[1:] for line in written] == found.shares.tolist()
    with pytest.raises(pt.InputError):
        pt.consensus(ensemble, 3, method).relations(2)


def test_agreement_counts_weights(ensemble, ensemble_file, command, tmp_path):
    """Agreement is that of the weights that the run had, wherever they came from."""
    flags = ["--base-weights", "agreement", "-m", "lwgp", "-k", 3]
    command("consensus", ensemble_file, *flags, "-o", tmp_path / "l.csv")
    found = pt.consensus(ensemble, 3, "lwgp", base_weights="agreement")
    assert found.agreement_.tolist() == column_of(tmp_path / "l.csv", "agreement")
    assert not np.array_equal(found.agreement_, pt.consensus(ensemble, 3, "lwgp").agreement_)
    record = found.save_run(tmp_path / "run")
    assert record["experiment"]["base_weights"] == "agreement" and not (tmp_path / "run/weights.csv").exists()
    assert (tmp_path / "run/labels.csv").read_text() == (tmp_path / "l.csv").read_text()


def test_records_are_repeated(ensemble, command, tmp_path):
    ensemble.save(tmp_path / "e.npz")
    command("consensus", tmp_path / "e.npz", "-m", "pcc-l2", "-k", 3, "--seed", 4, "-o", f"{tmp_path / 'out'}{os.sep}")
    again = pt.repeat(tmp_path / "out/record.json")
    assert labels_of(tmp_path / "out/labels.csv") == again.labels_.tolist()
    assert again.record_["experiment"]["seed"] == 4
    pt.Ensemble(ensemble.to_numpy()[::-1]).save(tmp_path / "e.npz")
    with pytest.raises(pt.InputError, match="e.npz"):
        pt.repeat(tmp_path / "out/record.json")
    assert len(pt.repeat(tmp_path / "out/record.json", allow_changed_input=True)) == 90


def test_methods_are_searched(command):
    said = json.loads(command("methods", "--search", "ECC", "--json"))
    found = pt.methods(search="ECC")
    assert set(said["methods"]) <= set(found) and said["known_as"]
    assert {name for entry in said["known_as"] for name in entry["methods"]} <= set(found)
    assert any(method["known_as"] for method in found.values()) and pt.methods(search="no such word") == {}


def test_recipes_of_files(blobs, tmp_path):
    (tmp_path / "recipe.toml").write_text('base = ["kmeans:4", "ward:2"]\nbase_k = "3..4"\nsubsample = 0.8\n')
    made = pt.generate(blobs, tmp_path / "recipe.toml", random_state=5)
    assert made == pt.generate(blobs, "kmeans:4,ward:2", base_k="3..4", subsample=0.8, random_state=5)
    assert made.recipe["base"] == ["kmeans:4", "ward:2"] and made.recipe["seed"] == 5
    made.save(tmp_path / "e.npz")
    # An ensemble brings its seed.
    assert pt.generate(blobs, tmp_path / "e.npz") == made
    assert pt.generate(blobs, tmp_path / "e.npz", random_state=6) != made
    genie = pt.generate(blobs, "genie:4", base_k=3, gini=[0.3])
    assert genie.recipe["gini"] == [0.3]
    with pytest.raises(pt.InputError, match="two recipes"):
        pt.generate(blobs, tmp_path / "recipe.toml", preset="kdd")


CUT_SHORT = """
import os, signal, sys, threading
import numpy as np, partita as pt
X = np.random.default_rng(1).normal(size=(2000, 8))
path = sys.argv[1]
def stop():
    # Some are finished, most are not.
    while not os.path.exists(path) or os.path.getsize(path) < 20_000:
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=stop, daemon=True).start()
try:
    pt.generate(X, "kmeans:400", base_k=20, part_file=path, n_jobs=1)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_generation_goes_on_where_it_was_cut_short(tmp_path):
    path = tmp_path / "e.part"
    run_python("-c", CUT_SHORT, path, code=7)
    assert path.exists()
    X = np.random.default_rng(1).normal(size=(2000, 8))
    with pytest.raises(pt.InputError, match="e.part"):
        pt.generate(X, "kmeans:400", base_k=21, part_file=path)
    made = pt.generate(X, "kmeans:400", base_k=20, part_file=path)
    assert made.shape == (2000, 400) and not path.exists()
    assert made == pt.generate(X, "kmeans:400", base_k=20)
