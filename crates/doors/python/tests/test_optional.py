"""Pictures and AnnData."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import partita as pt


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


@pytest.mark.parametrize("name", ["consensus_matrix", "object_agreement", "memberships", "cluster_tree"])
@pytest.mark.parametrize("method", ["lwgp", "eac-average", "mm"])
def test_pictures_of_results(ensemble, axes, name, method):
    found = pt.consensus(ensemble, 3, method)
    if name == "memberships" and found.probabilities_ is None:
        with pytest.raises(pt.InputError, match="no probabilities"):
            pt.plot.memberships(found)
        return
    assert getattr(pt.plot, name)(found, ax=axes) is axes
    assert axes.get_title() and axes.has_data()


def test_pictures_of_choices_and_ensembles(ensemble, axes):
    assert pt.plot.choose_k(pt.choose_k(ensemble, range(2, 6)), ax=axes) is axes
    # Without ax= a picture makes its own.
    drawn = pt.plot.agreement(ensemble)
    assert drawn.get_title() and drawn.figure is not axes.figure


def test_estimators_say_which_library_they_lack(monkeypatch):
    for name in ("sklearn", "sklearn.base"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "partita._estimators", raising=False)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        pt.ConsensusClustering(2)


def test_flow_between_clusterings(labels, axes):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({f"leiden_{at}": np.char.add("c", labels[:, at].astype(str)) for at in range(3)}, index=[f"cell{at}" for at in range(90)])
    frame["leiden_0.1"], frame["score"] = "one", np.linspace(0, 1, 90)
    assert pt.plot.clustree(frame, "leiden_", ax=axes) is axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["leiden_0.1", "leiden_0", "leiden_1", "leiden_2"]
    # One circle a cluster; a line where a tenth of a cluster comes from.
    assert [text.get_text() for text in axes.texts][0] == "one" and len(axes.texts) == 10 and len(axes.lines) >= 9
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((90, 2)), obs=frame)
    assert len(pt.plot.clustree(adata, "leiden_").texts) == 10
    assert len(pt.plot.clustree(labels, least_share=1).texts) == sum(pt.Ensemble(labels).n_clusters)
    for wrong, said in [((adata,), "prefix=, such as"), ((labels, "leiden"), "of an AnnData or a frame"), ((frame, "leiden_0.1"), "two or more")]:
        with pytest.raises(pt.InputError, match=said):
            pt.plot.clustree(*wrong)
    with pytest.raises(pt.InputError, match="least_share=3"):
        pt.plot.clustree(labels, least_share=3)


def test_gaps_do_not_matter(labels, axes):
    gaps = labels.copy()
    gaps[::7, 0] = -1
    gaps[:80, 1] = -1
    assert pt.plot.consensus_matrix(pt.consensus(gaps, 3), most=20, ax=axes) is axes


def test_anndata(labels):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame({name: pd.Categorical(labels[:, at].astype(str)) for at, name in enumerate(["leiden", "louvain", "sc3"])})
    obs.index = [f"cell{at}" for at in range(90)]
    adata = anndata.AnnData(np.zeros((90, 2)), obs=obs)
    found = pt.anndata.consensus(adata, ["leiden", "louvain", "sc3"], 3, "mm", key_added="agreed")
    assert adata.obs["agreed"].astype(int).tolist() == found.labels_.tolist()
    assert adata.obs["agreed_agreement"].tolist() == found.agreement_.tolist()
    assert adata.obsm["agreed_probabilities"].shape == (90, 3)
    assert json.loads(adata.uns["agreed"]["record"])["methods"][0]["method"] == "mm"
    with pytest.raises(pt.InputError, match="no column 'hdbscan'"):
        pt.anndata.consensus(adata, ["hdbscan"], 3)


def test_graphs_of_cells():
    anndata, sparse = pytest.importorskip("anndata"), pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(4), 40)
    chance = np.where(groups[:, None] == groups, 0.3, 0.01)
    upper = np.triu(rng.random((160, 160)) < chance, 1)
    adata = anndata.AnnData(np.zeros((160, 2)))
    adata.obsp["connectivities"] = sparse.csr_matrix((upper | upper.T).astype(np.float32))
    found = pt.sc.consensus(adata, resolutions=(0.5, 1.5), runs=12, random_state=1)
    assert pt.metrics.adjusted_rand(found.labels_, groups) == 1
    assert adata.obs["consensus"].astype(int).tolist() == found.labels_.tolist()
    assert adata.obs["consensus_agreement"].tolist() == found.agreement_.tolist() and 0 < found.agreement_.min() <= found.agreement_.max() <= 1
    drawn = adata.uns["consensus"]["resolutions"]
    assert len(set(drawn)) == 12 and 0.5 <= min(drawn) < max(drawn) <= 1.5
    assert json.loads(adata.uns["consensus"]["record"])["methods"]
    stability = adata.uns["consensus"]["stability"]
    assert stability["runs"].tolist() == [12] and stability["ari"][0] > 0.9 and stability["null_ari"][0] < 0.3
    means = [found.agreement_[found.labels_ == at].mean() for at in range(4)]
    assert np.allclose(adata.uns["consensus"]["cluster_agreement"], means)
    again = pt.sc.consensus(adata, 4, resolutions=(0.5, 1.5), runs=12, random_state=1, n_jobs=1, key_added="four")
    assert adata.obs["four"].nunique() == 4 and again.labels_.tolist() == found.labels_.tolist()
    with pytest.raises(pt.InputError, match=r"no 'distances' \(it has connectivities\); call scanpy.pp.neighbors"):
        pt.sc.consensus(adata, obsp="distances")
    adata.obsp["skew"] = sparse.csr_matrix(np.triu(np.ones((160, 160))))
    with pytest.raises(pt.InputError, match="symmetric: take the sum with its transpose"):
        pt.sc.consensus(adata, obsp="skew")
    with pytest.raises(pt.InputError, match="scipy.sparse.csr_array"):
        pt.generate(np.ones((3, 3)), graph=True)


def test_embeddings_of_cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(3), 60)
    adata = anndata.AnnData(np.zeros((180, 1)))
    adata.obsm["X_pca"] = rng.normal(size=(3, 5))[groups] * 5 + rng.normal(size=(180, 5))
    found = pt.sc.consensus(adata, 3, obsm="X_pca", runs=20, base_k="2..6")
    assert pt.metrics.adjusted_rand(found.labels_, groups) == 1
    stored = adata.uns["consensus"]
    assert set(stored["base_k"]) <= set(range(2, 7)) and "resolutions" not in stored
    assert (stored["stability"]["ari"] > stored["stability"]["null_ari"]).all() and stored["stability"]["runs"].sum() == 20
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["consensus"]["stability"].equals(stored["stability"])
    alone = pt.sc.consensus(adata, 3, obsm="X_pca", runs=20, base_k="2..6", null=False, n_jobs=1)
    assert np.array_equal(alone.labels_, found.labels_) and "null_ari" not in adata.uns["consensus"]["stability"]
    for wrong, said in [({"obsm": "X_umap"}, r"no 'X_umap' \(it has"), ({"obsm": "X_pca", "resolutions": (1, 2)}, "on a graph"), ({"base_k": 4}, "with obsm=")]:
        with pytest.raises(pt.InputError, match=said):
            pt.sc.consensus(adata, **wrong)


def test_edges_drawn_anew_keep_the_number_of_neighbours():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(4)
    upper = np.triu(rng.random((300, 300)) < 0.05, 1).astype(float)
    graph = sparse.csr_array(upper + upper.T)
    drawn = pt.sc._without_clusters(graph, 1)
    assert (drawn != drawn.T).nnz == 0 and (drawn.diagonal() == 0).all()
    before, after = graph.sum(axis=1), drawn.sum(axis=1)
    # Edges of a cell to itself, which are few, are left out.
    assert (after <= before).all() and after.sum() > 0.97 * before.sum()
    assert (graph.toarray() * drawn.toarray()).sum() < 0.2 * before.sum()


@pytest.mark.parametrize("packing", [{}, {"compression": "gzip"}, {"compression": "lzf"}, {"latest": True}])
def test_files_of_anndata_are_read_as_what_is_in_them(tmp_path, packing):
    anndata = pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(3), 40)
    values = rng.poisson(np.eye(3)[groups] @ rng.uniform(0, 6, (3, 15))).astype("float32")
    path = tmp_path / "cells.h5ad"
    for stored, sparse_x in [(values, False), (sparse.csr_matrix(values), True), (sparse.csc_matrix(values), True)]:
        cells = anndata.AnnData(stored, obsm={"X_pca": rng.normal(size=(3, 4))[groups] * 5}, layers={"half": values / 2})
        cells.obs_names = [f"cell-{i}" for i in range(120)]
        cells.obs["cell_type"] = pandas.Categorical(np.array(["B", "T", "NK"])[groups])
        gap = groups.astype(object)
        gap[5] = None
        cells.obs["leiden_0.5"], cells.obs["leiden_1.0"] = pandas.Categorical(groups.astype(str)), pandas.Categorical(gap)
        cells.obs["n_counts"] = values.sum(axis=1) + rng.random(120)
        if packing.get("latest"):
            with h5py.File(path, "w", libver="latest") as file:
                anndata.io.write_elem(file, "/", cells)
        else:
            cells.write_h5ad(path, **packing)
        table = pt.read_table(path, truth="cell_type")
        assert sparse.issparse(table.X) == sparse_x
        found = table.X.toarray() if sparse_x else table.X
        assert np.array_equal(found, values) and table.object_names == list(cells.obs_names) and table.columns == list(cells.var_names)
        assert list(table.truth) == list(cells.obs["cell_type"])
        assert np.array_equal(pt.read_table(path, layer="half").X, values / 2)
        assert np.array_equal(pt.read_table(path, obsm="X_pca").X, cells.obsm["X_pca"])
        labels = pt.read_ensemble(path, only="leiden*")
        assert labels.names == ["leiden_0.5", "leiden_1.0"] and labels.object_names == list(cells.obs_names)
        assert pt.metrics.adjusted_rand(pt.consensus(labels, 3).labels_, groups) == 1
        same = pt.anndata.consensus(cells, "leiden*", 3)
        assert np.array_equal(same.labels_, pt.consensus(labels, 3).labels_)
    with pytest.raises(pt.InputError, match="no layer 'spliced'; there are 'half'"):
        pt.read_table(path, layer="spliced")
    # Before anndata 0.7 obs was one array of records.
    with h5py.File(path, "w") as file:
        file["X"] = values
        file["obs"] = np.zeros(120, dtype=[("index", "S8"), ("leiden", "i4")])
    with pytest.raises(pt.InputError, match="before 0.7.*read_h5ad"):
        pt.read_ensemble(path)
