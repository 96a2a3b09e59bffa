"""Modes: the answers that an ensemble holds."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._html import bars, table
from partita._run import Run


@dataclass(frozen=True, eq=False)
class EnsembleMode:
    """One answer of an ensemble: base clusterings that are noisy copies of one clustering.

    Attributes
    ----------
    members : list of str
        Its base clusterings.
    share : float
        Their share of all.
    n_clusters : int
        Clusters that have objects.
    spread : float
        How much its members differ, in nats.
    labels : array of shape (n,), int32
        Its consensus; clusters of all modes are numbered alike.
    probabilities : array of shape (n, K)
        The share of its members that give each label.
    """

    members: list[str]
    share: float
    n_clusters: int
    spread: float
    labels: NDArray[np.int32]
    probabilities: NDArray[np.float64]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Objects of every cluster."""
        return np.bincount(self.labels, minlength=self.probabilities.shape[1])

    def __repr__(self) -> str:
        return f"EnsembleMode({self.share:.3f} of the base clusterings, {self.n_clusters} clusters)"


class EnsembleModes:
    """The answers of an ensemble: what :func:`modes` finds.

    Attributes
    ----------
    modes_ : list of EnsembleMode
        One or more, the largest share first.
    labels_ : array of shape (n, R), int32
        The label of every object in every mode.
    disagreement_ : array of shape (n,)
        How much the modes differ on every object: 0, where all agree or there is one mode, to 1.
    description_length_ : float
        Nats that describe the ensemble by these modes.
    record_ : dict
        What ``partita modes --json`` prints.
    ensemble_ : Ensemble
        The base clusterings.
    """

    def __init__(self, native: _partita.NativeModes) -> None:
        self._native: _partita.NativeModes | None = native
        self.record_: dict[str, Any] = json.loads(native.record())
        self.disagreement_: NDArray[np.float64] = native.disagreement()
        self.ensemble_ = Ensemble._of(native.ensemble())
        self.modes_ = [
            EnsembleMode(own["members"], own["share"], own["clusters"], own["spread"], native.labels(at), native.probabilities(at))
            for at, own in enumerate(self.record_["modes"])
        ]

    @cached_property
    def labels_(self) -> NDArray[np.int32]:
        return np.stack([mode.labels for mode in self.modes_], axis=1)

    @property
    def description_length_(self) -> float:
        return float(self.record_["description_length"])

    @property
    def n_modes(self) -> int:
        """How many answers there are."""
        return len(self.modes_)

    def to_frame(self) -> Any:
        """A pandas frame, a row an object: its label in every mode, and how much the modes differ on it."""
        import pandas as pd

        columns: dict[str, Any] = {f"mode{at}": labels for at, labels in enumerate(self.labels_.T, start=1)}
        return pd.DataFrame({**columns, "disagreement": self.disagreement_}, index=self.ensemble_.object_names)

    def save_run(self, folder: str | os.PathLike[str]) -> None:
        """Writes what ``partita modes -o folder`` writes: ``modes.json``, ``objects.csv``, labels and probabilities of every mode."""
        if self._native is None:
            raise InputError("modes out of a pickle are not written; write them before")
        self._native.write(os.fspath(folder))

    def __len__(self) -> int:
        return len(self.modes_)

    def __getitem__(self, at: int) -> EnsembleMode:
        return self.modes_[at]

    def __repr__(self) -> str:
        return f"EnsembleModes({self.record_['answer']})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Any]] = [("answer", self.record_["answer"])]
        for at, mode in enumerate(self.modes_, start=1):
            rows.append((f"mode {at}", f"{mode.share:.3f} of the base clusterings, {mode.n_clusters} clusters"))
        return table("Modes", rows, bars([len(mode.members) for mode in self.modes_], ("mode", "base clusterings"), 1))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native": None}


def modes(ensemble: Any, *, n_jobs: int | None = None, progress: Any = False) -> EnsembleModes:
    """Finds whether an ensemble holds one answer or several, and which.

    Base clusterings are divided into groups of noisy copies of one clustering, as many as describe all labels in the fewest nats
    (minimum description length). More than one means that no single consensus represents the ensemble. No random numbers are used.

    Parameters
    ----------
    ensemble : Ensemble or labels
        What :class:`Ensemble` takes; of soft base clusterings the largest share of every object counts.
    n_jobs, progress
        As for :func:`consensus`.

    References
    ----------
    T. P. Peixoto, *Revealing consensus and dissensus between network partitions*, Physical Review X 11, 021003 (2021).

    Examples
    --------
    Ten base clusterings split twelve objects in the middle, ten take every second one.

    >>> import numpy as np, partita as pt
    >>> i = np.arange(12)
    >>> found = pt.modes([i // 6] * 10 + [i % 2] * 10)
    >>> found.n_modes, found[0].share
    (2, 0.5)
    >>> found[0].labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], dtype=int32)
    """
    with Run(n_jobs, None, progress) as run:
        return EnsembleModes(_partita.find_modes(Ensemble(ensemble)._native, run))
