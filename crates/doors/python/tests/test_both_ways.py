"""What one can do on the command line one can do from Python, and the other way round."""

from __future__ import annotations

import json

import numpy as np
import pytest

import partita as pt
from conftest import column_of, rows_of

RECIPE = {"base_k": "2..6", "scale": "zscore", "random_state": 4}


@pytest.fixture(scope="module")
def iris_table(datasets):
    return pt.read_table(datasets / "iris.csv", truth="label")


def pairs_of(path, name):
    """What a file says of pairs of objects."""
    return {(int(row["first"]), int(row["second"])): float(row[name]) for row in rows_of(path)}


def above_the_diagonal(matrix):
    upper = np.triu(matrix, 1)
    return {(int(i), int(j)): upper[i, j] for i, j in zip(*upper.nonzero())}


def test_parts_of_a_job_are_merged_whoever_made_them(iris_table, datasets, command, tmp_path):
    whole = pt.generate(iris_table, "kmeans:6,ward:3", **RECIPE)
    parts = [tmp_path / f"part{at}" for at in (1, 2, 3)]
    flags = ["--base", "kmeans:6,ward:3", "--base-k", "2..6", "--scale", "zscore", "--seed", 4]
    for at, path in enumerate(parts, 1):
        own = pt.generate(iris_table, "kmeans:6,ward:3", part=f"{at}/3", part_file=path, **RECIPE)
        assert own.n_base_clusterings == 3 and path.exists()
    # A part that is there is not made again.
    assert pt.generate(iris_table, "kmeans:6,ward:3", part="2/3", part_file=parts[1], **RECIPE).names == own_names(whole, 1)
    assert pt.merge(*parts) == whole and pt.merge(*parts).recipe == whole.recipe
    command("merge", *parts, "-o", tmp_path / "merged.npz")
    assert pt.read_ensemble(tmp_path / "merged.npz") == whole
    theirs = [tmp_path / f"their{at}" for at in (1, 2)]
    for at, path in enumerate(theirs, 1):
        command("generate", datasets / "iris.csv", "--truth", "label", *flags, "--part", f"{at}/2", "-o", path)
    merged = pt.merge(*theirs)
    assert merged == whole and len(set(merged.truth)) == 3
    merged.save(tmp_path / "saved.npz")
    assert pt.read_ensemble(tmp_path / "saved.npz").truth == merged.truth
    assert pt.merge(theirs[0]).n_base_clusterings == 5


def own_names(whole, part):
    return [name for at, name in enumerate(whole.names) if at % 3 == part]


def test_parts_that_do_not_fit(iris_table, tmp_path):
    path = tmp_path / "p"
    pt.generate(iris_table, "kmeans:4", part="1/2", part_file=path, **RECIPE)
    with pytest.raises(pt.InputError, match="part_file="):
        pt.generate(iris_table, "kmeans:4", part="1/2")
    with pytest.raises(pt.InputError, match="part=3/2: write which part of how many"):
        pt.generate(iris_table, "kmeans:4", part="3/2", part_file=tmp_path / "q")
    with pytest.raises(pt.InputError, match="other work"):
        pt.generate(iris_table, "kmeans:4", part="2/2", part_file=path, **RECIPE)
    pt.Ensemble([[0, 1, 1]]).save(tmp_path / "e.npz")
    with pytest.raises(pt.InputError, match="merge the parts first"):
        pt.merge(path, tmp_path / "e.npz")


def test_ensembles_are_merged(labels, command, tmp_path):
    objects = [f"o{at}" for at in range(90)]
    pt.Ensemble(labels[:, :5], names=list("abcde"), objects=objects).save(tmp_path / "one.csv")
    pt.Ensemble(labels[::-1, 5:], names=list("fgh"), objects=objects[::-1]).save(tmp_path / "two.csv")
    command("merge", tmp_path / "one.csv", tmp_path / "two.csv", "-o", tmp_path / "all.npz")
    merged = pt.merge(tmp_path / "one.csv", tmp_path / "two.csv")
    assert merged == pt.read_ensemble(tmp_path / "all.npz") == pt.Ensemble(labels, names=list("abcdefgh"), objects=objects)


