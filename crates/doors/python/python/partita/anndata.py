"""The consensus of label columns of an AnnData."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from partita._consensus import consensus as _consensus
from partita._consensus import one_method
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._result import ConsensusResult

__all__ = ["consensus"]


def consensus(
    adata: Any, keys: str | Sequence[str], n_clusters: Any = "auto", method: str | None = None, *, key_added: str = "consensus", **arguments: Any
) -> ConsensusResult:
    """Finds the consensus of label columns of ``adata.obs`` and writes it into ``adata``.

    Parameters
    ----------
    adata : AnnData
    keys : str or sequence of str
        Columns of ``adata.obs`` with labels, such as ``["leiden", "louvain", "sc3"]``.
    n_clusters, method, **arguments
        As for :func:`partita.consensus`.
    key_added : str
        ``obs[key_added]`` gets the labels (categorical), ``obs[key_added + "_confidence"]`` their confidence,
        ``obsm[key_added + "_probabilities"]`` the probabilities where there are some, ``uns[key_added]`` the record as JSON.
    """
    import pandas as pd

    keys = [keys] if isinstance(keys, str) else list(keys)
    absent = [key for key in keys if key not in adata.obs.columns]
    if absent:
        raise InputError(f"adata.obs has no column '{absent[0]}'; it has {', '.join(map(str, adata.obs.columns))}")
    result = _consensus(Ensemble(adata.obs[keys]), n_clusters, one_method(method), **arguments)
    names = [str(label) for label in range(len(result.sizes_))]
    adata.obs[key_added] = pd.Categorical.from_codes(result.labels_, names)
    adata.obs[f"{key_added}_confidence"] = result.confidence_
    if result.probabilities_ is not None:
        adata.obsm[f"{key_added}_probabilities"] = result.probabilities_
    adata.uns[key_added] = {"keys": keys, "method": result.method, "record": json.dumps(result.record_)}
    return result
