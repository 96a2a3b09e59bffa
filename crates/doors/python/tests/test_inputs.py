"""Ensembles and tables of every kind of input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import partita as pt

MISSING = [None, float("nan"), "", "NA", "nan", "NULL", "?", "<NA>", "None"]


TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", ">i4", ">f8", "<i2", ">u2"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type_and_order(labels, ensemble, dtype, order):
    assert pt.Ensemble(np.asarray(labels.astype(dtype), order=order)) == ensemble


def test_strided_and_read_only_arrays(labels, ensemble):
    wide = np.repeat(np.repeat(labels, 2, axis=0), 3, axis=1)[::2, ::3]
    assert pt.Ensemble(wide) == ensemble
    assert pt.Ensemble(labels[::-1][::-1]) == ensemble
    frozen = labels.copy()
    frozen.flags.writeable = False
    assert pt.Ensemble(frozen) == ensemble


def test_booleans_are_labels():
    made = pt.Ensemble(np.array([[True, False], [False, False]]))
    assert made.to_numpy().tolist() == [[1, 0], [0, 0]]


def test_columns_one_by_one(labels, ensemble):
    columns = {f"base{at}": column for at, column in enumerate(labels.T)}
    for made in ([column.tolist() for column in labels.T], list(labels.T), tuple(labels.T), columns):
        assert pt.Ensemble(made) == ensemble, type(made)


def test_pandas(labels, ensemble):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(labels, columns=ensemble.names)
    assert pt.Ensemble(frame) == ensemble
    named = pt.Ensemble(frame.set_axis([f"cell {at}" for at in range(90)]))
    assert named.object_names[:2] == ["cell 0", "cell 1"]
    assert pt.consensus(named, 3).to_frame().index[0] == "cell 0"


@pytest.mark.parametrize("dtype", ["category", "string", "Int64", "object", "Int8", "Float64"])
def test_types_of_pandas(dtype):
    pd = pytest.importorskip("pandas")
    column = pd.Series([1, 1, 2, None], dtype="Int64").astype(dtype)
    made = pt.Ensemble(pd.DataFrame({"a": column}))
    assert made.to_numpy()[:, 0].tolist() == [0, 0, 1, -1]
    assert made.to_frame()["a"].cat.categories.tolist() == ["1", "2"]


def test_pandas_with_the_same_name_twice(labels):
    pd = pytest.importorskip("pandas")
    made = pt.Ensemble(pd.DataFrame(labels[:, :2], columns=["a", "a"]))
    assert made.shape == (90, 2)


@pytest.mark.parametrize(("library", "frame"), [("polars", "DataFrame"), ("pyarrow", "table")])
def test_frames_of_other_libraries(labels, ensemble, library, frame):
    frame_of = getattr(pytest.importorskip(library), frame)
    assert pt.Ensemble(frame_of(dict(zip(ensemble.names, labels.T)))) == ensemble
    gaps = pt.Ensemble(frame_of({"a": [1, None, 2], "b": ["x", None, "y"]}))
    assert gaps.to_numpy().tolist() == [[0, 0], [-1, -1], [1, 1]]


def test_categories_of_polars():
    pl = pytest.importorskip("polars")
    words = pl.DataFrame({"a": pl.Series(["b", "a", None], dtype=pl.Categorical)})
    assert pt.Ensemble(words).to_numpy()[:, 0].tolist() == [1, 0, -1]


@pytest.mark.parametrize("word", MISSING)
def test_words_that_are_missing(word):
    made = pt.Ensemble({"a": ["x", word, "y"], "b": [1, 1, 2]})
    assert made.to_numpy()[:, 0].tolist() == [0, -1, 1]
    assert made.missing == 1


@pytest.mark.parametrize("kind", ["array", "list", "Series", "Int64", "Categorical"])
def test_what_is_missing_can_be_said(kind):
    labels, pd = [-1, -1, 0, 0, 7, 7], pytest.importorskip("pandas")
    of_kind = {"Series": pd.Series, "Int64": lambda labels: pd.Series(labels, dtype="Int64"), "Categorical": pd.Categorical}
    make = {"array": np.array, "list": list, **of_kind}[kind]
    assert pt.Ensemble({"a": make(labels)}).missing == 2
    kept = pt.Ensemble({"a": make(labels)}, missing=())
    assert kept.missing == 0 and kept.to_numpy()[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert pt.Ensemble({"a": make(labels)}, missing=[7]).to_numpy()[:, 0].tolist() == [0, 0, 1, 1, -1, -1]


def test_gaps_are_missing_whatever_is_said():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"words": ["NA", "NA", "x", None], "numbers": pd.array([-1, None, 2, 2], dtype="Int64"), "real": [-1.0, np.nan, 2, 2]})
    kept = pt.Ensemble(frame, missing=())
    assert kept.missing == 3 and kept.to_numpy().tolist() == [[0, 0, 0], [0, -1, -1], [1, 1, 1], [-1, 1, 1]]
    with pytest.raises(pt.InputError, match="write a list"):
        pt.Ensemble(frame, missing="NA")


@pytest.mark.parametrize("column", [[5, -1, 7], [5.0, float("nan"), 7.0], [5, None, 7], ["5", "", "7"], ["5", "-1", "7"]])
def test_numbers_with_gaps(column):
    made = pt.Ensemble({"a": column})
    assert made.to_numpy()[:, 0].tolist() == [0, -1, 1]
    assert made._words() == [["5", "7"]]


def test_numbers_are_in_the_order_of_numbers():
    assert pt.Ensemble({"a": ["10", "9", "10"]})._words() == [["9", "10"]]
    assert pt.Ensemble({"a": ["b10", "b9", "b10"]})._words() == [["b10", "b9"]]
    large = np.array([[2**40], [3], [2**40 + 1]])
    assert pt.Ensemble(large)._words() == [["3", str(2**40), str(2**40 + 1)]]


def test_many_clusters_take_two_bytes():
    made = pt.Ensemble(np.arange(600)[:, None] % 300)
    assert made.n_clusters == [300] and made.to_numpy()[299, 0] == 299


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.array([[0.5], [1.0]]), "base clustering 'base0' has 0.5 in row 0"),
        (np.array([[0], [-2]]), "has -2 in row 1"),
        (np.array([[np.inf], [1.0]]), "has inf in row 0"),
        (np.zeros(4, dtype=int), "reshape one column"),
        (np.zeros((2, 2, 2), dtype=int), "shape"),
        ([1, 2, 3], "list of base clusterings"),
        ({"a": [1, 2], "b": [1]}, "base clustering 'b' labels 1 objects, 'a' 2"),
        ({"a": [None, None]}, "'a' has no label at all"),
        ({}, "at least one object"),
        (np.zeros((0, 3), dtype=int), "at least one object"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "labels are whole numbers or words"),
        (np.array([[1 + 2j]]), "labels are whole numbers or words"),
        ({"a": [[1], [2]]}, "has [1] in row 0"),
        ({"a": np.arange(70000)}, "at most 65534"),
    ],
)
def test_what_is_not_an_ensemble(data, said):
    with pytest.raises(pt.InputError, match=".*") as error:
        pt.Ensemble(data)
    assert said in str(error.value)
    assert isinstance(error.value, ValueError)


def test_names(labels):
    made = pt.Ensemble(labels[:, :2], names=["first", "second"], objects=[f"o{at}" for at in range(90)])
    assert made.names == ["first", "second"] and made.object_names[89] == "o89"
    with pytest.raises(pt.InputError, match="3 names for 2"):
        pt.Ensemble(labels[:, :2], names=["a", "b", "c"])
    with pytest.raises(pt.InputError, match="1 object names for 90"):
        pt.Ensemble(labels, objects=["a"])


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_files(ensemble, tmp_path, ending):
    path = tmp_path / f"e.{ending}"
    ensemble.save(path)
    assert pt.read_ensemble(path).to_numpy().tolist() == ensemble.to_numpy().tolist()
    if ending == "parquet":
        ensemble.to_parquet(path)
    else:
        with pytest.raises(pt.InputError, match=".parquet"):
            ensemble.to_parquet(path)


@pytest.mark.parametrize(
    ("read", "name"), [(pt.read_ensemble, "nowhere.csv"), (pt.load_model, "nowhere.json"), (pt.load_model, "empty.json")]
)
def test_files_that_cannot_be_read(read, name, tmp_path):
    (tmp_path / "empty.json").write_text("{}")
    with pytest.raises(pt.InputError, match=name):
        read(tmp_path / name)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_of_every_type(blobs, dtype, order):
    whole = np.round(blobs * 4).clip(0, 200)
    table = np.asarray(whole.astype(dtype), order=order)
    expected = pt.generate(table.astype("float64"), "kmeans:3", base_k=3)
    assert pt.generate(table, "kmeans:3", base_k=3) == expected


def test_frames_are_tables(blobs):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = dict(zip("xyz", blobs.T))
    for frame_of in (pd.DataFrame, pl.DataFrame, pa.table):
        assert pt.generate(frame_of(columns), "kmeans:3", base_k=3) == pt.generate(blobs, "kmeans:3", base_k=3)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"])
def test_sparse_tables(blobs, form):
    sparse = pytest.importorskip("scipy.sparse")
    table = np.where(np.abs(blobs) > 1, blobs, 0)
    made = pt.generate(getattr(sparse, form)(table), "kmeans:3", base_k=3, random_state=1)
    assert made.shape == (120, 3)
    # Sums of sparse rows are rounded elsewhere; clusters this far apart are the same.
    dense = pt.generate(table, "kmeans:3", base_k=3, random_state=1)
    assert pt.metrics.adjusted_rand(pt.consensus(made, 3).labels_, pt.consensus(dense, 3).labels_) > 0.9


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.array([[1.0, np.nan], [2.0, np.nan]]), "column 'x1' has no value at all"),
        (np.array([[1.0, 2.0], [np.inf, 3.0]]), "row 1, column '0' is inf"),
        (np.array([["a", "b"]]), "'a' is not a number"),
        (np.zeros(3), "shape (objects, features)"),
        (np.zeros((0, 2)), "shape (objects, features)"),
        (np.array([[1j]]), "has numbers, not complex128"),
    ],
)
def test_what_is_not_a_table(table, said):
    with pytest.raises(pt.InputError) as error:
        pt.generate(table, "kmeans:2", base_k=2)
    assert said in str(error.value)


def shares(seed, n=40, k=3):
    random = np.random.default_rng(seed)
    planted = np.full((n, k), 0.05)
    planted[np.arange(n), np.arange(n) % k] = 1.0
    table = planted * random.uniform(0.5, 2.0, (n, k))
    return (table / table.sum(axis=1, keepdims=True))[:, random.permutation(k)]


def test_soft_runs_become_one_answer():
    runs = pt.Ensemble.from_shares({f"r{seed}": shares(seed) for seed in range(6)})
    assert runs.is_soft and runs.n_clusters == [3] * 6 and "6 soft base clusterings" in repr(runs)
    for method in ["soft-mean", "lwgp", "mm", "eac-average", "pcc-l2"]:
        found = pt.consensus(runs, n_clusters=3, method=method, random_state=0)
        assert len({tuple(found.labels_[start::3]) for start in range(3)}) == 3, method
        assert all(len(set(found.labels_[start::3])) == 1 for start in range(3)), method
    with pytest.raises(pt.InputError, match="soft"):
        pt.consensus(runs, n_clusters=3, method="hgpa")
    hard = runs.hardened()
    assert not hard.is_soft and len(set(pt.consensus(hard, n_clusters=3, method="urcv").labels_)) == 3


def test_soft_runs_survive_pickles_files_and_frames(tmp_path):
    runs = pt.Ensemble.from_shares([shares(1), shares(2)], names=["a", "b"], objects=[f"o{i}" for i in range(40)])
    assert pickle.loads(pickle.dumps(runs)) == runs
    runs.save(tmp_path / "runs.npz")
    assert pt.read_ensemble(tmp_path / "runs.npz") == runs
    np.testing.assert_allclose(runs.shares(0), shares(1), rtol=1e-12)
    with pytest.raises(IndexError):
        runs.shares(2)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(shares(1), index=runs.object_names, columns=["x", "y", "z"])
    assert pt.Ensemble.from_shares({"a": frame}).object_names == runs.object_names


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, 0.6]], "row 1: the shares sum to 1.1"),
        ([[1.5, -0.5]], "row 1, column 1: 1.5 is not a share"),
        ([0.5, 0.5], "1 dimensions"),
        ([[0.0, 0.0]], "no label"),
    ],
)
def test_what_is_not_shares_is_refused(table, message):
    with pytest.raises(pt.InputError, match=message):
        pt.Ensemble.from_shares({"a": np.array(table)})


def test_shares_of_different_objects_are_refused():
    with pytest.raises(pt.InputError):
        pt.Ensemble.from_shares({"a": np.full((2, 2), 0.5), "b": np.full((1, 2), 0.5)})