def test_an_ensemble_judges_given_labels(labels, truth, ensemble, ensemble_file, command, tmp_path):
    (tmp_path / "l.csv").write_text("label\n" + "".join(f"{label}\n" for label in truth))
    flags = ["--ensemble", ensemble_file, "--agreement", tmp_path / "c.csv", "--json"]
    said = json.loads(command("evaluate", tmp_path / "l.csv", *flags))
    agreement = pt.metrics.object_agreement(truth, ensemble)
    assert said["anmi"] == pt.metrics.anmi(truth, ensemble)
    assert said["agreement"] == pytest.approx(agreement.mean(), abs=1e-12)
    assert column_of(tmp_path / "c.csv", "agreement") == agreement.tolist()


def test_given_labels_are_matched_by_name(labels, truth, command, tmp_path):
    objects = [f"o{at}" for at in range(90)]
    named = pt.Ensemble(labels, objects=objects)
    named.save(tmp_path / "e.csv")
    turned = {objects[at]: int(truth[at]) for at in reversed(range(90))}
    (tmp_path / "l.csv").write_text("object,label\n" + "".join(f"{name},{label}\n" for name, label in turned.items()))
    judged = ["evaluate", tmp_path / "l.csv", "--ensemble", tmp_path / "e.csv", "--force", "--agreement", tmp_path / "c.csv", "--json"]
    (tmp_path / "w.csv").write_text("name,weight\n" + "".join(f"base{at},{at}\n" for at in range(8)))
    of_objects = [1.0 + at % 3 / 2 for at in range(90)]
    (tmp_path / "o.csv").write_text("object,weight\n" + "".join(f"{name},{weight}\n" for name, weight in zip(objects, of_objects)))
    for flags, weights in [
        ([], {}),
        (["--base-weights", "agreement"], {"base_weights": "agreement"}),
        (["--base-weights", tmp_path / "w.csv"], {"base_weights": range(8)}),
        (["--object-weights", tmp_path / "o.csv"], {"object_weights": of_objects}),
    ]:
        said = json.loads(command(*judged, *flags))
        assert said["anmi"] == pt.metrics.anmi(turned, named, **weights), weights
        by_name = dict(zip(turned, pt.metrics.object_agreement(turned, named, **weights).tolist()))
        assert {row["object"]: float(row["agreement"]) for row in rows_of(tmp_path / "c.csv")} == by_name, weights
        # By place too, where one side has no names.
        assert said["anmi"] == pt.metrics.anmi(truth, named, **weights) == pt.metrics.anmi(truth, labels, **weights)
    pandas = pytest.importorskip("pandas")
    assert pt.metrics.anmi(pandas.Series(turned), named) == pt.metrics.anmi(turned, named)


def test_labels_of_other_objects_than_the_ensemble_has(labels, truth):
    objects = [f"o{at}" for at in range(90)]
    named, some = pt.Ensemble(labels, objects=objects), {objects[at]: int(truth[at]) for at in range(60)}
    with pytest.raises(pt.InputError, match="object 'o60' is not in labels.*common=True"):
        pt.metrics.anmi(some, named)
    part = pt.Ensemble(labels[:60], objects=objects[:60])
    assert pt.metrics.anmi(some, named, common=True) == pt.metrics.anmi(some, part)
    # More labels than objects, and objects without a label.
    more = {"q": 1, **some, "o3": None}
    found = pt.metrics.object_agreement(more, part)
    assert found.shape == (61,) and np.flatnonzero(np.isnan(found)).tolist() == [0, 4]
    fewer = pt.Ensemble(np.delete(labels[:60], 3, axis=0))
    assert np.array_equal(found[~np.isnan(found)], pt.metrics.object_agreement(np.delete(truth[:60], 3), fewer))
    with pytest.raises(pt.InputError, match="no object of the ensemble has a label"):
        pt.metrics.anmi(dict.fromkeys(objects), named)
    for given, judge, why in [(truth[:60], named, "the labels have no names"), (some, labels, "the ensemble has no names of objects")]:
        with pytest.raises(pt.InputError, match="90 objects, labels has 60, and they cannot be matched by name"):
            pt.metrics.anmi(given, judge)
        with pytest.raises(pt.InputError, match=f"common=True matches objects by their names; {why}"):
            pt.metrics.object_agreement(given, judge, common=True)
    with pytest.raises(pt.InputError, match="2 base_weights for 8 base clusterings"):
        pt.metrics.anmi(truth, labels, base_weights=[1, 2])
    with pytest.raises(pt.InputError, match="object_weights: no weight is above 0"):
        pt.metrics.anmi(some, named, common=True, object_weights=[0] * 60 + [1] * 30)


