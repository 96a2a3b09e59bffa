"""Comparison of clusterings.

Labels are columns of whole numbers or words, as for :class:`partita.Ensemble`, of the same objects in the same order; where both sides have
names of objects, ``scores``, ``anmi`` and ``object_agreement`` match them by name.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble, weights_of_bases, weights_of_objects
from partita._errors import InputError
from partita._rows import rounds
from partita._run import Run
from partita._tables import codes_of, matrix_of, named_labels, placed_labels

__all__ = [
    "accuracy",
    "adjusted_mutual_info",
    "adjusted_rand",
    "agreement_matrix",
    "agreement_weights",
    "anmi",
    "cluster_stability",
    "co_association",
    "jensen_shannon",
    "nmi",
    "object_agreement",
    "purity",
    "scores",
    "stability",
    "variation_of_information",
]


def scores(
    labels: Any,
    truth: Any,
    *,
    common: bool = False,
    id: str | None = None,
    engine: Any = None,
    folder: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Every external index at once: ``h`` (accuracy), ``ari``, ``ami``, ``nmi``, ``vi`` (nats), ``purity``, ``f1``,
    ``fowlkes_mallows``; those of ``partita evaluate``.

    Parameters
    ----------
    labels, truth : column of labels, dict, pandas Series, or path
        Objects that both have names (the index of a Series, the keys of a dict) are matched by them, else by place; those without a
        label or true class (None, NaN, -1) are left out. A text or path is a file of labels, with its column as
        ``"FILE:COLUMN"``; then both are.
    common : bool
        Score only the objects that both have, where they have names.
    id : str, optional
        The column with the names of the objects, of files.
    engine, folder : optional
        For files that are manifests (:func:`partita.scan`): count pairs of labels by tasks on an engine, as :func:`partita.consensus`
        does; the folder has what tasks need and what they make.

    Examples
    --------
    >>> import partita as pt
    >>> round(pt.metrics.scores([0, 0, 1, 1], ["a", "a", "b", "a"])["h"], 3)
    0.75
    >>> pt.metrics.scores({"u": 0, "v": 1, "w": 1}, {"w": "b", "u": "a", "v": "b"})["ari"]
    1.0
    """
    files = [isinstance(given, (str, os.PathLike)) for given in (labels, truth)]
    if engine is not None or folder is not None:
        if folder is None or common or id is not None or not all(files):
            raise InputError("engine= needs a folder= for its tasks, and labels and truth as 'MANIFEST:COLUMN', matched by place")
        return _scores_by_tasks(os.fspath(labels), os.fspath(truth), engine, os.path.abspath(folder))
    if all(files):
        options = json.dumps({"id": id})
        return dict(json.loads(_partita.evaluate(os.fspath(labels), os.fspath(truth), common, options, Run())))
    if any(files) or id is not None:
        raise InputError("labels and truth are two files, or neither is; id= names a column of files")
    named = [named_labels(given) for given in (labels, truth)]
    if any(named):
        both = [found or (None, placed_labels(given)) for found, given in zip(named, (labels, truth))]
        return dict(json.loads(_partita.scores_by_name(both[0], both[1], common, Run())))
    if common:
        raise InputError("common=True matches objects by their names; give both as a dict, or a Series with names in its index")
    return dict(json.loads(_partita.scores(codes_of(labels), codes_of(truth))))


def _scores_by_tasks(labels: str, truth: str, engine: Any, folder: str) -> dict[str, Any]:
    step = partial(_partita.evaluate_parts, labels, truth, folder)
    # A file whose name has a colon wins over a column, as in the native function.
    manifest = labels if os.path.exists(labels) else labels.rpartition(":")[0]
    return dict(rounds(step, os.path.abspath(manifest), engine, None, None)["scores"])


def accuracy(labels: Any, truth: Any) -> float:
    """Share of the objects under the best one-to-one matching of clusters."""
    return float(scores(labels, truth)["h"])


def adjusted_rand(labels: Any, truth: Any) -> float:
    """Adjusted Rand index."""
    return float(scores(labels, truth)["ari"])


