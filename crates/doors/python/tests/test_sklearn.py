"""The estimators beside scikit-learn's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import partita as pt
from conftest import labels_of, read_table

FEW = {"base": "kmeans:6"}


#: Checks that cannot hold, and why not: `{class: {check: reason}}`.
WEIGHTS = "weights count in the consensus; base clusterings are of objects as they are"
FRACTIONS = "the check passes fractions whatever the tag `categorical` says; labels are categories"
CLASSIFIER = "the check asks whatever has predict_proba for the tags of a classifier"
NOT_FOR = {
    pt.ConsensusClustering: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
        "check_estimator_sparse_array": CLASSIFIER,
        "check_estimator_sparse_matrix": CLASSIFIER,
    },
    pt.LabelConsensus: {
        "check_clustering": FRACTIONS,
        "check_positive_only_tag_during_fit": FRACTIONS,
        "check_sample_weight_equivalence_on_dense_data": FRACTIONS,
    },
    pt.StableClusters: {"check_estimator_sparse_array": CLASSIFIER, "check_estimator_sparse_matrix": CLASSIFIER},
}


@parametrize_with_checks([pt.ConsensusClustering(3, **FEW), pt.LabelConsensus(3), pt.StableClusters(3, **FEW)], expected_failed_checks=lambda estimator: NOT_FOR[type(estimator)])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_the_estimator_is_generate_and_consensus(blobs):
    fitted = pt.ConsensusClustering(3, base="kmeans:10", base_k=3, random_state=4).fit(blobs)
    made = pt.generate(blobs, "kmeans:10", base_k=3, random_state=4)
    assert fitted.result_.ensemble_.to_numpy().tolist() == made.to_numpy().tolist()
    assert np.array_equal(fitted.labels_, pt.consensus(made, 3, random_state=4).labels_)
    assert fitted.record_["experiment"]["seed"] == 4 and fitted.n_clusters_ == 3


def test_distances_of_all_pairs(blobs):
    values = np.asarray(blobs)
    distances = np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2))
    fitted = pt.ConsensusClustering(3, metric="precomputed").fit(distances)
    assert pt.metrics.adjusted_rand(fitted.labels_, pt.ConsensusClustering(3).fit(values).labels_) == 1
    assert (fitted.predict(distances[:5]) == fitted.labels_[:5]).all()
    assert fitted.__sklearn_tags__().input_tags.pairwise
    for given, said in [(values, "shape"), (distances + 1, "0 on the diagonal"), (-distances, "below 0")]:
        with pytest.raises(pt.InputError, match=said):
            pt.ConsensusClustering(3, metric="precomputed").fit(given)
    with pytest.raises(pt.InputError, match="'precomputed'"):
        pt.ConsensusClustering(3, metric="cosine").fit(values)


@pytest.mark.parametrize("how", ["ssce", "centroid", "knn:5"])
def test_predict(blobs, how):
    fitted = pt.ConsensusClustering(3, base="kmeans:10", base_k=3, predict_with=how).fit(blobs)
    assert (fitted.predict(blobs) == fitted.labels_).mean() > 0.95
    assert np.allclose(fitted.predict_proba(blobs).sum(axis=1), 1)


def test_names_of_features(blobs):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(blobs, columns=["x", "y", "z"])
    fitted = pt.ConsensusClustering(3, **FEW).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["x", "y", "z"] and fitted.n_features_in_ == 3
    assert np.array_equal(fitted.predict(frame), fitted.predict(frame.copy()))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["z", "y", "x"]])


def test_labels_of_frames(labels, result):
    pd = pytest.importorskip("pandas")
    words = pd.DataFrame({f"tool {at}": pd.Categorical.from_codes(labels[:, at], ["a", "b", "c"]) for at in range(8)})
    fitted = pt.LabelConsensus(3).fit(words)
    assert np.array_equal(fitted.labels_, result.labels_)
    assert fitted.feature_names_in_[0] == "tool 0" and np.array_equal(fitted.predict(words), result.predict(labels))
    words.iloc[0, 0] = None
    assert pt.LabelConsensus(3).fit_predict(words).shape == (90,)


def test_clones_and_pickles(blobs):
    estimator = pt.ConsensusClustering(3, "pcc-l2", **FEW, settings={"restarts": 2}, recipe={"features": 0.7})
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    fitted = copy.fit(blobs)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.labels_, fitted.labels_) and np.array_equal(again.predict(blobs), fitted.predict(blobs))
    assert "n_clusters=3" in repr(estimator)


def test_output_as_a_frame(blobs):
    pytest.importorskip("pandas")
    fitted = pt.ConsensusClustering(3, **FEW).set_output(transform="pandas").fit(blobs)
    frame = fitted.transform(blobs)
    assert list(frame.columns) == ["consensusclustering0", "consensusclustering1", "consensusclustering2"]
    assert fitted.get_feature_names_out().tolist() == list(frame.columns)


def test_pipelines(blobs):
    pipeline = make_pipeline(StandardScaler(), pt.ConsensusClustering(3, **FEW))
    assert len(set(pipeline.fit_predict(blobs))) == 3 and pipeline.predict(blobs[:5]).shape == (5,)


@pytest.mark.parametrize("scoring", [pt.metrics.stability, None])
def test_grid_search(blobs, scoring):
    search = GridSearchCV(pt.ConsensusClustering(base="kmeans:10", base_k=3, n_jobs=1), {"n_clusters": [2, 3, 5]}, scoring=scoring, cv=2)
    search.fit(blobs)
    two, three, five = search.cv_results_["mean_test_score"]
    assert five < min(two, three) and search.best_params_["n_clusters"] in (2, 3)
    assert search.best_score_ == max(two, three)


def test_chosen_numbers(blobs):
    fitted = pt.ConsensusClustering(range(2, 5), base="kmeans:10", base_k=3, scale="zscore").fit(blobs)
    assert fitted.n_clusters_ == fitted.record_["choice"]["clusters"] >= 2
    choice = pt.choose_k(blobs, range(2, 5), scale="zscore")
    assert choice.n_clusters == fitted.n_clusters_ and choice.rows[0]["score"] == fitted.record_["choice"]["rows"][0]["score"]


def test_base_clusterings_are_chosen_where_nothing_is_said(datasets, command, tmp_path):
    names, values, _ = read_table(datasets / "iris.csv")
    command("run", datasets / "iris.csv", "--truth", "label", "-k", 3, "-o", tmp_path / "out", "--no-report")
    fitted = pt.ConsensusClustering(3).fit(values)
    assert fitted.record_["experiment"]["auto"] is True
    assert labels_of(tmp_path / "out" / "labels.csv") == fitted.labels_.tolist()


def test_a_number_that_cannot_be(blobs):
    with pytest.raises(pt.InputError):
        pt.ConsensusClustering(500).fit(blobs)
    with pytest.raises(pt.SettingError):
        pt.ConsensusClustering(3, settings={"nonsense": 1}).fit(blobs)


def test_ensembles_are_labels(ensemble, result):
    assert np.array_equal(pt.LabelConsensus(3).fit(ensemble).labels_, result.labels_)


def test_runs_of_estimators_are_saved(blobs, tmp_path):
    fitted = pt.ConsensusClustering(3, base="kmeans:10", base_k=3).fit(blobs)
    fitted.result_.save_run(tmp_path / "run")
    assert pt.read_ensemble(tmp_path / "run" / "ensemble.npz") == fitted.result_.ensemble_
    assert "</html>" in fitted.result_.report()


@pytest.fixture(scope="module")
def topics():
    """Embeddings of 12 topics, and of documents of none, -1, which lie about in a 13th cluster."""
    rng = np.random.default_rng(0)
    topic = rng.integers(-2, 12, size=700).clip(-1)
    X = rng.normal(size=(12, 30))[topic] * (topic >= 0)[:, None] * 2 + rng.normal(size=(700, 30))
    return X / np.linalg.norm(X, axis=1, keepdims=True), topic


def test_stable_clusters_hardly_depend_on_the_seed(topics):
    X, topic = topics
    found = [pt.StableClusters(13, random_state=seed).fit(X) for seed in range(10)]
    labels = [one.labels_ for one in found]
    adjusted = [pt.metrics.adjusted_rand(a + 1, b + 1) for at, a in enumerate(labels) for b in labels[:at]]
    assert np.mean(adjusted) >= 0.95
    assert pt.metrics.adjusted_rand(labels[0][topic >= 0] + 1, topic[topic >= 0]) > 0.9
    first = found[0]
    assert first.n_clusters_ == len(set(first.labels_) - {-1}) and first.labels_.dtype == np.int32
    noise = first.labels_ == -1
    assert 0 < noise.sum() < 70 and (first.probabilities_[noise] == 0).all() and (first.probabilities_[~noise] >= 0.5).all()
    assert noise[topic < 0].mean() > noise[topic >= 0].mean()
    assert (first.predict(X)[~noise] == first.labels_[~noise]).mean() > 0.95
    assert pt.StableClusters(base="kmeans:30").fit(X).n_clusters_ > 5


def test_stable_clusters_of_runs(topics):
    X, topic = topics
    rng = np.random.default_rng(1)
    runs = {f"seed {seed}": np.where(rng.random(700) < 0.3, -1, topic) for seed in range(6)}
    fitted = pt.StableClusters(runs=runs).fit(X)
    # Nothing but noise is said of documents without a topic.
    assert (fitted.labels_[topic < 0] == -1).all() and (fitted.labels_ == -1).mean() < 0.2
    assert pt.metrics.adjusted_rand(fitted.labels_[fitted.labels_ >= 0], topic[fitted.labels_ >= 0]) == 1
    assert fitted.n_clusters_ == 12 and (fitted.predict(X)[topic >= 0] == fitted.labels_[topic >= 0]).mean() > 0.9
    with pytest.raises(pt.InputError, match="runs= labels 700 objects, X has 5"):
        pt.StableClusters(runs=runs).fit(X[:5])
    with pytest.raises(pt.InputError, match="min_agreement=2"):
        pt.StableClusters(min_agreement=2).fit(X)


def test_clusters_of_noise_alone_are_left_out(topics):
    X, _ = topics
    fitted = pt.StableClusters(60, base="kmeans:20", min_agreement=0.9).fit(X)
    assert sorted(set(fitted.labels_)) == list(range(-1, fitted.n_clusters_)) and fitted.n_clusters_ < 60
    assert fitted.predict_proba(X).shape == (700, 60) and fitted.predict(X).max() < fitted.n_clusters_
    assert clone(fitted).get_params() == fitted.get_params()
