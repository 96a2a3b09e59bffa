"""Several methods over one ensemble, as ``partita run -m a,b``."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import partita as pt
from conftest import labels_of, own_of

RECIPE = {"base_k": "2..6", "scale": "zscore", "random_state": 4}
FLAGS = ["--base", "kmeans:8", "--base-k", "2..6", "--scale", "zscore", "--seed", 4]


@pytest.fixture(scope="module")
def both(datasets, command, tmp_path_factory):
    """A run of the command line with three methods, and the same from Python."""
    folder = tmp_path_factory.mktemp("several") / "out"
    more = ["--set", "mm.restarts=3", "--set", "iterations=40", "-m", "lwgp,mm,kcc"]
    command("run", datasets / "iris.csv", "--truth", "label", "-k", 3, *FLAGS, *more, "-o", folder)
    ensemble = pt.generate(pt.read_table(datasets / "iris.csv", truth="label"), "kmeans:8", **RECIPE)
    methods = {"lwgp": {}, "mm": {"restarts": 3}, "kcc": {}}
    return folder, ensemble, pt.consensus(ensemble, 3, methods, random_state=4, iterations=40)


def test_the_results_are_those_of_the_command_line(both):
    folder, ensemble, found = both
    assert list(found) == ["lwgp", "mm", "kcc"] and len(found) == 3 and "mm" in found and "pcc-kl" not in found
    for name, result in found.items():
        assert result.labels_.tolist() == labels_of(folder / ("" if name == "lwgp" else name) / "labels.csv"), name
        assert result.method == name and result.record_["methods"][0]["method"] == name
    assert own_of(found.record_) == own_of(json.loads((folder / "record.json").read_text()))
    assert found.first is found["lwgp"] and found.ensemble_ == ensemble
    assert found["mm"].settings["restarts"] == 3 and found["kcc"].settings["iterations"] == 40
    assert "lwgp (3 clusters), mm" in repr(found)
    with pytest.raises(KeyError, match="there are lwgp, mm, kcc"):
        found["pcc-kl"]
    assert found.get("pcc-kl") is None


def test_each_result_is_that_of_its_method_alone(both):
    _, ensemble, found = both
    alone = pt.consensus(ensemble, 3, "mm", random_state=4, restarts=3, iterations=40)
    one = found["mm"]
    for name in ("labels_", "agreement_", "probability_", "probabilities_"):
        assert np.array_equal(getattr(one, name), getattr(alone, name)), name
    assert own_of(one.record_) == own_of(alone.record_) and one.record_["experiment"] == alone.record_["experiment"]
    assert one.relations().shares.tolist() == alone.relations().shares.tolist()
    assert one.model().info == alone.model().info
    assert "Methods against each other" in one.report() and "Methods against each other" not in alone.report()


def test_runs_are_saved_and_repeated(both, command, tmp_path):
    folder, _, found = both
    record = found.save_run(tmp_path / "all")
    assert [method["method"] for method in record["methods"]] == list(found)
    for place in ("", "mm", "kcc"):
        assert (tmp_path / "all" / place / "labels.csv").read_bytes() == (folder / place / "labels.csv").read_bytes()
        if place == "mm":
            assert (tmp_path / "all/mm/soft.csv").read_bytes() == (folder / "mm/soft.csv").read_bytes()
        assert "Methods against each other" in (tmp_path / "all" / place / "report.html").read_text()
    command("run", "--from", tmp_path / "all" / "record.json", "-o", tmp_path / "again", "--no-report")
    assert labels_of(tmp_path / "again" / "mm" / "labels.csv") == found["mm"].labels_.tolist()
    again = pt.repeat(tmp_path / "all" / "record.json", ["lwgp", "kcc"])
    assert list(again) == ["lwgp", "kcc"] and np.array_equal(again["kcc"].labels_, found["kcc"].labels_)
    with pytest.raises(pt.InputError, match="method=best is not in the record, which has lwgp, mm, kcc"):
        pt.repeat(tmp_path / "all" / "record.json", "best")
    # A record of the command line, which reads the table and makes the base clusterings.
    with pytest.raises(pt.InputError, match="lwgp, mm, kcc"):
        pt.repeat(folder / "record.json")
    assert pt.repeat(folder / "record.json", "mm").labels_.tolist() == labels_of(folder / "mm" / "labels.csv")
    # One of them alone.
    record = found["mm"].save_run(tmp_path / "one")
    assert [method["method"] for method in record["methods"]] == ["mm"] and not (tmp_path / "one" / "mm").exists()
    assert pt.repeat(tmp_path / "one" / "record.json").labels_.tolist() == found["mm"].labels_.tolist()


def test_pickles_and_frames(both, tmp_path):
    _, ensemble, found = both
    copy = pickle.loads(pickle.dumps(found))
    assert copy.record_ == found.record_ and np.array_equal(copy["kcc"].labels_, found["kcc"].labels_)
    with pytest.raises(pt.InputError, match="pickle"):
        copy.save_run(tmp_path / "out")
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == list(found) and frame["mm"].tolist() == found["mm"].labels_.tolist()


def test_one_number_of_clusters_for_all(ensemble):
    found = pt.consensus(ensemble, range(2, 7), ["lwgp", "mm"])
    assert found.record_["choice"]["clusters"] == 3 == found["lwgp"].n_clusters == found["mm"].n_clusters


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ([], "name at least one method"),
        (["mm", "mm"], "each once"),
        (["mm", 7], "method=7"),
        ({"mm": 3}, "such as {'restarts': 3}"),
        (["mm", "nothing"], "no method 'nothing'"),
    ],
)
def test_methods_that_do_not_fit(ensemble, method, said):
    with pytest.raises(pt.InputError) as error:
        pt.consensus(ensemble, 3, method)
    assert said in str(error.value)


def test_settings_that_one_of_the_methods_lacks(ensemble):
    with pytest.raises(pt.SettingError) as error:
        pt.consensus(ensemble, 3, ["mm", "eac-average"], restarts=3)
    assert error.value.name == "restarts"


def test_one_method_where_one_is_meant(ensemble, labels):
    pytest.importorskip("sklearn")
    with pytest.raises(pt.InputError, match="name one of"):
        pt.LabelConsensus(3, method=["lwgp", "mm"]).fit(labels)


def test_an_exception_of_a_callback_stops_all_methods():
    """Only Ctrl-C leaves results behind; what a callback raises comes through as it is."""

    def refuse(what, done, total):
        if what == "mm":
            raise RuntimeError("enough")

    labels = np.random.default_rng(0).integers(0, 8, size=(20_000, 30))
    methods = {"lwgp": {"restarts": 1}, "mm": {"restarts": 2, "tolerance": 0.0, "iterations": 100_000}}
    with pytest.raises(RuntimeError, match="enough"):
        pt.consensus(labels, 5, methods, progress=refuse)