def test_tables_keep_their_true_classes(iris_table, datasets, command, tmp_path):
    made = pt.generate(iris_table, "kmeans:4", **RECIPE)
    assert made.truth == iris_table.truth and iris_table.truth_name == "label"
    made.save(tmp_path / "ours.npz")
    flags = ["--truth", "label", "--base", "kmeans:4", "--base-k", "2..6", "--scale", "zscore", "--seed", 4]
    command("generate", datasets / "iris.csv", *flags, "-o", tmp_path / "theirs.npz")
    assert (tmp_path / "ours.npz").read_bytes() == (tmp_path / "theirs.npz").read_bytes()
    # One part from each side is one job.
    pt.generate(iris_table, "kmeans:4", part="1/2", part_file=tmp_path / "one", **RECIPE)
    command("generate", datasets / "iris.csv", *flags, "--part", "2/2", "-o", tmp_path / "two")
    merged = pt.merge(tmp_path / "one", tmp_path / "two")
    assert merged == made and merged.truth == made.truth
    table = pt.Table(iris_table.X, iris_table.columns, truth=[None, *range(149)], truth_name="kind")
    assert pt.generate(table, "kmeans:2", base_k=2).truth == [None, *map(str, range(149))]
    with pytest.raises(pt.InputError, match="2 true classes for 150 objects"):
        pt.generate(pt.Table(iris_table.X, iris_table.columns, truth=["a", "b"]), "kmeans:2", base_k=2)
    sparse = pytest.importorskip("scipy.sparse")
    table = pt.Table(sparse.csr_array(iris_table.X), iris_table.columns, truth=iris_table.truth)
    assert pt.generate(table, "kmeans:2", base_k=2).truth == iris_table.truth


def test_matrices(ensemble, ensemble_file, command, tmp_path):
    scipy = pytest.importorskip("scipy.sparse")
    inspect = ["inspect", ensemble_file]
    flags = ["--co-association", tmp_path / "all.npy", "--agreement", tmp_path / "bases.npy"]
    command(*inspect, *flags)
    whole = pt.metrics.co_association(ensemble)
    assert np.array_equal(np.load(tmp_path / "all.npy"), whole)
    assert np.array_equal(np.load(tmp_path / "bases.npy"), pt.metrics.agreement_matrix(ensemble))
    command(*inspect, "--co-association", tmp_path / "pairs.npz", "--least-share", 0.5)
    pairs = pt.metrics.co_association(ensemble, least_share=0.5)
    assert np.array_equal(scipy.load_npz(tmp_path / "pairs.npz").toarray(), pairs.toarray())
    assert np.array_equal(pairs.toarray(), np.where(whole >= 0.5, whole, 0))
    command(*inspect, "--co-association", tmp_path / "pairs.csv", "--least-share", 0.5)
    assert pairs_of(tmp_path / "pairs.csv", "share") == above_the_diagonal(pairs.toarray())
    every = pt.metrics.co_association(ensemble, least_share=0).toarray()
    assert np.array_equal(every, np.nan_to_num(whole))
    with pytest.raises(pt.InputError, match="from 0 to 1"):
        pt.metrics.co_association(ensemble, least_share=-0.5)


