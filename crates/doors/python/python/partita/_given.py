"""What is handed in place of labels or a table: objects of other libraries, which are named at once with what to give instead."""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from partita._errors import InputError, PartitaWarning

_LABELS = "give an array, a frame, a dict or a list of base clusterings"
_TABLE = "give an array, a frame or a sparse matrix of numbers"


def check_labels(data: Any) -> None:
    """Refuses what holds no base clusterings as it is, and says what to give."""
    _check(data, 2)


def check_table(data: Any) -> None:
    """Refuses what holds no table as it is, and says what to give."""
    _check(data, 3)
    if isinstance(data, Mapping):
        raise InputError("this is a dict; a table is an array, a frame or a sparse matrix, such as pandas.DataFrame(it)")


def check_distances(values: Any) -> None:
    """Refuses what has no distances of all pairs of objects."""
    if not isinstance(values, np.ndarray):
        raise InputError("distances are read from dense arrays; give matrix.toarray()")
    if values.shape[0] != values.shape[1]:
        raise InputError(f"metric='precomputed' takes distances of all pairs, shape (n, n), not {values.shape}")
    if np.isnan(values).any() or (values < 0).any():
        raise InputError("metric='precomputed' takes distances, which are not below 0 and have no gaps")
    if np.abs(np.diagonal(values)).max() > 1e-6 or not np.allclose(values, values.T, rtol=1e-6, atol=0):
        raise InputError("metric='precomputed' takes distances: symmetric, with 0 on the diagonal; of similarities s give 1 - s")


def warn_of_distances(values: Any) -> None:
    """Warns where an array of features looks like distances of all pairs of objects."""
    n, d = values.shape
    if n != d or n < 4 or values.dtype.kind not in "iuf" or (np.diagonal(values) != 0).any():
        return
    if (values >= 0).all() and values.any() and np.allclose(values, values.T, rtol=1e-6, atol=0):
        what = f"the {n} x {n} numbers look like distances of all pairs of objects and are taken for features"
        warnings.warn(f"{what}; ConsensusClustering(metric='precomputed') takes them as distances", PartitaWarning, stacklevel=4)


def is_clustering(data: Any) -> bool:
    """Whether it is one clustering by the names of its objects: a dict of node to community, a list of sets of nodes, or one of igraph."""
    if isinstance(data, Mapping):
        return bool(data) and _is_plain(next(iter(data.values())))
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(item, (set, frozenset)) for item in data)
    return isinstance(getattr(data, "membership", None), list)


def labels_by_name(name: str, data: Any) -> tuple[list[Any], list[Any] | None]:
    """Labels and names of the objects of what :func:`is_clustering` says is one."""
    if isinstance(data, Mapping):
        return list(data.values()), list(data)
    if not isinstance(data, (list, tuple)):
        nodes = data.graph.vs
        return list(data.membership), list(nodes["name"]) if "name" in nodes.attributes() else None
    found: dict[Any, int] = {}
    for community, members in enumerate(data):
        for node in members:
            if node in found:
                raise InputError(f"'{name}': node {node!r} is in two communities; Ensemble.from_shares() takes shares in several")
            found[node] = community
    # Sets have no order; that of the names is the same in every process.
    numbers = all(isinstance(node, (int, np.integer)) for node in found)
    order = sorted(found, key=None if numbers else str)
    return [found[node] for node in order], order


def _is_plain(value: Any) -> bool:
    """Whether it is one label or number."""
    return value is None or isinstance(value, (str, bytes, int, float, complex, np.generic)) or type(value).__name__ == "NAType"


