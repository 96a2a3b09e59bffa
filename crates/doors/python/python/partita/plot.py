"""Pictures of results with Matplotlib. Every function takes ``ax`` and returns the Axes that it drew into."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._choice import ClusterChoice
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._result import ConsensusResult
from partita.metrics import agreement_matrix, co_association

__all__ = ["agreement", "choose_k", "cluster_tree", "consensus_matrix", "memberships", "object_agreement"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _by_cluster(result: ConsensusResult) -> Any:
    """Objects by cluster, those most agreed on first."""
    return np.lexsort((-result.agreement_, result.labels_))


def _evenly(objects: Any, most: int) -> Any:
    """At most so many of the objects, evenly."""
    return objects if len(objects) <= most else objects[np.linspace(0, len(objects) - 1, most).astype(int)]


def consensus_matrix(result: ConsensusResult, *, most: int = 1000, ax: Any = None) -> Any:
    """How often objects are together in the base clusterings, by cluster; of many objects ``most``, evenly."""
    ax, shown = _axes(ax), _evenly(_by_cluster(result), most)
    codes = result.ensemble_.to_numpy()[shown]
    labelled = (codes >= 0).any(axis=0)
    matrix = co_association(np.ascontiguousarray(codes[:, labelled]))
    image = ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="share of base clusterings")
    edges = np.flatnonzero(np.diff(result.labels_[shown])) + 0.5
    for edge in edges:
        ax.axhline(edge, color="black", linewidth=0.5)
        ax.axvline(edge, color="black", linewidth=0.5)
    ax.set(title=f"co-association by cluster ({result.method})", xlabel="objects by cluster", ylabel="objects by cluster")
    return ax


def object_agreement(result: ConsensusResult, *, ax: Any = None) -> Any:
    """The agreement of all objects, by cluster and falling."""
    ax, order = _axes(ax), _by_cluster(result)
    labels, values = result.labels_[order], result.agreement_[order]
    for label in np.unique(labels):
        at = np.flatnonzero(labels == label)
        ax.fill_between(at, values[at], step="mid", color=f"C{label % 10}", label=str(label))
    ax.set(title=f"agreement ({result.method})", xlabel="objects by cluster", ylabel="agreement", ylim=(0, 1))
    ax.legend(title="cluster", fontsize="small")
    return ax


def memberships(result: ConsensusResult, *, most: int = 500, ax: Any = None) -> Any:
    """Probabilities of all clusters as stacked bars, objects by cluster."""
    if result.probabilities_ is None:
        raise InputError(f"{result.method} gives no probabilities; methods() says which do (soft)")
    ax, shown = _axes(ax), _evenly(_by_cluster(result), most)
    rows = result.probabilities_[shown]
    ax.stackplot(np.arange(len(rows)), rows.T, labels=[str(label) for label in range(rows.shape[1])], step="mid")
    ax.set(title=f"memberships ({result.method})", xlabel="objects by cluster", ylabel="probability", ylim=(0, 1))
    ax.legend(title="cluster", fontsize="small")
    return ax


def choose_k(choice: ClusterChoice, *, ax: Any = None) -> Any:
    """What decided on the number of clusters, by number."""
    ax = _axes(ax)
    names = [name for name in (choice.criterion, "score", "rcsi", "lifetime", "anmi", "pac") if name]
    measured = next((name for name in names if any(row.get(name) is not None for row in choice.rows)), None)
    if measured is None:
        raise InputError("nothing was measured of any number of clusters")
    rows = [(row["clusters"], row[measured]) for row in choice.rows if row.get(measured) is not None]
    ax.plot(*zip(*rows), marker="o")
    ax.axvline(choice.n_clusters, linestyle="--", color="black", label=f"chosen: {choice.n_clusters}")
    ax.set(title="number of clusters", xlabel="clusters", ylabel=measured)
    ax.legend()
    return ax


def cluster_tree(result: ConsensusResult, *, ax: Any = None, **settings: Any) -> Any:
    """The tree of clusters: the method's own where it cuts one, else average link of the co-association between clusters."""
    from scipy.cluster import hierarchy

    ax = _axes(ax)
    tree = result.linkage_
    if tree is None:
        tree = _tree_of_clusters(result)
    else:
        settings = {"truncate_mode": "lastp", "p": max(2, result.n_clusters), **settings}
    hierarchy.dendrogram(tree, ax=ax, **settings)
    ax.set(title=f"cluster tree ({result.method})", ylabel="dissimilarity")
    return ax


def _tree_of_clusters(result: ConsensusResult) -> Any:
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    if result.n_clusters < 2:
        raise InputError("one cluster makes no tree")
    clusters = np.flatnonzero(result.sizes_)
    shown = np.concatenate([_evenly(np.flatnonzero(result.labels_ == label), 200) for label in clusters])
    shares, labels = co_association(np.ascontiguousarray(result.ensemble_.to_numpy()[shown])), result.labels_[shown]
    means = np.array([[np.nanmean(shares[np.ix_(labels == a, labels == b)]) for b in clusters] for a in clusters])
    distances = np.clip(1 - (means + means.T) / 2, 0, 1)
    np.fill_diagonal(distances, 0)
    return hierarchy.linkage(squareform(np.nan_to_num(distances, nan=1.0), checks=False), "average")


def agreement(ensemble: Any, *, ax: Any = None) -> Any:
    """NMI of all pairs of base clusterings."""
    ax, given = _axes(ax), Ensemble(ensemble)
    image = ax.imshow(agreement_matrix(given), vmin=0, vmax=1, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="NMI")
    if given.n_base_clusterings <= 30:
        places = range(given.n_base_clusterings)
        ax.set_xticks(places, given.names, rotation=90)
        ax.set_yticks(places, given.names)
    ax.set(title="agreement of base clusterings")
    return ax