def test_agreement_is_the_nmi_of_pairs(labels):
    gaps = labels.astype(float)
    gaps[::7, 2] = np.nan
    found = pt.metrics.agreement_matrix(gaps)
    both = ~np.isnan(gaps[:, 2])
    assert found[2, 5] == found[5, 2] == pt.metrics.nmi(labels[both, 2], labels[both, 5])
    alone = pt.metrics.agreement_matrix([[0, 1, None, None], [None, None, 0, 1]])
    assert np.isnan(alone[0, 1]) and alone[1, 1] == 1


def test_draws_say_which_pairs_are_similar(ensemble, ensemble_file, command, tmp_path):
    pytest.importorskip("scipy.sparse")
    flags = ["--set", "keep=20", "--similarity", tmp_path / "s.csv", "--min-similarity", 0.3, "-o", tmp_path / "l.csv"]
    command("consensus", ensemble_file, "-m", "nbce-gibbs", "-k", 3, *flags)
    found = pt.consensus(ensemble, 3, "nbce-gibbs", keep=20)
    similar = above_the_diagonal(found.similarity(0.3).toarray())
    assert pairs_of(tmp_path / "s.csv", "similarity") == similar != {}
    draws = found.draws_
    assert similar.get((0, 1), 0) == (draws[:, 0] == draws[:, 1]).mean()
    with pytest.raises(pt.InputError, match="nbce-gibbs"):
        pt.consensus(ensemble, 3, "mm").similarity()


def test_trees(ensemble, ensemble_file, command, tmp_path):
    flags = ["-m", "eac-average", "-k", 3, "--tree", tmp_path / "tree.npy", "-o", tmp_path / "l.csv"]
    command("consensus", ensemble_file, *flags)
    assert np.array_equal(np.load(tmp_path / "tree.npy"), pt.consensus(ensemble, 3, "eac-average").linkage_)


def test_reports_with_a_choice_and_figures(ensemble, command, tmp_path):
    result, choice = pt.consensus(ensemble, 3), pt.choose_k(ensemble, range(2, 6), random_state=3)
    plain = result.report()
    page = result.report(tmp_path / "page.html", choice=choice, figures=tmp_path / "figures")
    assert (tmp_path / "page.html").read_text() == page and len(page) > len(plain)
    pictures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {name.replace(".svg", ".csv") for name in pictures if name.endswith(".svg")} <= pictures and len(pictures) > 4
    choice.save(tmp_path / "choice.json")
    assert pt.load_choice(tmp_path / "choice.json").record_ == choice.record_

    result.save_run(tmp_path / "run")
    flags = ["--choice", tmp_path / "choice.json", "--figures", tmp_path / "theirs", "-o", tmp_path / "their.html"]
    command("report", tmp_path / "run", *flags)
    ours = pt.report(tmp_path / "run", tmp_path / "our.html", choice=choice, figures=tmp_path / "ours")
    assert ours == (tmp_path / "our.html").read_text() == (tmp_path / "their.html").read_text()
    assert {path.name for path in (tmp_path / "ours").iterdir()} == {path.name for path in (tmp_path / "theirs").iterdir()}
    with pytest.raises(pt.InputError, match="load_choice"):
        result.report(choice=tmp_path / "choice.json")
    with pytest.raises(pt.InputError, match="no result of 'mm'"):
        pt.report(tmp_path / "run", method="mm")


def test_choices_go_both_ways(ensemble, ensemble_file, command, tmp_path):
    said = json.loads(command("choose-k", ensemble_file, "-k", "2..5", "--seed", 3, "--json", "-o", tmp_path / "theirs.json"))
    theirs, ours = pt.load_choice(tmp_path / "theirs.json"), pt.choose_k(pt.read_ensemble(ensemble_file), range(2, 6), random_state=3)
    assert said["rows"] == pt.choose_k(ensemble, range(2, 6), random_state=3).rows
    spent = {"seconds", "arguments"}
    kept = [{name: value for name, value in record.items() if name not in spent} for record in (said, theirs.record_, ours.record_)]
    assert kept[0] == kept[1] == kept[2]
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(pt.InputError, match="not a saved choice"):
        pt.load_choice(tmp_path / "other.json")
