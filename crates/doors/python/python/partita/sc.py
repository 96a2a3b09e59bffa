"""The consensus of many clusterings of the cells of an AnnData: by Leiden on its graph, or by k-means on its embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._consensus import consensus as _consensus
from partita._consensus import one_method
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._generate import generate
from partita._result import ConsensusResult
from partita._run import seed_of
from partita.anndata import write
from partita.metrics import agreement_matrix

__all__ = ["consensus"]

#: Resolutions of single-cell analyses: from a few large clusters to many small ones.
RESOLUTIONS = (0.1, 2.0)

#: Runs that are compared with each other: enough pairs for a mean, few enough that their resolutions are about the same.
RUNS_OF_BIN = 10


def consensus(
    adata: Any,
    n_clusters: Any = "auto",
    method: str | None = None,
    *,
    resolutions: tuple[float, float] | None = None,
    runs: int = 100,
    obsp: str = "connectivities",
    obsm: str | None = None,
    base_k: Any = None,
    subsample: float = 0.9,
    null: bool = True,
    key_added: str = "consensus",
    random_state: Any = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
    **arguments: Any,
) -> ConsensusResult:
    """Clusters the cells many times and writes what the clusterings agree on into ``adata``.

    Parameters
    ----------
    adata : AnnData
        With the graph of neighbours that ``scanpy.pp.neighbors`` makes, or with what ``obsm`` names.
    n_clusters, method, **arguments
        As for :func:`partita.consensus`.
    resolutions : pair of float, optional
        Every run of Leiden draws its resolution between these two, evenly in its logarithm; .1 and 2 if not given.
    runs : int
        Number of clusterings.
    obsp : str
        The key of ``adata.obsp`` with the weights of the graph, of shape (n, n).
    obsm : str, optional
        A key of ``adata.obsm``, such as ``"X_pca"``, of shape (n, d): its rows are clustered by k-means, and no graph is read.
    base_k : int, range, list or "sqrt", optional
        Clusters of every run of k-means, with ``obsm``; drawn from sqrt(n)/2 to sqrt(n) if not given.
    subsample : float
        Share of the cells that each run sees.
    null : bool
        Compare the stability of the runs with that of as many runs on cells without clusters, which doubles the time of clustering: on
        a graph whose edges are drawn anew so that every cell keeps its number of neighbours; or, with ``obsm``, on columns of which
        each is in another order.
    key_added : str
        ``obs[key_added]`` gets the labels (categorical), ``obs[key_added + "_agreement"]`` the share of the runs that agree
        with the label, ``obsm[key_added + "_probabilities"]`` the probabilities where there are some, and ``uns[key_added]``:
        ``resolutions`` (or ``base_k``) of every run; ``stability``, a frame; ``cluster_agreement``, the mean agreement of every cluster,
        shape (K,); the record as JSON. A row of ``stability`` is a bin of about ten runs with neighbouring resolutions: the lowest and
        the highest of them, the median number of clusters, ``ari``, the mean adjusted Rand index of two runs over the cells that both
        see, and ``null_ari``, the same without clusters; two runs that find one cluster each count as 0. Only where ``ari`` is well above ``null_ari`` do the runs find what is there.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same labels, whatever ``n_jobs`` is; 0 if not given.
    n_jobs, max_memory, progress
        As for :func:`partita.consensus`.

    Raises
    ------
    InputError
        For a key that ``adata`` does not have, and for arguments of Leiden with ``obsm`` or of k-means without.
    """
    how: dict[str, Any] = {"random_state": seed_of(random_state), "n_jobs": n_jobs, "max_memory": max_memory, "progress": progress}
    recipe: dict[str, Any] = {"subsample": subsample}
    if obsm is None:
        if base_k is not None:
            raise InputError("base_k= goes with obsm=; clusters of Leiden follow from resolutions=")
        cells, drawn = _entry(adata, "obsp", obsp, "call scanpy.pp.neighbors(adata)"), "resolutions"
        recipe.update(base=f"leiden:{runs}", resolution=RESOLUTIONS if resolutions is None else resolutions)
    else:
        if resolutions is not None:
            raise InputError("resolutions= are those of Leiden on a graph; clusters of k-means on obsm= are base_k=")
        cells, drawn = np.asarray(_entry(adata, "obsm", obsm, "call scanpy.pp.pca(adata)")), "base_k"
        recipe.update(base=f"kmeans:{runs}", base_k="sqrt" if base_k is None else base_k, scale="none")
    made = generate(cells, recipe, graph=obsm is None, **how)
    result = _consensus(made, n_clusters, one_method(method), **how, **arguments)
    empty = generate(_without_clusters(cells, how["random_state"]), recipe, graph=obsm is None, **how) if null else None
    places = _drawn(made)
    stability = _stability(made, empty, places)
    write(adata, result, key_added, **{drawn: places}, stability=stability, cluster_agreement=_by_cluster(result))
    return result


def _entry(adata: Any, slot: str, key: str, remedy: str) -> Any:
    entries = getattr(adata, slot)
    if key not in entries:
        known = ", ".join(entries.keys()) or "none"
        raise InputError(f"adata.{slot} has no {key!r} (it has {known}); {remedy}, or name another by {slot}=")
    return entries[key]


def _drawn(made: Ensemble) -> NDArray[np.float64]:
    """The resolution, or the number of clusters asked for, of every run: the end of its name."""
    return np.array([float(name.rpartition("=")[2]) for name in made.names])


def _by_cluster(result: ConsensusResult) -> NDArray[np.float64]:
    """Mean agreement of every cluster; NaN of one without objects."""
    agreement, labels = np.nan_to_num(result.agreement_), result.labels_
    sums = np.bincount(labels[labels >= 0], agreement[labels >= 0], minlength=len(result.sizes_))
    means: NDArray[np.float64] = np.divide(sums, result.sizes_, out=np.full(len(sums), np.nan), where=result.sizes_ > 0)
    return means


def _without_clusters(cells: Any, seed: int) -> Any:
    """Cells without clusters: the edges of a graph, drawn anew between the same ends; or columns, each in another order."""
    rng = np.random.default_rng(seed)
    if isinstance(cells, np.ndarray):
        return rng.permuted(cells, axis=0)
    from scipy.sparse import coo_array, triu

    edges = triu(cells, 1).tocoo()
    ends = rng.permutation(np.concatenate([edges.row, edges.col])).reshape(2, -1)
    apart = ends[0] != ends[1]
    half = coo_array((edges.data[apart], tuple(ends[:, apart])), shape=cells.shape).tocsr()
    return (half + half.T).tocsr()


def _stability(made: Ensemble, empty: Ensemble | None, places: NDArray[np.float64]) -> Any:
    """How far runs with neighbouring resolutions agree, beside those of cells without clusters."""
    import pandas as pd

    bins = np.array_split(np.argsort(places, kind="stable"), max(1, len(places) // RUNS_OF_BIN))
    labels, rand = made.to_numpy(), _rand(made)
    rows = {
        "lowest": [places[runs].min() for runs in bins],
        "highest": [places[runs].max() for runs in bins],
        "runs": [len(runs) for runs in bins],
        "clusters": [float(np.median(labels[:, runs].max(axis=0) + 1)) for runs in bins],
        "ari": [_mean_of_pairs(rand, runs) for runs in bins],
    }
    if empty is not None:
        chance = _rand(empty)
        rows["null_ari"] = [_mean_of_pairs(chance, runs) for runs in bins]
    return pd.DataFrame(rows)


def _rand(made: Ensemble) -> NDArray[np.float64]:
    """Adjusted Rand index of every two runs; 0 where neither finds more than one cluster."""
    rand, single = agreement_matrix(made, "ari"), made.to_numpy().max(axis=0) == 0
    rand[np.ix_(single, single)] = 0
    return rand


def _mean_of_pairs(rand: NDArray[np.float64], runs: NDArray[np.intp]) -> float:
    """The mean over every two of these runs; NaN of one run."""
    pairs = rand[np.ix_(runs, runs)][np.triu_indices(len(runs), 1)]
    return float(np.nanmean(pairs)) if len(pairs) else float("nan")