def adjusted_mutual_info(labels: Any, truth: Any) -> float:
    """Adjusted mutual information, arithmetic normalisation."""
    return float(scores(labels, truth)["ami"])


def nmi(labels: Any, truth: Any, average_method: str = "geometric") -> float:
    """Mutual information over the ``max``, ``arithmetic``, ``geometric`` mean or ``min`` of the entropies."""
    found = scores(labels, truth)["nmi"]
    if average_method not in found:
        raise InputError(f"average_method={average_method!r}; choose from {', '.join(found)}")
    return float(found[average_method])


def purity(labels: Any, truth: Any) -> float:
    """Share of the objects that belong to the largest class of their cluster."""
    return float(scores(labels, truth)["purity"])


def variation_of_information(labels: Any, truth: Any) -> float:
    """Variation of information, nats."""
    return float(scores(labels, truth)["vi"])


def jensen_shannon(a: Any, b: Any) -> float:
    """Divergence of two tables of probabilities (n × K) under the best permutation of their clusters."""
    return _partita.jensen_shannon(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))


@dataclass
class _Reference:
    """The ensemble that labels are compared with, its rows that count, and weights."""

    ensemble: _partita.NativeEnsemble
    rows: NDArray[np.uint32] | None
    agreement: bool
    base_weights: list[float] | None
    object_weights: list[float] | None


def _matched(
    labels: Any, ensemble: Any, base_weights: Any, object_weights: Any, common: bool
) -> tuple[NDArray[np.int64], _Reference, NDArray[np.int64] | None, int]:
    """Labels as numbers, what they are compared with, and, where they were matched by name, their places among how many."""
    given = Ensemble(ensemble)
    source, weights = weights_of_bases(base_weights, given)
    reference = _Reference(given._native, None, source is not None, weights, weights_of_objects(object_weights, given))
    named = named_labels(labels)
    if common and (named is None or given.object_names is None):
        nameless = "labels have no names (a dict, a Series)" if named is None else "ensemble has no names of objects (objects=)"
        raise InputError(f"common=True matches objects by their names; the {nameless}")
    if named is not None or given.object_names is not None:
        found = named or (None, placed_labels(labels))
        reference.rows, places = _partita.match_rows(found, given._native, common, Run())
        words = [str(found[1][at]) for at in places]
        # Whole numbers keep their order, as in files.
        whole = all(word.isdecimal() and len(word) < 19 for word in words)
        codes = np.array([int(word) for word in words]) if whole else np.unique(words, return_inverse=True)[1]
        return codes.astype(np.int64).reshape(-1), reference, places, len(found[1])
    codes = codes_of(labels)
    if len(codes) != given.n_objects:
        raise InputError(f"{len(codes)} labels for {given.n_objects} objects, which have no names to be matched by (objects=)")
    return codes, reference, None, len(codes)


def anmi(labels: Any, ensemble: Any, *, base_weights: Any = None, object_weights: Any = None, common: bool = False) -> float:
    """Mean NMI of labels with the base clusterings of an ensemble; ``partita evaluate --ensemble``.

    Parameters
    ----------
    labels : column of labels, dict or pandas Series
        Objects are matched by name where labels (the keys of a dict, the index of a Series) and ensemble have names, else by place.
    ensemble : Ensemble or labels
        What :class:`partita.Ensemble` takes.
    base_weights : "agreement", sequence or dict, optional
        Weights of the base clusterings: the mean is weighted by them.
    object_weights : sequence, optional
        Weights of the objects, in the order of the ensemble: an object of weight 2 is two objects.
    common : bool
        Only objects that both have count, where they have names.

    Examples
    --------
    >>> import partita as pt
    >>> ensemble = pt.Ensemble({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, objects=["u", "v", "w", "x"])
    >>> labels = {"x": "T", "w": "T", "v": "B", "u": "B"}
    >>> round(pt.metrics.anmi(labels, ensemble), 3), round(pt.metrics.anmi(labels, ensemble, base_weights={"a": 3, "b": 1}), 3)
    (0.5, 0.75)
    """
    codes, reference, _, _ = _matched(labels, ensemble, base_weights, object_weights, common)
    return _partita.anmi(codes, reference)


