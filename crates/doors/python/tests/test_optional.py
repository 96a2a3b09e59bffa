"""Pictures and AnnData."""

from __future__ import annotations

import json

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
