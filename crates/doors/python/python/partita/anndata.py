"""The consensus of label columns of an AnnData."""

from __future__ import annotations

import json
from typing import Any

from partita._consensus import consensus as _consensus
from partita._consensus import one_method
from partita._ensemble import Ensemble
from partita._result import ConsensusResult
from partita._tables import ColumnNames, bases_of_frame

__all__ = ["consensus"]


def consensus(
    adata: Any, keys: ColumnNames, n_clusters: Any = "auto", method: str | None = None, *, key_added: str = "consensus", **arguments: Any
) -> ConsensusResult:
    """Finds the consensus of label columns of ``adata.obs`` and writes it into ``adata``.

    Parameters
    ----------
    adata : AnnData
    keys : str, regular expression, or sequence of them
        Columns of ``adata.obs`` with labels, such as ``["leiden", "louvain", "sc3"]``, ``"leiden*"`` or ``re.compile("^leiden_")``.
    n_clusters, method, **arguments
        As for :func:`partita.consensus`.
    key_added : str
        ``obs[key_added]`` gets the labels (categorical), ``obs[key_added + "_agreement"]`` their agreement,
        ``obsm[key_added + "_probabilities"]`` the probabilities where there are some, ``uns[key_added]`` the record as JSON.
    """
    columns = dict(zip(*bases_of_frame("adata.obs", adata.obs, keys, ())))
    result = _consensus(Ensemble(columns, objects=list(adata.obs_names)), n_clusters, one_method(method), **arguments)
    write(adata, result, key_added, keys=list(columns))
    return result


def write(adata: Any, result: ConsensusResult, key_added: str, **made_of: Any) -> None:
    """Writes a result and what it is made of under this key, as :func:`consensus` says."""
    import pandas as pd

    names = [str(label) for label in range(len(result.sizes_))]
    adata.obs[key_added] = pd.Categorical.from_codes(result.labels_, names)
    adata.obs[f"{key_added}_agreement"] = result.agreement_
    if result.probabilities_ is not None:
        adata.obsm[f"{key_added}_probabilities"] = result.probabilities_
    adata.uns[key_added] = {**made_of, "method": result.method, "record": json.dumps(result.record_)}
