"""Pictures of results with Matplotlib. Every function takes ``ax`` and returns the Axes that it drew into."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._choice import ClusterChoice
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._result import ConsensusResult
from partita._tables import bases_of_frame, is_frame
from partita.metrics import agreement_matrix, co_association

__all__ = ["agreement", "choose_k", "cluster_tree", "clustree", "consensus_matrix", "memberships", "object_agreement"]


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


def clustree(labels: Any, prefix: str | None = None, *, least_share: float = 0.1, ax: Any = None) -> Any:
    """How clusters divide and mix from one clustering to the next, in the order of their numbers of clusters.

    A row is a clustering, a circle a cluster with its number of objects as area, a line the objects that two clusters share: the more
    of the lower one's objects they are, the darker. The clusters of a row stand near those that their objects come from. A picture of
    the R package clustree.

    Parameters
    ----------
    labels : AnnData, or labels as for :class:`Ensemble`
        At least two clusterings of the same objects, such as Leiden at several resolutions.
    prefix : str, optional
        Which columns of the ``obs`` of an AnnData, or of a frame: those whose names begin with it, such as ``"leiden_"``.
    least_share : float
        Lines of a smaller share of the lower cluster, from 0 to 1, are left out.

    Raises
    ------
    InputError
        For an AnnData without ``prefix``, a prefix of something without names of columns, and fewer than two clusterings.

    Notes
    -----
    Time is n·M, and K² for every two neighbouring clusterings.
    """
    ensemble = _clusterings(labels, prefix)
    order = np.argsort(ensemble.n_clusters, kind="stable")
    if len(order) < 2:
        raise InputError("one clustering has no flow to another; give two or more")
    if not 0 <= least_share <= 1:
        raise InputError(f"least_share={least_share!r}; write a share from 0 to 1")
    ax, codes, words = _axes(ax), ensemble.to_numpy()[:, order], ensemble._words()
    tables = [_shared(codes[:, at], codes[:, at + 1]) for at in range(len(order) - 1)]
    places = [_evenly_placed(np.argsort(-tables[0].sum(axis=1), kind="stable"))]
    for at, table in enumerate(tables):
        places.append(_evenly_placed(np.argsort(_origins(table, places[at]), kind="stable")))
        _draw_flow(ax, table, at, places[at], places[at + 1], least_share)
    for at, base in enumerate(order):
        sizes = np.bincount(codes[codes[:, at] >= 0, at], minlength=len(places[at]))
        ax.scatter(places[at], np.full(len(sizes), -at), s=40 + 1500 * sizes / len(codes), color=f"C{at % 10}", zorder=2)
        for place, word in zip(places[at], words[base]):
            ax.text(place, -at, word, ha="center", va="center", fontsize="small", zorder=3)
    ax.set_yticks([-at for at in range(len(order))], [ensemble.names[base] for base in order])
    ax.set(title="flow between clusterings", xticks=[], xlim=(0, 1), ylim=(0.5 - len(order), 0.5))
    return ax


def _clusterings(labels: Any, prefix: str | None) -> Ensemble:
    """The columns of an AnnData or a frame whose names begin with a prefix, or clusterings as they are."""
    frame = labels.obs if hasattr(labels, "obs") and hasattr(labels, "obsm") else labels
    if prefix is None:
        if frame is not labels:
            raise InputError("an AnnData has columns of many kinds; say which by prefix=, such as 'leiden_'")
        return Ensemble(labels)
    if not is_frame(frame):
        raise InputError("prefix= names columns of an AnnData or a frame; other labels are all taken")
    return Ensemble(dict(zip(*bases_of_frame("the frame", frame, f"{prefix}*", ()))))


def _shared(above: Any, below: Any) -> Any:
    """Objects of every two clusters of two clusterings, over those that both label."""
    counts, both = np.zeros((above.max(initial=0) + 1, below.max(initial=0) + 1)), (above >= 0) & (below >= 0)
    np.add.at(counts, (above[both], below[both]), 1)
    return counts


def _evenly_placed(order: Any) -> Any:
    """Places from 0 to 1 of clusters in this order."""
    places = np.empty(len(order))
    places[order] = (np.arange(len(order)) + 0.5) / len(order)
    return places


def _origins(table: Any, above: Any) -> Any:
    """The mean place that the objects of every lower cluster come from."""
    return (table * above[:, None]).sum(axis=0) / np.maximum(table.sum(axis=0), 1)


def _draw_flow(ax: Any, table: Any, row: int, above: Any, below: Any, least_share: float) -> None:
    shares = table / np.maximum(table.sum(axis=0), 1)
    for a, b in np.argwhere((shares >= least_share) & (table > 0)):
        width = 1 + 6 * table[a, b] / table.sum()
        ax.plot([above[a], below[b]], [-row, -row - 1], color="black", alpha=shares[a, b] * 0.8, linewidth=width, zorder=1)
