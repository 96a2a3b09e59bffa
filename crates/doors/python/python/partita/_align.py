"""Many runs in common columns and colours (label switching)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._given import check_labels, is_clustering, labels_by_name
from partita._html import table, save_text
from partita._run import Run
from partita._tables import as_array, index_of, is_frame, joint_rows, label_column, named_runs, taken


@dataclass(frozen=True)
class RunMode:
    """Runs of the same number of columns that are alike.

    Attributes
    ----------
    n_clusters : int
        Their columns.
    members : list of str
        The runs, the representative first.
    share : float
        Their share of the runs with as many columns.
    parent : int or None
        The mode that gave it its colours; None for the first.
    parent_cost : float
        The cost of matching its representative with that of its parent.
    """

    n_clusters: int
    members: list[str]
    share: float
    parent: int | None
    parent_cost: float

    @property
    def representative(self) -> str:
        """The run that represents the others."""
        return self.members[0]


class AlignedRuns:
    """Runs in common columns and colours: what :func:`align` finds.

    Attributes
    ----------
    names : list of str
        The runs.
    n_colours_ : int
        Colours: the most columns of a run.
    colours_ : list of list of int
        The colour of every column of every run, in the order in which they were given; alike columns of all runs share one.
    mode_of_ : array of shape (R,)
        The mode of every run.
    cost_ : array of shape (R,)
        ``|P - QM|**2 / (2 n)`` to the representative of its mode.
    similarity_ : array of shape (R,)
        ``1 - sqrt(cost)``, the G' of CLUMPP.
    modes_ : list of RunMode
        Runs that are alike, more columns first, then more runs.
    aligned_ : list of array of shape (n, K)
        The shares of the objects in the columns of every run, in the order of their colours.
    object_names, populations : list of str or None
        What the objects are called, and where they belong.
    record_ : dict
        What ``partita align --json`` prints.
    """

    def __init__(self, native: _partita.NativeAlignment) -> None:
        self._native: _partita.NativeAlignment | None = native
        self.record_: dict[str, Any] = json.loads(native.record())
        self.object_names = native.object_names
        self.populations = native.populations
        self._sentence, self._picture = native.sentence(), native.picture()
        runs = self.record_["runs"]
        self.names: list[str] = [run["run"] for run in runs]
        self.n_colours_ = int(self.record_["colours"])
        self.colours_: list[list[int]] = [run["colours"] for run in runs]
        self.mode_of_: NDArray[np.intp] = np.array([run["mode"] for run in runs], dtype=np.intp)
        self.cost_: NDArray[np.float64] = np.array([run["cost"] for run in runs], dtype=np.float64)
        self.similarity_: NDArray[np.float64] = np.array([run["similarity"] for run in runs], dtype=np.float64)
        self.aligned_: list[NDArray[np.float64]] = [native.shares(at) for at in range(len(runs))]
        self.modes_ = [
            RunMode(mode["clusters"], mode["members"], mode["share"], mode["parent"], mode["parent_cost"])
            for mode in self.record_["modes"]
        ]

    def run(self, name: str) -> Any:
        """A pandas frame of the shares of a run, one column a colour (``c0``, ``c1``, ...), a row an object."""
        import pandas as pd

        if name not in self.names:
            raise InputError(f"there is no run '{name}'; there are {', '.join(self.names[:10])}")
        at = self.names.index(name)
        columns = [f"c{colour}" for colour in sorted(self.colours_[at])]
        return pd.DataFrame(self.aligned_[at], index=self.object_names, columns=columns)

    def to_frame(self) -> Any:
        """A pandas frame, a row a run: clusters, mode, cost, similarity."""
        import pandas as pd

        clusters = [len(colours) for colours in self.colours_]
        columns = {"clusters": clusters, "mode": self.mode_of_, "cost": self.cost_, "similarity": self.similarity_}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="run"))

    def picture(self, path: str | os.PathLike[str] | None = None) -> str:
        """Bars of memberships, a row a mode, as SVG; also written to ``path`` if there is one."""
        return save_text(self._picture, path)

    def _held(self) -> _partita.NativeAlignment:
        if self._native is None:
            raise InputError("this alignment comes out of a pickle, without the runs themselves; do it before")
        return self._native

    def ensemble(self) -> Ensemble:
        """The runs as one ensemble, a soft base clustering a run, for :func:`partita.consensus`."""
        return Ensemble._of(self._held().ensemble())

    def save_run(self, folder: str | os.PathLike[str]) -> None:
        """Writes what ``partita align -o folder`` writes: ``alignment.json``, tables, a picture, and the runs under ``aligned/``."""
        self._held().write(os.fspath(folder))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"AlignedRuns({self._sentence})"

    def _repr_html_(self) -> str:
        return table("Aligned runs", [("runs", len(self)), ("modes", self._sentence)], self._picture)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native": None}


def align(
    runs: Any,
    *,
    similarity: float | None = None,
    names: Sequence[str] | None = None,
    objects: Sequence[str] | None = None,
    populations: Any = None,
    n_jobs: int | None = None,
    progress: Any = False,
) -> AlignedRuns:
    """Gives many runs, hard or soft, common columns and colours, as CLUMPP, CLUMPAK and pong do.

    Parameters
    ----------
    runs : dict of name to run, list of runs, Ensemble, DataFrame of labels, path or list of paths
        A run is an array or frame of shares, shape (n, K), or a column of labels, shape (n,), of any number of clusters; all are of the
        same objects, matched by the index of frames and Series, else by place. A row of NaN is an object that a run does not know. Paths are files that ``partita align`` reads:
        ADMIXTURE, fastStructure, STRUCTURE and CLUMPP, tables of shares or labels.
    similarity : float, optional
        Runs with the same number of clusters form one mode if they are at least this similar on average (pong takes 0.97); without it,
        if they differ by no more than noise, which is found from the runs themselves.
    names : sequence of R str, optional
        Names of the runs in a list.
    objects : sequence of n str, optional
        Names of the objects in place of the index of a frame.
    populations : sequence of n str, path or (path, column), optional
        The population of every object, by which the picture is ordered; for runs in files, a file with a column of them.
    n_jobs, progress
        As for :func:`consensus`.

    References
    ----------
    M. Jakobsson and N. A. Rosenberg, *CLUMPP*, Bioinformatics 23, 1801 (2007).

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> q = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]])
    >>> found = pt.align({"one": q, "other": q[:, ::-1], "labels": ["a", "a", "b", "b"]})
    >>> bool((found.aligned_[0] == found.aligned_[1]).all())
    True
    >>> found.colours_[0], found.colours_[1]
    ([0, 1], [1, 0])
    """
    number = isinstance(similarity, (int, float)) and not isinstance(similarity, bool)
    if similarity is not None and not (number and 0 <= similarity <= 1):
        raise InputError(f"similarity={similarity!r}; write a number between 0 and 1")
    least = None if similarity is None else float(similarity)
    with Run(n_jobs, None, progress) as run:
        files = _files(runs)
        if files is not None:
            if names is not None or objects is not None:
                raise InputError("runs in files have the names of the files; leave out names= and objects=")
            return AlignedRuns(_partita.align_files(files, least, _population_file(populations), run))
        given, found = _given(runs, names)
        called = found if objects is None else [str(name) for name in objects]
        where = None if populations is None else [str(population) for population in populations]
        return AlignedRuns(_partita.align_runs(given, least, (called, where), run))


def _files(runs: Any) -> list[str] | None:
    """Paths of files, where the runs are in some."""
    if isinstance(runs, (str, os.PathLike)):
        return [os.fspath(runs)]
    if isinstance(runs, (list, tuple)) and runs and all(isinstance(run, (str, os.PathLike)) for run in runs):
        return [os.fspath(run) for run in runs]
    return None


def _population_file(given: Any) -> tuple[str, str | None] | None:
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given), None
    if isinstance(given, tuple) and len(given) == 2:
        return os.fspath(given[0]), str(given[1])
    raise InputError("populations= of runs in files is a file, or a tuple of a file and a column")


def _given(runs: Any, names: Sequence[str] | None) -> tuple[list[Any], list[str] | None]:
    """Runs as the native function takes them, and the names of their objects."""
    if isinstance(runs, Ensemble) or is_frame(runs) or (isinstance(runs, np.ndarray) and runs.ndim == 2):
        labels = Ensemble(runs) if names is None else Ensemble(runs, names=names)
        return [labels._native], labels.object_names
    if not isinstance(runs, (Mapping, list, tuple)):
        raise InputError(f"runs of the type {type(runs).__name__}; give a dict or a list of runs, an Ensemble, or paths of files")
    check_labels(runs)
    pairs = named_runs(runs, names)
    found = [_run(name, run) for name, run in pairs]
    called = [f"run '{name}'" for name, _ in pairs]
    objects, rows = joint_rows(called, [index for _, _, _, index in found], [len(array) for _, array, _, _ in found])
    given: list[Any] = []
    for at, (name, array, words, _) in enumerate(found):
        if rows is not None:
            array = taken(array, rows[at], np.nan if array.ndim == 2 else -1)
        if array.ndim == 2:
            given.append((name, np.ascontiguousarray(array)))
        else:
            given.append(_partita.NativeEnsemble.from_columns([array], [name], [words], None))
    return given, objects


def _run(name: str, run: Any) -> tuple[str, Any, list[str] | None, Any]:
    """A column of labels with the names of its words, or a table of shares; and its index."""
    if is_clustering(run):
        labels, index = labels_by_name(name, run)
        return *label_column(name, labels), index
    check_labels(run)
    if np.ndim(run) == 1:
        return *label_column(name, run), index_of(run)
    shares = as_array(run)
    if shares.ndim != 2 or shares.dtype.kind not in "fiub":
        raise InputError(f"run '{name}' has the shape {shares.shape} and the type {shares.dtype}; a run is one label an object, or shares")
    return name, shares.astype(np.float64), None, index_of(run)