def object_agreement(
    labels: Any, ensemble: Any, *, base_weights: Any = None, object_weights: Any = None, common: bool = False
) -> NDArray[np.float64]:
    """The share of the base clusterings in which each object lies with its cluster, shape (n,); ``partita evaluate --ensemble --agreement``.

    Parameters
    ----------
    labels, ensemble, base_weights, object_weights, common
        As for :func:`anmi`.

    Returns
    -------
    array of shape (n,)
        In the order of ``labels``. NaN for what is matched by name and has no label, or is not in the ensemble.
    """
    codes, reference, places, count = _matched(labels, ensemble, base_weights, object_weights, common)
    found = _partita.object_agreement(codes, reference)
    if places is None:
        return found
    every = np.full(count, np.nan)
    every[places] = found
    return every


def cluster_stability(labels: Any, ensemble: Any, *, common: bool = False) -> NDArray[np.float64]:
    """How well the base clusterings find each cluster again, as R's ``fpc::clusterboot`` says it; ``partita evaluate --ensemble``.

    Stability is no p-value: one round population that is cut in two or three may be cut alike every time
    (:func:`partita.test_clusters` tests).

    Parameters
    ----------
    labels, ensemble, common
        As for :func:`anmi`.

    Returns
    -------
    array of shape (K, 3)
        For every label, in the order of labels: the mean over the base clusterings of the largest Jaccard coefficient with a base
        cluster, the share of the base clusterings in which it is below .5 (dissolved), and above .75 (recovered).

    Examples
    --------
    >>> import partita as pt
    >>> pt.metrics.cluster_stability(["x", "x", "y", "y"], {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}).round(2)
    array([[0.75, 0.  , 0.5 ],
           [0.83, 0.  , 0.5 ]])
    """
    codes, reference, _, _ = _matched(labels, ensemble, None, None, common)
    return _partita.cluster_stability(codes, reference)


def agreement_weights(ensemble: Any) -> NDArray[np.float64]:
    """Weights of the base clusterings by their mean NMI with the others, shape (M,)."""
    return _partita.agreement_weights(Ensemble(ensemble)._native)


@overload
def co_association(ensemble: Any, max_memory: int | str | None = None, *, least_share: None = None) -> NDArray[np.float64]: ...
@overload
def co_association(ensemble: Any, max_memory: int | str | None = None, *, least_share: float) -> Any: ...
def co_association(ensemble: Any, max_memory: int | str | None = None, *, least_share: float | None = None) -> Any:
    """Share of the base clusterings that put two objects together, of those that label both; ``partita inspect --co-association``.

    Parameters
    ----------
    ensemble : Ensemble or labels
        What :class:`partita.Ensemble` takes.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``.
    least_share : float, optional
        Only pairs of at least this share, which need not have n² numbers.

    Returns
    -------
    array of shape (n, n)
        NaN where no base clustering labels both. With ``least_share`` a sparse array of SciPy, with ones on the diagonal.

    Examples
    --------
    >>> import partita as pt
    >>> pt.metrics.co_association([[0, 0, 1], [0, 1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    return matrix_of(_partita.co_association(Ensemble(ensemble)._native, least_share, Run(None, max_memory)))


def agreement_matrix(ensemble: Any, index: str = "nmi") -> NDArray[np.float64]:
    """NMI of all pairs of base clusterings over the objects that both label, shape (M, M); ``partita inspect --agreement``.

    ``index="ari"`` gives the adjusted Rand index. NaN where no object has both labels.
    """
    return _partita.agreement_matrix(Ensemble(ensemble)._native, index)


def stability(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Mean agreement of a fitted estimator's labels, also of the last step of a pipeline: a scorer for ``GridSearchCV`` over ``n_clusters``."""
    found = estimator
    while not hasattr(found, "agreement_"):
        steps = getattr(found, "steps", None)
        inner = steps[-1][1] if steps else getattr(found, "best_estimator_", None)
        if inner is None:
            raise InputError(f"{type(found).__name__} has no agreement_; fit a ConsensusClustering or LabelConsensus, or a pipeline of one")
        found = inner
    return float(np.mean(found.agreement_))
