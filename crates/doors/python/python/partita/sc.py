"""The consensus of many Leiden clusterings of the cells of an AnnData."""

from __future__ import annotations

from typing import Any

from partita._consensus import consensus as _consensus
from partita._consensus import one_method
from partita._errors import InputError
from partita._generate import generate
from partita._result import ConsensusResult
from partita.anndata import write

__all__ = ["consensus"]


def consensus(
    adata: Any,
    n_clusters: Any = "auto",
    method: str | None = None,
    *,
    resolutions: tuple[float, float] = (0.1, 2.0),
    runs: int = 100,
    obsp: str = "connectivities",
    subsample: float = 0.9,
    key_added: str = "consensus",
    random_state: Any = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
    **arguments: Any,
) -> ConsensusResult:
    """Clusters the cells by Leiden many times and writes what the clusterings agree on into ``adata``.

    Parameters
    ----------
    adata : AnnData
        With the graph of neighbours that ``scanpy.pp.neighbors`` makes.
    n_clusters, method, **arguments
        As for :func:`partita.consensus`.
    resolutions : pair of float
        Every run draws its resolution between these two, evenly in its logarithm.
    runs : int
        Number of clusterings.
    obsp : str
        The key of ``adata.obsp`` with the weights of the graph, of shape (n, n).
    subsample : float
        Share of the cells that each run sees.
    key_added : str
        ``obs[key_added]`` gets the labels (categorical), ``obs[key_added + "_agreement"]`` the share of the runs that agree
        with the label, ``obsm[key_added + "_probabilities"]`` the probabilities where there are some, ``uns[key_added]`` the
        resolution of every run and the record as JSON.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same labels, whatever ``n_jobs`` is; 0 if not given.
    n_jobs, max_memory, progress
        As for :func:`partita.consensus`.
    """
    if obsp not in adata.obsp:
        known = ", ".join(adata.obsp.keys()) or "none"
        raise InputError(f"adata.obsp has no {obsp!r} (it has {known}); call scanpy.pp.neighbors(adata), or name another by obsp=")
    how = {"random_state": random_state, "n_jobs": n_jobs, "max_memory": max_memory, "progress": progress}
    recipe = {"base": f"leiden:{runs}", "resolution": resolutions, "subsample": subsample}
    made = generate(adata.obsp[obsp], recipe, graph=True, **how)
    result = _consensus(made, n_clusters, one_method(method), **how, **arguments)
    write(adata, result, key_added, resolutions=[float(name.partition("=")[2]) for name in made.names])
    return result