def _package(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _some(names: Any) -> str:
    return ", ".join(repr(str(name)) for name in list(names)[:8]) or "none"


def _label_columns(data: Any) -> str:
    found = [name for name in data.obs.columns if str(data.obs[name].dtype) == "category"]
    return f"partita.anndata.consensus(adata, [...]) takes columns of obs (categorical are {_some(found)})"


def _layers(data: Any) -> str:
    return f"say what of it: obsm= ({_some(data.obsm.keys())}), layer= ({_some(data.layers.keys())}), or layer='X'"


def _is_estimator(data: Any) -> bool:
    return hasattr(data, "fit") and (hasattr(data, "get_params") or hasattr(data, "fit_predict"))


def _is_array_like(data: Any) -> bool:
    known = ("__array__", "__array_interface__", "__dataframe__", "to_numpy", "membership", "column_names")
    return isinstance(data, (list, tuple, Mapping)) or any(hasattr(data, name) for name in known)


#: Whether it is such, what it is, what to give where labels are meant, and where a table is if that is something else.
_Text = str | Callable[[Any], str]
_RULES: list[tuple[Callable[[Any], bool], str, _Text, _Text]] = [
    (lambda x: x is None, "None is no data", _LABELS, _TABLE),
    (lambda x: isinstance(x, (str, bytes, os.PathLike)), "{x!r} is a text", "read_ensemble() reads files", "read_table() reads files"),
    (lambda x: isinstance(x, (type, types.FunctionType, types.ModuleType)), "{x!r} is no data", _LABELS, _TABLE),
    (lambda x: _package(x) == "anndata", "this is an AnnData", _label_columns, _layers),
    (lambda x: _package(x) == "mudata", "this is a MuData", "give one of its modalities, such as mdata['rna']", ""),
    (lambda x: type(x).__name__ == "Bunch", "this is a Bunch", "give a list of clusterings; its .target is the truth", "give its .data"),
    (
        lambda x: _is_estimator(x) and hasattr(x, "labels_"),
        "this is a fitted {kind}",
        "give its labels, such as [model.labels_ for model in models]",
        "give the table that it was fitted to",
    ),
    (
        _is_estimator,
        "this is a {kind} without labels_",
        "give what its fit_predict(X) returns; generate(X, 'kmeans:100') makes base clusterings",
        "give the table itself",
    ),
    (lambda x: type(x).__name__ == "Ensemble" and _package(x) == "partita", "this is an Ensemble", "give it alone", "consensus() takes it"),
    (lambda x: type(x).__name__ == "SyntheticTable", "this is a SyntheticTable", "its .y is one clustering", "give its .X"),
    (lambda x: _package(x) == "partita" and hasattr(x, "labels_"), "this is a {kind}", "give its .labels_", _TABLE),
    (lambda x: _package(x) == "partita", "this is a {kind}", "generate() makes base clusterings of a table", _TABLE),
    (lambda x: type(x).__name__ == "LazyFrame", "this is a LazyFrame", "give what its .collect() returns", ""),
    (lambda x: _package(x).startswith("dask"), "this is a {kind} of Dask", "give what its .compute() returns", ""),
    (lambda x: _package(x) == "pyspark", "this is a {kind} of Spark", "give what its .toPandas() returns", ""),
    (lambda x: isinstance(x, (set, frozenset)), "a {kind} has no order", _LABELS, _TABLE),
    (lambda x: isinstance(x, Iterator), "a {kind} can be read once", "give a list of what it holds", ""),
    (lambda x: hasattr(x, "is_directed"), "this is a graph", "give dicts of node to community", "give a table of its nodes"),
    (lambda x: not _is_array_like(x) and not hasattr(x, "tocsr"), "this is a {kind}", _LABELS, _TABLE),
]


def _check(data: Any, at: int) -> None:
    _refuse(data, at, "")
    if isinstance(data, (list, tuple)) and not is_clustering(data):
        kinds: dict[type, tuple[int, Any]] = {}
        for place, item in enumerate(data):
            kinds.setdefault(type(item), (place, item))
        for place, item in kinds.values():
            _refuse(item, at, f"item {place} of the list: ")


def _refuse(data: Any, at: int, where: str) -> None:
    if isinstance(data, np.ndarray) or (where and _is_plain(data)):
        return
    for rule in _RULES:
        if rule[0](data):
            advice = rule[at] or rule[2]
            text = rule[1].format(x=data, kind=type(data).__name__)
            raise InputError(f"{where}{text}; {advice if isinstance(advice, str) else advice(data)}")


def rows_of_start(start: Any) -> list[list[float]] | None:
    """Probabilities to start from, row by row; of a result those that it has."""
    if start is None:
        return None
    found = getattr(start, "probabilities_", start)
    if found is None:
        raise InputError("start= is a result without probabilities; take one of a soft method, or an array")
    rows = np.asarray(found, dtype=np.float64)
    if rows.ndim != 2:
        raise InputError(f"start= takes probabilities, shape (objects, clusters), not {rows.shape}")
    listed: list[list[float]] = rows.tolist()
    return listed


def pairs_and_counts(pairs: Any) -> tuple[list[tuple[int, int]] | None, list[tuple[int, int]] | None]:
    """Pairs of objects, and how often each is together and seen where there are columns of that."""
    if pairs is None:
        return None, None
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] not in (2, 4):
        raise InputError(f"pairs= takes rows of two places, or of two places and two counts, not shape {rows.shape}")
    whole = rows.astype(np.int64)
    if (whole != rows).any() or (whole < 0).any() or (whole >= 2**32).any():
        raise InputError("pairs= takes whole numbers from 0 up")
    of = [(int(first), int(second)) for first, second in whole[:, :2]]
    return of, None if rows.shape[1] == 2 else [(int(together), int(seen)) for together, seen in whole[:, 2:]]
