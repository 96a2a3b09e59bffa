"""What people hand in: indexes in any order, objects of other libraries, gaps, sparse tables."""

from __future__ import annotations

import re
import time
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import partita as pt

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N = 30
TRUTH = np.repeat(["x", "y", "z"], N // 3)
ORDER = np.random.default_rng(5).permutation(N)

#: Indexes that name objects once their order is another.
INDEXES = {
    "default": range(N),
    "words": [f"cell {at}" for at in range(N)],
    "numbers": range(10_001, 10_001 + N),
    "fractions": np.arange(N) + 0.0,
    "even": range(0, 2 * N, 2),
    "dates": pd.date_range("2024-01-01", periods=N),
    "pairs": pd.MultiIndex.from_product([range(3), range(N // 3)]),
}


def series(index):
    return pd.Series(TRUTH, index=index)


def shares_of(labels):
    return pd.get_dummies(labels).astype(float)


def agreement(first, other):
    return pt.metrics.adjusted_rand(np.asarray(first), np.asarray(other))


def columns_agree(ensemble):
    first, *others = ensemble.to_numpy().T
    return min(agreement(first, other) for other in others)


def aligned(runs):
    return min(pt.align(runs).similarity_)


#: What takes several columns, as a number that is 1 if their objects were matched.
TAKERS = {
    "dict": lambda a, b: columns_agree(pt.Ensemble({"a": a, "b": b})),
    "list": lambda a, b: columns_agree(pt.Ensemble([a, b])),
    "three": lambda a, b: columns_agree(pt.Ensemble([a, b, a])),
    "consensus": lambda a, b: agreement(pt.consensus({"a": a, "b": b, "c": a}, 3).labels_, a),
    "modes": lambda a, b: pt.modes([a, b, a, b]).n_modes,
    "co-association": lambda a, b: 2 - len(np.unique(pt.metrics.co_association([a, b]))) / 2,
    "align": lambda a, b: aligned({"a": a, "b": b}),
    "shares": lambda a, b: columns_agree(pt.Ensemble.from_shares([shares_of(a), shares_of(b)])),
    "align shares": lambda a, b: aligned([shares_of(a), shares_of(b)]),
    "align both": lambda a, b: aligned([a, shares_of(b)]),
    "scores": lambda a, b: pt.metrics.scores(a, b)["ari"],
    "anmi": lambda a, b: pt.metrics.anmi(b, {"a": a}),
    "dicts of nodes": lambda a, b: columns_agree(pt.Ensemble([dict(a), dict(b)])),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("index", INDEXES)
def test_objects_are_matched_by_their_index(taker, index):
    first = series(INDEXES[index])
    for a, b in [(first, first.iloc[ORDER]), (first.iloc[ORDER], first)]:
        assert TAKERS[taker](a, b) == pytest.approx(1)


def test_names_are_those_of_the_first_column():
    first = series(INDEXES["words"])
    assert pt.Ensemble([first, first.iloc[ORDER]]).object_names == list(first.index)
    assert pt.Ensemble([series(INDEXES["numbers"])] * 2).object_names[0] == "10001"
    assert pt.Ensemble([series(range(N)), TRUTH]).object_names is None


@pytest.mark.parametrize("make", [lambda runs: pt.Ensemble(runs), lambda runs: pt.Ensemble.from_shares([shares_of(run) for run in runs])])
def test_what_an_index_lacks_is_missing_and_said(make):
    whole = series(INDEXES["words"])
    with pytest.warns(pt.PartitaWarning, match="has 26 of the 30 objects"):
        made = make([whole, whole.iloc[ORDER[:26]]])
    assert made.n_objects == N and made.missing == 4 and made.object_names == list(whole.index)


def test_places_and_names():
    """Arrays and default indexes are places, beside names too; names that have nothing in common are refused."""
    named, placed = series(INDEXES["words"]), series(range(N))
    for other in (TRUTH, placed, TRUTH.tolist()):
        made = pt.Ensemble([named, other])
        assert columns_agree(made) == 1 and made.object_names == list(named.index)
    with pytest.raises(pt.InputError, match="labels 26 objects|26 objects where"):
        pt.Ensemble({"a": placed, "b": placed.iloc[:26]})
    with pytest.raises(pt.InputError, match="none of its objects"):
        pt.Ensemble({"a": named, "b": named.set_axis([f"gene {at}" for at in range(N)])})
    with pytest.raises(pt.InputError, match="both called"):
        pt.Ensemble({"a": named, "b": named.set_axis(["u", *named.index[:-1]]).rename({"cell 3": "cell 2"})})
    with pytest.warns(pt.PartitaWarning, match="matched by their order"):
        pt.Ensemble({"a": placed, "b": series(range(5, 5 + N))})


def test_weights_are_matched_by_their_index():
    labels = series(INDEXES["words"])
    ensemble = pt.Ensemble({"a": labels, "b": labels})
    weights = pd.Series(np.arange(N) + 1.0, index=labels.index)
    given = [weights, weights.iloc[ORDER], dict(weights.iloc[ORDER]), weights.to_numpy()]
    found = [pt.consensus(ensemble, 3, "mm", object_weights=each).agreement_ for each in given]
    assert all(np.array_equal(found[0], other) for other in found)
    with pytest.raises(pt.InputError, match="nothing for object 'cell 0'"), pytest.warns(pt.PartitaWarning, match="29 of the 30"):
        pt.consensus(ensemble, 3, "mm", object_weights=weights.iloc[1:])


GRAPH = {"u": 0, "v": 0, "w": 1, "x": 1}


@pytest.mark.parametrize(
    "given",
    [
        GRAPH,
        [GRAPH],
        {"louvain": GRAPH},
        [{"u", "v"}, {"w", "x"}],
        [[{"v", "u"}, frozenset({"w", "x"})]],
        types.SimpleNamespace(membership=[0, 0, 1, 1], graph=types.SimpleNamespace(vs=type("V", (dict,), {"attributes": dict.keys})({"name": [*"uvwx"]}))),
    ],
)
def test_nodes_and_communities_are_base_clusterings(given):
    made = pt.Ensemble(given)
    assert made.shape == (4, 1) and sorted(zip(made.object_names, made.to_numpy()[:, 0])) == [("u", 0), ("v", 0), ("w", 1), ("x", 1)]
    assert pt.consensus(given, 2).n_clusters == 2


def test_nodes_of_several_graphs():
    with pytest.warns(pt.PartitaWarning, match="has 3 of the 4"):
        made = pt.Ensemble({"a": GRAPH, "b": {"x": "p", "w": "p", "u": "q"}})
    assert made.to_numpy().tolist() == [[0, 1], [0, -1], [1, 0], [1, 0]]
    with pytest.raises(pt.InputError, match="'u' is in two communities"):
        pt.Ensemble([{"u", "v"}, {"u"}])


def annotated():
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(rng.normal(size=(N, 4)))
    cells.obs_names = [f"cell {at}" for at in range(N)]
    cells.obs["leiden_1.0"] = pd.Categorical(TRUTH)
    cells.obs["louvain"] = pd.Categorical(TRUTH)
    cells.obsm["X_pca"] = rng.normal(size=(N, 2)) + [[0.0, 9.0]] * np.repeat([0, 1, 2], 10)[:, None]
    cells.layers["counts"] = np.abs(cells.X)
    return cells


TABLE = np.random.default_rng(1).normal(size=(60, 3))

#: What it is, what is said where labels are meant, what where a table is.
FOREIGN = {
    "AnnData": (annotated, "AnnData; partita.anndata.consensus(adata, [...])", "obsm= ('X_pca'), layer= ('counts'), or layer='X'"),
    "Bunch": (load_iris, "Bunch", "give its .data"),
    "fitted": (lambda: KMeans(3, n_init=1).fit(TABLE), "a fitted KMeans; give its labels", "the table that it was fitted to"),
    "not fitted": (KMeans, "generate(X, 'kmeans:100')", "KMeans without labels_"),
    "several fitted": (lambda: [KMeans(2, n_init=1).fit(TABLE)] * 2, "item 0 of the list: this is a fitted KMeans", "item 0"),
    "several, not fitted": (lambda: [KMeans(2)] * 2, "KMeans without labels_", "KMeans without labels_"),
    "mixture": (lambda: GaussianMixture(2).fit(TABLE), "GaussianMixture without labels_; give what its fit_predict(X)", "the table itself"),
    "class": (lambda: KMeans, "is no data", "is no data"),
    "function": (lambda: print, "this is a builtin_function_or_method", "give an array"),
    "text": (lambda: "labels.csv", "read_ensemble() reads files", "read_table()"),
    "path": (lambda: Path("labels.csv"), "read_ensemble() reads files", "read_table()"),
    "None": (lambda: None, "None is no data", "None is no data"),
    "number": (lambda: 3, "int", "int"),
    "generator": (lambda: (row for row in TABLE), "a generator can be read once", "give a list of what it holds"),
    "set": (lambda: {1, 2}, "a set has no order", "a set has no order"),
    "nodes": (None, "", "this is a dict"),
    "table": (lambda: pt.Table(TABLE, ["a", "b", "c"]), "this is a Table; generate()", None),
    "ensemble": (None, "", "this is an Ensemble; consensus() takes it"),
    "ensembles": (lambda: [pt.Ensemble([TRUTH])], "item 0 of the list: this is an Ensemble", "this is an Ensemble"),
    "result": (lambda: pt.consensus([TRUTH] * 3, 3), "this is a ConsensusResult; give its .labels_", "ConsensusResult"),
    "results": (lambda: [pt.consensus([TRUTH] * 3, 3)], "give its .labels_", "ConsensusResult"),
    "own class": (lambda: type("Cells", (), {"__len__": lambda self: 9, "__getitem__": lambda self, at: self})(), "this is a Cells", "a Cells"),
    "list of them": (lambda: [type("Cells", (), {"__len__": lambda s: 9, "__getitem__": lambda s, at: s})()], "this is a Cells", "a Cells"),
}
OTHERS = {"nodes": GRAPH, "ensemble": pt.Ensemble([TRUTH])}
LABELS = [pt.Ensemble, pt.consensus, pt.modes, pt.metrics.agreement_weights, lambda given: pt.LabelConsensus(2).fit(given)]
TABLES = [pt.generate, pt.ConsensusClustering(2).fit, pt.choose_k]


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_something_else_is_named_at_once(kind):
    make, labels, table = FOREIGN[kind]
    given = OTHERS.get(kind) if make is None else make()
    for takers, said in ((LABELS, labels), (TABLES, table)):
        for taker in takers if said else []:
            if kind == "ensemble" and taker is pt.choose_k:
                continue
            begun = time.process_time()
            with pytest.raises((pt.InputError, ValueError)) as error:
                taker(given)
            # What is promised is a tenth of a second on a quiet machine.
            assert time.process_time() - begun < 0.3, (kind, taker)
            if taker is not TABLES[1] or kind not in ("text", "path", "number"):
                assert said in str(error.value), taker


@pytest.mark.parametrize("take", [pt.Ensemble.from_shares, pt.align])
def test_runs_of_something_else_are_named_at_once(take):
    cells = annotated()
    for given in (cells, [cells], {"a": cells}, [KMeans(2)], None):
        begun = time.process_time()
        with pytest.raises(pt.InputError, match="AnnData|KMeans|None"):
            take(given)
        assert time.process_time() - begun < 0.3
    with pytest.raises(pt.InputError, match="toarray"):
        pt.Ensemble(pytest.importorskip("scipy.sparse").eye(3).tocsr())


def test_modalities_and_other_packages():
    """By the names of their packages, which need not be there."""
    for package, kind, said in [
        ("mudata", "MuData", "mdata['rna']"),
        ("dask.array.core", "Array", ".compute()"),
        ("pyspark.sql", "DataFrame", ".toPandas()"),
        ("polars", "LazyFrame", ".collect()"),
    ]:
        given = type(kind, (), {"__module__": package, "columns": ["a"], "shape": (1, 1)})()
        for taker in (pt.Ensemble, pt.generate):
            with pytest.raises(pt.InputError, match=re.escape(said)):
                taker(given)


def test_parts_of_an_anndata():
    cells = annotated()
    made = pt.generate(cells, "kmeans:5", base_k=3, obsm="X_pca")
    assert made.object_names == list(cells.obs_names) and agreement(pt.consensus(made, 3).labels_, TRUTH) == 1
    assert pt.generate(cells, "kmeans:3", base_k=3, layer="X").shape == (N, 3)
    assert pt.choose_k(cells, range(2, 5), obsm="X_pca").n_clusters in (2, 3, 4)
    for keywords, said in [({"obsm": "X_umap"}, "it has X_pca"), ({"layer": "raw"}, "it has X, counts"), ({"obsm": "a", "layer": "b"}, "one of them")]:
        with pytest.raises(pt.InputError, match=said):
            pt.generate(cells, **keywords)
    with pytest.raises(pt.InputError, match="part of an AnnData"):
        pt.generate(TABLE, obsm="X_pca")
    for keys in ("leiden_1.0", ["leiden_1.0", "louvain"], "l*", re.compile("^l")):
        assert agreement(pt.anndata.consensus(cells, keys, 3).labels_, TRUTH) == 1
    with pytest.raises(pt.InputError, match="no column 'leiden_2'"):
        pt.anndata.consensus(cells, "leiden_2", 3)


def test_frames_of_numbers_and_words_are_read_as_files(tmp_path):
    """Words are categories, dates days; one answer by frame and by file, whichever library the frame is of."""
    random = np.random.default_rng(3)
    of = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame({
        "dose": random.normal(size=120) + 6.0 * of,
        "site": np.array(["left", "middle", "right"])[np.where(random.random(120) < 0.8, of, random.integers(0, 3, 120))],
        "answer": pd.Categorical(np.array(["no", "yes"])[random.integers(0, 2, 120)]),
        "seen": pd.date_range("2020-01-01", periods=120)[random.permutation(120)],
    })
    frame.loc[::9, "site"] = None
    frame.loc[5, "dose"] = np.nan
    frame.to_csv(tmp_path / "frame.csv", index=False)
    wanted = pt.choose_k(pt.read_table(tmp_path / "frame.csv")).n_clusters
    assert wanted == 3
    named = frame.set_index(pd.Index([f"p{at}" for at in range(120)]))
    for given, names in [(frame, None), (pytest.importorskip("polars").from_pandas(frame), None), (named, list(named.index))]:
        assert pt.choose_k(given).n_clusters == wanted
        assert pt.generate(given, "kmeans:5", base_k=3).object_names == names
    frame["site"] = [str(at) for at in range(120)]
    assert pt.generate(frame[["dose", "site"]].dropna(), "kmeans:2", base_k=2).shape == (119, 2), "numbers as texts"


#: Clusterings beside numbers, as Seurat and scanpy have them.
METADATA = {
    "leiden_0.4": TRUTH,
    "leiden_1.0": np.roll(TRUTH, 1),
    "n,counts": np.arange(N) * 37 % 31 + 100.5,
    "percent.mt": np.arange(N) / 7,
    "batch": np.arange(N) % 2,
}
CHOICES = [
    ({}, ["leiden_0.4", "leiden_1.0", "batch"]),
    ({"only": "leiden*"}, ["leiden_0.4", "leiden_1.0"]),
    ({"only": ["leiden_0.4", "b?tch"]}, ["leiden_0.4", "batch"]),
    ({"only": re.compile(r"leiden_\d\.4$|^bat")}, ["leiden_0.4", "batch"]),
    ({"skip": ["n,counts", re.compile("^percent|0$")]}, ["leiden_0.4", "batch"]),
    ({"only": ["leiden*"], "skip": "*1.0"}, ["leiden_0.4"]),
]


@pytest.mark.parametrize(("keywords", "expected"), CHOICES)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "csv", "parquet"])
def test_columns_of_metadata(keywords, expected, library, tmp_path):
    frame = pd.DataFrame(METADATA)
    if library == "parquet" and not keywords:
        pytest.skip("columns of many values are found in texts and frames")
    if library in ("csv", "parquet"):
        path = tmp_path / f"cells.{library}"
        frame.to_csv(path, index=False) if library == "csv" else frame.to_parquet(path)
        read = pt.read_ensemble
        given = path
    else:
        module = pytest.importorskip(library)
        given = frame if library == "pandas" else module.from_pandas(frame) if library == "polars" else module.Table.from_pandas(frame)
        read = pt.Ensemble
    if keywords == {} and library in ("pandas", "polars", "pyarrow"):
        with pytest.warns(pt.PartitaWarning, match=re.escape("'n,counts' (more different values than 3 √n, which are no clusters; only=['n,counts']")):
            assert read(given).names == expected
    else:
        assert read(given, **keywords).names == expected


def test_columns_that_are_not_there(tmp_path):
    frame = pd.DataFrame(METADATA)
    frame.to_csv(tmp_path / "cells.csv", index=False)
    for read, given in ((pt.Ensemble, frame), (pt.read_ensemble, tmp_path / "cells.csv")):
        with pytest.raises(pt.InputError, match="no column 'louvain'"):
            read(given, only="louvain")
        with pytest.raises(pt.InputError, match="no column fits the regular expression '\\^louvain'"):
            read(given, only=re.compile("^louvain"))
    with pytest.raises(pt.InputError, match="choose columns of a frame"):
        pt.Ensemble(METADATA, only="leiden*")


def test_masks_are_gaps():
    labels = np.ma.MaskedArray([[0, 5], [0, 5], [1, 6]], mask=[[0, 0], [0, 1], [0, 0]])
    assert pt.Ensemble(labels).to_numpy().tolist() == [[0, 0], [0, -1], [1, 1]]
    assert pt.Ensemble([labels[:, 0], labels[:, 1]]).missing == 1
    with pytest.raises(pt.InputError, match="row 1, column '0' is nan; take the mean of the column"):
        pt.generate(np.ma.MaskedArray(TABLE, mask=np.arange(180).reshape(60, 3) == 3), impute="none")


def test_named_fields_are_columns():
    fields = np.array([(0, 1.5), (0, 2.5), (1, 9.0)], dtype=[("kind", int), ("size", float)])
    assert pt.Ensemble(fields[["kind"]]).names == ["kind"]
    assert pt.generate(fields, "kmeans:2", base_k=2, subsample=1.0).shape == (3, 2)


WITH_GAPS = np.where(np.arange(180).reshape(60, 3) == 4, np.nan, TABLE)


@pytest.mark.parametrize(
    "table",
    [
        WITH_GAPS,
        WITH_GAPS.astype(np.float16),
        np.where(np.isnan(WITH_GAPS), None, WITH_GAPS.astype(object)),
        np.where(np.isnan(WITH_GAPS), "NA", WITH_GAPS.astype(object)),
        pd.DataFrame(WITH_GAPS).convert_dtypes(),
        pd.DataFrame(WITH_GAPS),
    ],
)
def test_gaps_become_what_is_asked_for(table):
    with pytest.raises(pt.InputError, match=r"row 1, column '1' is nan; take the mean of the column \(impute='mean'\)"):
        pt.generate(table, "kmeans:3", base_k=3, impute="none")
    with pytest.warns(pt.PartitaWarning, match="1 missing values get values of like rows"):
        assert pt.generate(table, "kmeans:3", base_k=3).n_objects == len(WITH_GAPS)
    with pytest.warns(pt.PartitaWarning, match="1 missing values get the means"):
        made = pt.generate(table, "kmeans:3", base_k=3, subsample=1.0, impute="mean")
    means = np.where(np.isnan(WITH_GAPS), np.nanmean(WITH_GAPS, axis=0), WITH_GAPS)
    expected = pt.generate(means, "kmeans:3", base_k=3, subsample=1.0)
    assert agreement(made.to_numpy()[:, 0], expected.to_numpy()[:, 0]) > 0.9
    with pytest.raises(pt.InputError, match="impute='median'; write 'mean', 'none'"):
        pt.generate(table, impute="median")


def test_gaps_lead_to_one_number_of_clusters(blobs, tmp_path):
    gappy = blobs.copy()
    gappy[::9, 1] = np.nan
    file = tmp_path / "gappy.csv"
    pd.DataFrame(gappy, columns=[f"x{at}" for at in range(gappy.shape[1])]).to_csv(file, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.PartitaWarning)
        chosen = pt.choose_k(gappy)
        fitted = pt.ConsensusClustering("auto").fit(gappy)
        assert chosen.n_clusters == pt.choose_k(pt.read_table(file)).n_clusters == len(set(fitted.labels_))
        read = pt.read_table(file)
        with pytest.raises(pt.InputError, match="14 missing values; leave the rows out"):
            pt.choose_k(read, impute="none")
        means = pt.generate(gappy, "kmeans:3", base_k=3, impute="mean").to_numpy()
        assert np.array_equal(pt.generate(read, "kmeans:3", base_k=3, impute="mean").to_numpy(), means)
        test = pt.test_clusters(gappy, fitted.labels_)
        assert test.n_clusters == pt.test_clusters(pt.read_table(file), fitted.labels_).n_clusters


def test_estimators_take_gaps_sparse_tables_and_weights(blobs, truth):
    sparse = pytest.importorskip("scipy.sparse")
    gappy = blobs.copy()
    gappy[0, 0] = np.nan
    made = pt.ConsensusClustering(3, base="kmeans:10")
    with pytest.warns(pt.PartitaWarning, match="1 missing values get values of like rows"):
        found = made.fit(gappy)
    expected = np.repeat([0, 1, 2], 40)
    assert agreement(found.labels_, expected) > 0.9
    with pytest.warns(pt.PartitaWarning, match="1 missing"):
        assert found.predict(gappy).shape == (120,)
    for table in (sparse.csr_array(np.round(blobs)), sparse.coo_matrix(np.round(blobs))):
        found = pt.ConsensusClustering(3, base="kmeans:10").fit(table)
        assert agreement(found.labels_, expected) > 0.9 and (found.predict(table) == found.labels_).mean() > 0.9
    assert agreement(pt.ConsensusClustering(3).fit(blobs.astype(np.float16)).labels_, expected) > 0.9
    with pytest.raises(pt.InputError, match="column 'x0' has no value at all; leave it out"):
        made.fit(np.where([[True, False, False]], np.nan, blobs))


def test_weights_of_samples_are_weights_of_objects(labels):
    weights = np.arange(90) % 3 + 1.0
    fitted = pt.LabelConsensus(3, "mm").fit(labels, sample_weight=weights)
    expected = pt.consensus(labels, 3, "mm", object_weights=weights)
    assert np.array_equal(fitted.labels_, expected.labels_) and np.array_equal(fitted.agreement_, expected.agreement_)
    assert pt.ConsensusClustering(2, "mm", base="kmeans:5").fit(TABLE, sample_weight=np.ones(60)).labels_.shape == (60,)
    with pytest.raises(ValueError, match="[Nn]egative"):
        pt.LabelConsensus(3).fit(labels, sample_weight=-weights)


@pytest.mark.parametrize("last", ["pipeline", "pipelines", "search"])
def test_stability_looks_into_pipelines(blobs, last):
    inner = pt.ConsensusClustering(base="kmeans:10", base_k=3, n_jobs=1)
    made = make_pipeline(StandardScaler(), inner)
    grid = {"consensusclustering__n_clusters": [2, 3, 5]}
    if last == "pipelines":
        made = make_pipeline(StandardScaler(), made)
        grid = {f"pipeline__{name}": values for name, values in grid.items()}
    search = GridSearchCV(made, grid, scoring=pt.metrics.stability, cv=2).fit(blobs)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 3 and search.best_score_ == max(scores)
    if last == "search":
        assert pt.metrics.stability(search) == pt.metrics.stability(search.best_estimator_)


def test_stability_of_what_has_none_is_an_error(blobs):
    for model in (KMeans(2, n_init=1).fit(blobs), make_pipeline(StandardScaler(), KMeans(2, n_init=1)).fit(blobs)):
        with pytest.raises(pt.InputError, match="KMeans has no agreement_"):
            pt.metrics.stability(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pt.InputError):
            GridSearchCV(KMeans(2, n_init=1), {"n_clusters": [2, 3]}, scoring=pt.metrics.stability, cv=2, error_score="raise").fit(blobs)


def test_distances_taken_for_features_are_said():
    points = np.random.default_rng(2).normal(size=(12, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    for given in (distances, pd.DataFrame(distances)):
        with pytest.warns(pt.PartitaWarning, match="12 x 12 numbers look like distances.*metric='precomputed'"):
            pt.generate(given, "kmeans:2")
        with pytest.warns(pt.PartitaWarning, match="look like distances"):
            pt.ConsensusClustering(2).fit(given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.ConsensusClustering(2, metric="precomputed").fit(distances)
        pt.generate(distances + 1, "kmeans:2")
