"""Results, settings, errors, metrics."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import partita as pt

METHODS = pt.methods()
WEIGHTED = next(name for name, method in METHODS.items() if method["weighted"])


def test_attributes(result, truth):
    assert result.labels_.dtype == np.int32 and result.labels_.shape == (90,)
    assert result.agreement_.shape == (90,)
    assert ((result.agreement_ >= 0) & (result.agreement_ <= 1)).all()
    assert result.n_clusters == 3 and result.sizes_.sum() == 90
    assert result.method == "lwgp" and pt.metrics.adjusted_rand(result.labels_, truth) > 0.95
    assert result.diagnostics_["stopped"] and result.record_["experiment"]["seed"] == 0
    assert result.ensemble_.shape == (90, 8)
    assert result.labels_ is result.labels_


@pytest.mark.parametrize("name", sorted(METHODS))
def test_settings_are_keywords(name, ensemble, blobs):
    """Every default can be given as a keyword and changes nothing; every range is said."""
    features = blobs[:90]
    settings = {setting["name"]: setting["default"] for setting in METHODS[name]["settings"]}
    if name == "best":
        settings["among"] = "eac-average,mm"
    plain = {"among": settings["among"]} if name == "best" else {}
    found = pt.consensus(ensemble, 3, name, features=features, **settings)
    assert np.array_equal(found.labels_, pt.consensus(ensemble, 3, name, features=features, **plain).labels_)
    assert set(found.settings) == set(settings)
    for setting in METHODS[name]["settings"]:
        assert setting["help"] and setting["values"]


def test_linkage(ensemble):
    tree = pt.consensus(ensemble, 3, "eac-average").linkage_
    assert tree.shape == (89, 4) and tree[-1, 3] == 90
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    cut = hierarchy.fcluster(tree, 3, "maxclust")
    assert pt.metrics.adjusted_rand(cut, pt.consensus(ensemble, 3, "eac-average").labels_) == 1


def test_frame(ensemble):
    pytest.importorskip("pandas")
    frame = pt.consensus(ensemble, 3, "pcc-l2").to_frame()
    assert list(frame.columns) == ["label", "agreement", "probability", "p0", "p1", "p2"]


def test_report(result, tmp_path):
    called = [f"<group> {k}" for k in range(len(set(result.labels_)))]
    page = result.report(title="My <title>", names=called)
    assert "<h1>My &lt;title&gt;</h1>" in page and "&lt;group&gt; 1" in page
    with pytest.raises(pt.InputError, match="1 names of clusters are given"):
        result.report(names=["one"])
    with pytest.raises(pt.InputError, match="give a list of texts"):
        result.report(names="young,old")
    page = result.report(tmp_path / "out.html")
    assert page == (tmp_path / "out.html").read_text(encoding="utf-8") and "lwgp" in page and "</html>" in page


@pytest.mark.parametrize("jobs", [1, 2, -1, None, -2])
def test_threads_change_nothing(ensemble, result, jobs):
    assert np.array_equal(pt.consensus(ensemble, 3, n_jobs=jobs).labels_, result.labels_)


@pytest.mark.parametrize("method", ["lwgp", "pcc-l2", "nbce-vb"])
def test_seeds(ensemble, method):
    one = pt.consensus(ensemble, 3, method, random_state=1)
    assert np.array_equal(one.agreement_, pt.consensus(ensemble, 3, method, random_state=np.int64(1)).agreement_)
    assert one.record_["experiment"]["seed"] == 1
    drawn = pt.consensus(ensemble, 3, method, random_state=np.random.default_rng(0)).record_["experiment"]["seed"]
    assert drawn == pt.consensus(ensemble, 3, method, random_state=np.random.default_rng(0)).record_["experiment"]["seed"] != 0
    assert pt.consensus(ensemble, 3, method, random_state=np.random.RandomState(0)).record_["experiment"]["seed"] > 0


@pytest.mark.parametrize("clusters", [1, 3, np.int64(3), "3", range(2, 6), "2..5", "auto"])
def test_numbers_of_clusters(ensemble, clusters):
    assert pt.consensus(ensemble, clusters).n_clusters == (1 if clusters == 1 else 3)


def test_own_number_of_clusters(ensemble):
    found = pt.consensus(ensemble, "method")
    assert found.method == "eac-average" and found.n_clusters == 3


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"n_clusters": 0}, pt.InputError, "0 clusters"),
        ({"n_clusters": 91}, pt.InputError, "91 clusters"),
        ({"n_clusters": -3}, pt.InputError, "n_clusters=-3"),
        ({"n_clusters": 2.5}, pt.InputError, "n_clusters=2.5"),
        ({"n_clusters": True}, pt.InputError, "n_clusters=True"),
        ({"n_clusters": range(2, 9, 2)}, pt.InputError, "step 1"),
        ({"n_clusters": "many"}, pt.InputError, "n_clusters=many"),
        ({"method": "lwpg"}, pt.InputError, "did you mean lwgp"),
        ({"method": 3}, pt.InputError, "method=3"),
        ({"method": "ssce"}, pt.InputError, "reads the table"),
        ({"method": "lwgp", "n_clusters": "method"}, pt.InputError, "cannot choose the number of clusters"),
        ({"theta": -1.0}, pt.SettingError, "'theta' is -1"),
        ({"tetha": 1.0}, pt.SettingError, "'tetha'"),
        ({"theta": "wide"}, pt.SettingError, "wide"),
        ({"method": "pcc-l2", "n_init": 3}, pt.SettingError, "restarts"),
        ({"random_state": -1}, pt.InputError, "random_state=-1"),
        ({"random_state": "x"}, pt.InputError, "random_state='x'"),
        ({"n_jobs": 0}, pt.InputError, "n_jobs=0"),
        ({"n_jobs": 1.5}, pt.InputError, "n_jobs=1.5"),
        ({"max_memory": "much"}, pt.InputError, "max_memory='much'"),
        ({"max_memory": 10}, pt.BudgetError, "memory budget"),
        ({"max_memory": "1KiB", "method": "eac-average"}, pt.BudgetError, "memory budget"),
        ({"base_weights": "mine"}, pt.InputError, "base_weights='mine'"),
        ({"base_weights": [1, 2]}, pt.InputError, "2 base_weights for 8"),
        ({"base_weights": [0] * 8, "method": WEIGHTED}, pt.InputError, "above 0"),
        ({"object_weights": [1, 2]}, pt.InputError, "2 object_weights for"),
        ({"base_weights": {"base0": 1}}, pt.InputError, "'base1'"),
        ({"features": np.zeros((3, 2)), "method": "ssce"}, pt.InputError, "ssce"),
    ],
)
def test_refusals(ensemble, arguments, error, said):
    with pytest.raises(error) as raised:
        pt.consensus(ensemble, **{"n_clusters": 3, **arguments})
    assert said in str(raised.value)
    assert isinstance(raised.value, (ValueError, MemoryError)) and isinstance(raised.value, pt.PartitaError)
    assert "\n" not in str(raised.value)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_errors_carry_values(ensemble):
    with pytest.raises(pt.BudgetError) as error:
        pt.consensus(ensemble, 3, max_memory=10)
    assert error.value.budget == 10 and error.value.needed > 10 and error.value.what and error.value.remedy
    with pytest.raises(pt.SettingError) as error:
        pt.consensus(ensemble, 3, theta=-1)
    assert (error.value.name, error.value.value) == ("theta", "-1")
    with pytest.raises(pt.SettingError) as error:
        pt.consensus(ensemble, 3, "pcc-l2", n_init=3)
    assert error.value.called == "restarts" and "restarts" in error.value.known


@pytest.mark.parametrize("weights", ["agreement", np.arange(1.0, 9.0), {f"base{at}": 1.0 for at in range(8)}])
def test_weights(ensemble, weights):
    assert pt.consensus(ensemble, 3, WEIGHTED, base_weights=weights).n_clusters == 3


def test_an_object_of_weight_zero_is_labelled_afterwards(ensemble):
    weights = np.ones(ensemble.n_objects)
    weights[:2] = 0
    result = pt.consensus(ensemble, 3, WEIGHTED, object_weights=weights)
    assert len(result.labels_) == ensemble.n_objects and result.n_clusters == 3
    with pytest.raises(pt.InputError, match="weight 0 is -1"):
        pt.consensus(ensemble, 3, WEIGHTED, object_weights=weights - 1)


def test_weights_of_one_change_nothing(ensemble):
    plain = pt.consensus(ensemble, 3, WEIGHTED)
    # lwgp, given weights, does not look for its own: it may number the same clusters otherwise.
    weighted = pt.consensus(ensemble, 3, WEIGHTED, base_weights=[1.0] * 8)
    assert pt.metrics.adjusted_rand(weighted.labels_, plain.labels_) == 1


def test_probabilities(ensemble):
    found = pt.consensus(ensemble, 3, "mm")
    assert np.allclose(found.probabilities_.sum(axis=1), 1)
    assert np.array_equal(found.probabilities_.argmax(axis=1), found.labels_)


def test_predict(result, labels):
    assert (result.predict(labels) == result.labels_).mean() > 0.95
    proba = result.predict_proba(labels[:5])
    assert proba.shape == (5, 3) and np.allclose(proba.sum(axis=1), 1)
    with pytest.raises(pt.InputError, match="base7"):
        result.predict(labels[:, :7])


def test_predict_from_a_table(ensemble, blobs, tmp_path):
    result = pt.consensus(pt.generate(blobs, "kmeans:10", base_k=3), 3, features=blobs)
    for how in ("ssce", "centroid", "knn:3"):
        model = result.model(how)
        assert model.reads_table and (model.predict(blobs) == result.labels_).mean() > 0.95
        model.save(tmp_path / "m.json")
        assert np.array_equal(pt.load_model(tmp_path / "m.json").predict(blobs), model.predict(blobs))
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(blobs), model.predict(blobs))
    with pytest.raises(pt.InputError, match="features="):
        pt.consensus(ensemble, 3).model("ssce")
    with pytest.raises(pt.InputError):
        result.model("oracle")


def test_pickles(result, ensemble, labels):
    copy = pickle.loads(pickle.dumps(result))
    for name in ("labels_", "agreement_", "sizes_"):
        assert np.array_equal(getattr(copy, name), getattr(result, name)), name
    assert copy.record_ == result.record_ and np.array_equal(copy.predict(labels), result.predict(labels))
    assert repr(copy) == repr(result) and "lwgp" in copy._repr_html_()
    again = pickle.loads(pickle.dumps(copy))
    assert np.array_equal(again.labels_, result.labels_)
    assert pickle.loads(pickle.dumps(ensemble)) == ensemble
    named = pt.Ensemble({"a": ["x", "y"], "b": [1, None]}, objects=["o", "p"])
    assert pickle.loads(pickle.dumps(named)) == named
    with pytest.raises(pt.InputError):
        copy.report()


def test_reprs(result, ensemble):
    assert repr(ensemble) == "Ensemble(90 objects, 8 base clusterings, 3 clusters each)"
    assert repr(result).startswith("ConsensusResult(lwgp: 90 objects in 3 clusters, agreement 0.")
    assert "lwgp" in result._repr_html_() and "<table>" in ensemble._repr_html_()
    assert "ClusterChoice(3" in repr(pt.choose_k(ensemble, range(2, 5)))
    assert "lwgp" in repr(result.model())


def test_choice_frame(ensemble):
    pytest.importorskip("pandas")
    frame = pt.choose_k(ensemble, range(2, 6)).to_frame()
    assert list(frame.index) == [2, 3, 4, 5] and "anmi" in frame.columns


@pytest.mark.parametrize("clusters", [range(2, 9, 2), range(5, 2), 3, range(0, 3)])
def test_choose_k_refuses(ensemble, clusters):
    with pytest.raises(pt.InputError):
        pt.choose_k(ensemble, clusters)


def test_metrics_beside_scikit_learn(result, truth):
    ours, theirs = pt.metrics, pytest.importorskip("sklearn.metrics")
    pair = (result.labels_, truth)
    assert ours.adjusted_rand(*pair) == pytest.approx(theirs.adjusted_rand_score(*pair))
    assert ours.adjusted_mutual_info(*pair) == pytest.approx(theirs.adjusted_mutual_info_score(*pair))
    for how in ("min", "max", "arithmetic", "geometric"):
        assert ours.nmi(*pair, average_method=how) == pytest.approx(theirs.normalized_mutual_info_score(*pair, average_method=how))
    assert ours.scores(*pair)["fowlkes_mallows"] == pytest.approx(theirs.fowlkes_mallows_score(*pair))
    assert ours.accuracy(truth, truth) == ours.purity(truth, truth) == 1
    assert ours.variation_of_information(truth, truth) == 0


def test_metrics_of_ensembles(result, ensemble, labels):
    assert pt.metrics.anmi(result.labels_, ensemble) == pytest.approx(result.diagnostics_["anmi"])
    assert np.array_equal(pt.metrics.object_agreement(result.labels_, ensemble), result.agreement_)
    matrix = pt.metrics.co_association(ensemble)
    assert np.allclose(matrix, (labels[:, None] == labels[None]).mean(axis=2))
    weights, pairs = pt.metrics.agreement_weights(ensemble), pt.metrics.agreement_matrix(ensemble)
    assert weights.shape == (8,) and pairs.shape == (8, 8) and np.allclose(pairs, pairs.T)
    assert pt.metrics.jensen_shannon([[1, 0], [0, 1]], [[0, 1], [1, 0]]) == 0


@pytest.mark.parametrize("pair", [([0, 1], [0]), ([0, None], [0, 1]), ([], []), ([0, -1], [0, 1]), ([0.5, 1], [0, 1])])
def test_metrics_refuse(pair):
    with pytest.raises(pt.InputError):
        pt.metrics.scores(*pair)


def test_keywords_of_metrics(ensemble):
    with pytest.raises(pt.BudgetError):
        pt.metrics.co_association(ensemble, max_memory=100)
    with pytest.raises(pt.InputError, match="average_method"):
        pt.metrics.nmi([0], [0], average_method="mean")


@pytest.mark.parametrize(
    "recipe",
    ["kmeans:5", {"base": "kmeans:5"}, {"base": ["kmeans:5"]}, "kmeans:3,ward:2", {"base": ["kmeans:2", "average:3"]}],
)
def test_recipes(blobs, recipe):
    made = pt.generate(blobs, recipe, base_k=[2, 3], subsample=1.0)
    assert made.shape == (120, 5) and set(made.n_clusters) <= {2, 3}


@pytest.mark.parametrize("base_k", [3, range(2, 5), [2, 4], "2..4", "sqrt", (3,)])
def test_numbers_of_base_clusters(blobs, base_k):
    assert pt.generate(blobs, "kmeans:3", base_k=base_k).shape == (120, 3)


def test_presets(blobs):
    made = pt.generate(blobs, preset="nbce", n_clusters=3, n_jobs=1)
    assert made.shape == (120, 10)
    with pytest.raises(pt.InputError):
        pt.generate(blobs, preset="nbce")
    with pytest.raises(pt.InputError, match="there is no preset"):
        pt.generate(blobs, preset="mine")


@pytest.mark.parametrize(
    "wrong",
    [{"recipe": "kmens:5"}, {"recipe": "kmeans:0"}, {"subsample": 2.0}, {"base_k": 500}, {"scale": "log"}, {"recipe": {"bases": 1}}, {"recipe": 7}],
)
def test_recipes_that_cannot_be_followed(blobs, wrong):
    with pytest.raises(pt.PartitaError) as error:
        pt.generate(blobs, **{"recipe": "kmeans:2", **wrong})
    assert "\n" not in str(error.value)


def test_labels_that_name_classes_give_names():
    own = ["B", "NK", "T"] * 10
    tools = {name: [*own] for name in ("a", "b", "c")}
    tools["c"] = ["T" if label == "NK" else label for label in own]
    tools["a"][0] = tools["b"][0] = tools["c"][0] = None
    found = pt.consensus(tools, method="mm", named=True)
    assert list(found.label_names_) == [None, *own[1:]]
    assert found.diagnostics_["names"] == ["B", "NK", "T"]
    plain = pt.consensus(tools, n_clusters=3, method="mm")
    assert plain.label_names_ is None and plain.draws_ is None


def test_draws_are_partitions_of_the_objects():
    labels = np.arange(24 * 5).reshape(24, 5) // 5 % 3
    found = pt.consensus(labels, n_clusters=4, method="nbce-gibbs", sweeps=20, burn_in=10, keep=5, chains=2)
    assert found.draws_.shape == (10, 24) and found.draws_.min() == 0
    assert sum(found.diagnostics_["clusters_drawn"].values()) == pytest.approx(1)


def test_objects_that_no_base_clustering_labels_get_no_label(tmp_path):
    pd = pytest.importorskip("pandas")
    labels = pd.DataFrame({"a": [1, 1, None, 2, 2, -1], "b": ["x", "x", None, "y", "y", None]}, index=list("abcdef"))
    for method in ("lwgp", "pcc-kl"):
        result = pt.consensus(labels, 2, method)
        assert result.labels_.tolist() in ([0, 0, -1, 1, 1, -1], [1, 1, -1, 0, 0, -1])
        assert np.isnan(result.agreement_).tolist() == [False, False, True, False, False, True]
        assert result.sizes_.tolist() == [2, 2]
        assert result.to_frame().index.tolist() == list("abcdef") and "2 of 6 objects" in result.warnings[-1]
        assert (pt.consensus(labels, 2, method, unlabelled="cluster").labels_ >= 0).all()
        with pytest.raises(pt.InputError, match="no label in any base clustering"):
            pt.consensus(labels, 2, method, unlabelled="refuse")
    record = result.save_run(tmp_path / "run")
    assert record["methods"][0]["n"] == 4 and pt.repeat(tmp_path / "run" / "record.json").labels_.tolist() == result.labels_.tolist()
    assert pt.LabelConsensus(2).fit(labels).labels_.tolist().count(-1) == 2
    with pytest.raises(pt.InputError, match="unlabelled: 'drop' is none of keep"):
        pt.consensus(labels, 2, unlabelled="drop")


def test_clusters_are_tested():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 7])
    cut = np.r_[np.zeros(200, int), 1 + (X[200:, 0] > 7)]
    found = pt.test_clusters(X, cut)
    assert found.n_clusters == 2 and [cluster["verdict"] for cluster in found.clusters] == ["established"] * 2
    assert set(found.labels_[:200]) == {0} and set(found.labels_[200:]) == {1}
    assert found.to_frame()["p"].tolist() == [found.splits[0]["test"]["p"]] and found.splits[0]["test"]["p"] < 1e-6
    # Objects with names are matched by them, and the order of labels changes nothing.
    names = [f"o{at}" for at in range(400)]
    series = pd.Series(cut, index=names).sample(frac=1, random_state=1)
    again = pt.test_clusters(pd.DataFrame(X, index=names), series)
    assert (again.labels_ == found.labels_).all() and again.record_["splits"] == found.record_["splits"]
    with pytest.raises(pt.InputError, match="alpha is 2"):
        pt.test_clusters(X, cut, alpha=2)
    with pytest.raises(pt.InputError, match="labels has 3"):
        pt.test_clusters(X, cut[:3])


def test_a_start_pairs_and_counts_are_given(ensemble):
    usual = pt.consensus(ensemble, 3, "pcc-l2")
    again = pt.consensus(ensemble, 3, "pcc-l2", start=usual)
    assert again.diagnostics_["start"] == "given" and len(again.diagnostics_["restarts"]) == 1
    same = pt.consensus(ensemble, 3, "pcc-l2", start=usual.probabilities_)
    assert np.array_equal(again.probabilities_, same.probabilities_)
    uniform = pt.consensus(ensemble, 3, "pcc-l2", start="uniform")
    assert np.allclose(uniform.probabilities_, 1 / 3)
    labels = ensemble.to_numpy()
    first, second = np.triu_indices(90, 1)
    both = (labels[first] >= 0) & (labels[second] >= 0)
    together = (both & (labels[first] == labels[second])).sum(1)
    counts = np.column_stack([first, second, together, both.sum(1)])[::2]
    listed = pt.consensus(ensemble, 3, "pcc-l2", pairs=counts[:, :2])
    given = pt.consensus(ensemble, 3, "pcc-l2", pairs=counts)
    assert np.array_equal(listed.probabilities_, given.probabilities_)
    with pytest.raises(pt.InputError, match=r"pairs\[1\]: it is object 2 with itself"):
        pt.consensus(ensemble, 3, "pcc-l2", pairs=[(0, 1), (2, 2)])
    with pytest.raises(pt.InputError, match="the start has 90 objects and 3 clusters; it needs 90 and 4"):
        pt.consensus(ensemble, 4, "pcc-l2", start=usual)
    with pytest.raises(pt.InputError, match="without probabilities"):
        pt.consensus(ensemble, 3, "pcc-l2", start=pt.consensus(ensemble, 3, "lwgp"))
