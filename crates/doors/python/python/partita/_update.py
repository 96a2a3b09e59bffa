"""Ensembles that grow by base clusterings or objects."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._model import Model
from partita._result import ConsensusResult
from partita._run import Run
from partita._tables import codes_of


class Updated:
    """An ensemble that has grown: what :func:`update` gives.

    Attributes
    ----------
    ensemble_ : Ensemble
        All base clusterings and objects.
    labels_ : array of shape (n,), int32, or None
        Labels of all objects, where there was a warm start; clusters keep their numbers.
    probabilities_ : array of shape (n, K) or None
        Of these labels.
    record_ : dict
        What ``partita update --json`` prints: what was added, labels that are new, labels that changed.
    """

    def __init__(self, native: _partita.NativeUpdate) -> None:
        self.record_: dict[str, Any] = json.loads(native.record())
        self.ensemble_ = Ensemble._of(native.ensemble())
        self.labels_: NDArray[np.int32] | None = native.labels()
        self.probabilities_: NDArray[np.float64] | None = native.probabilities()
        self._sentence = native.sentence()

    def __repr__(self) -> str:
        return f"Updated({self._sentence})"


def update(
    ensemble: Any,
    added: Any,
    adding: str | None = None,
    *,
    warm_start: Any = None,
    overlap: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Any = False,
) -> Updated:
    """Adds base clusterings or objects to an ensemble, and goes on with its consensus, as ``partita update`` does.

    Parameters
    ----------
    ensemble : Ensemble or labels
        What :class:`Ensemble` takes.
    added : Ensemble or labels
        Base clusterings of the same objects, or objects with labels of the same base clusterings. Objects and base clusterings are matched
        by name where both have names, objects else by order.
    adding : {"runs", "rows"}, optional
        What is added, where the names leave that open.
    warm_start : ConsensusResult, Model or labels of shape (n,), optional
        A mixture of labels (``mm``) goes on from there.
    overlap : path, optional
        A table of the objects that each pair of base clusters shares: read if the file exists, counted on, and written.
    n_jobs, progress
        As for :func:`consensus`.

    Examples
    --------
    >>> import partita as pt
    >>> ensemble = pt.Ensemble({"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 0, 1, 1, 1]})
    >>> grown = pt.update(ensemble, pt.Ensemble({"c": [0, 0, 1, 1, 1, 1]}), warm_start=[0, 0, 0, 1, 1, 1])
    >>> grown.ensemble_.names, grown.labels_.tolist()
    (['a', 'b', 'c'], [0, 0, 0, 1, 1, 1])
    """
    if adding is not None and adding not in ("runs", "rows"):
        raise InputError(f"adding={adding!r}; write 'runs' or 'rows'")
    old = Ensemble(ensemble)
    place = None if overlap is None else os.fspath(overlap)
    with Run(n_jobs, None, progress) as run:
        return Updated(_partita.update(old._native, Ensemble(added)._native, adding, _memberships(warm_start, old), place, run))


def _memberships(warm_start: Any, old: Ensemble) -> NDArray[np.float64] | None:
    """A line an object with its probability of every cluster."""
    if warm_start is None:
        return None
    if isinstance(warm_start, Model):
        return np.ascontiguousarray(warm_start.predict_proba(old))
    labels = np.asarray(warm_start.labels_ if isinstance(warm_start, ConsensusResult) else codes_of(warm_start))
    if len(labels) != old.n_objects:
        raise InputError(f"warm_start labels {len(labels)} objects, the ensemble has {old.n_objects}")
    rows: NDArray[np.float64] = np.eye(int(labels.max(initial=0)) + 1)[labels]
    return rows
