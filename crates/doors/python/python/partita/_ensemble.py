"""Ensembles: many clusterings of the same objects."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._errors import InputError
from partita._given import check_labels
from partita._html import table
from partita._tables import ColumnNames, as_array, in_order, index_of, joint_rows, label_columns, named_runs, taken


class Ensemble:
    """Many clusterings of the same objects, labels may be missing.

    Parameters
    ----------
    labels : array of shape (n, M), DataFrame, dict of columns, or list of M arrays
        One column a base clustering: whole numbers from 0, words, or categories. NumPy arrays of any type and order are read in place;
        pandas, polars and Arrow give their columns. ``None``, NaN, ``pandas.NA``, -1 and words such as ``"NA"`` are missing labels. The
        index of pandas names the objects unless it is 0, 1, 2, ...; columns with indexes of their own are matched by it, and what one
        lacks is missing, with a warning. A column may be a dict of node to community or a list of sets of nodes, as networkx has
        them, or a clustering of igraph; one of them alone is one base clustering.
    names : sequence of M str, optional
        Names of the base clusterings in place of the columns' own.
    objects : sequence of n str, optional
        Names of the objects in place of the index.
    only, skip : str, regular expression, or sequence of them
        Columns of a frame that are base clusterings, and those that are none: names, patterns in which ``*`` stands for any letters
        and ``?`` for one, or what ``re.compile`` gives. A column with more than 3 sqrt(n) different values is none unless ``only`` has
        it, which is said.
    missing : sequence, optional
        Labels that are missing, in place of -1 and words such as ``"NA"``; with ``()`` these are clusters. ``None``, NaN and
        ``pandas.NA`` are missing whatever is given.

    Raises
    ------
    InputError
        For columns of different lengths, fractions and other numbers that are not labels, columns without any label.

    Examples
    --------
    >>> import partita as pt
    >>> ensemble = pt.Ensemble({"a": ["x", "x", "y", "y"], "b": [1, 1, 2, None]})
    >>> ensemble
    Ensemble(4 objects, 2 base clusterings, 2 clusters each, 1 label missing)
    >>> ensemble.to_numpy()
    array([[ 0,  0],
           [ 0,  0],
           [ 1,  1],
           [ 1, -1]], dtype=int32)
    """

    __slots__ = ("_native",)

    _native: _partita.NativeEnsemble

    def __init__(
        self,
        labels: Any,
        *,
        names: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        only: ColumnNames = (),
        skip: ColumnNames = (),
        missing: Sequence[Any] | None = None,
    ) -> None:
        if isinstance(labels, Ensemble):
            if names is not None or objects is not None or only or skip or missing is not None:
                raise InputError(
                    "this is an Ensemble, whose names and columns are given; leave out names=, objects=, only=, skip= and missing="
                )
            self._native = labels._native
            return
        columns, index = label_columns(labels, names, only, skip, missing)
        found = [str(name) for name in objects] if objects is not None else index
        words = [words for _, _, words in columns]
        arrays = [np.asarray(array) for _, array, _ in columns]
        self._native = _partita.NativeEnsemble.from_columns(arrays, [name for name, _, _ in columns], words, found)

    @classmethod
    def _of(cls, native: _partita.NativeEnsemble) -> Ensemble:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def from_shares(
        cls, runs: Any, *, names: Sequence[str] | None = None, objects: Sequence[str] | None = None, most_shares: int = 8
    ) -> Ensemble:
        """Soft base clusterings: shares of every object in the clusters of each run.

        Parameters
        ----------
        runs : dict of name to array of shape (n, K), or sequence of such arrays or DataFrames
            Rows are between 0 and 1 and sum to 1 (off by at most .001 they are divided by their sums); a row of NaN or 0 is an object that
            the run does not know. The index of a pandas frame names the objects, by which runs are matched; its columns name the clusters.
        names : sequence of M str, optional
            Names of the runs.
        objects : sequence of n str, optional
            Names of the objects.
        most_shares : int
            The most shares of an object in one run that are kept; the largest are, divided by their sum.

        Raises
        ------
        InputError
            For numbers that are not shares, with the run, the row and the sum, and runs of different objects.

        Examples
        --------
        >>> import numpy as np, partita as pt
        >>> q = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]])
        >>> runs = pt.Ensemble.from_shares({"one": q, "other": q[:, ::-1]})
        >>> pt.consensus(runs, n_clusters=2, method="soft-mean").probabilities_.round(2).tolist()[0] in ([0.9, 0.1], [0.1, 0.9])
        True
        """
        check_labels(runs)
        given = named_runs(runs, names)
        tables: list[NDArray[np.float64]] = []
        words: list[list[str]] = []
        for name, run in given:
            check_labels(run)
            table = np.ascontiguousarray(as_array(run), dtype=np.float64)
            if table.ndim != 2:
                raise InputError(f"'{name}' is an array of {table.ndim} dimensions; a run is a table of objects × clusters")
            tables.append(table)
            columns = getattr(run, "columns", None)
            words.append([str(at) for at in (range(table.shape[1]) if columns is None else columns)])
        called = [f"run '{name}'" for name, _ in given]
        index, rows = joint_rows(called, [index_of(run) for _, run in given], [len(table) for table in tables])
        if rows is not None:
            tables = [np.ascontiguousarray(taken(table, of, np.nan)) for table, of in zip(tables, rows)]
        found = [str(name) for name in objects] if objects is not None else index
        native = _partita.NativeEnsemble.from_shares(tables, [name for name, _ in given], words, found, int(most_shares))
        return cls._of(native)

    @property
    def is_soft(self) -> bool:
        """Whether some base clustering gives objects shares in several clusters."""
        return self._native.soft

    def shares(self, base: int) -> NDArray[np.float64]:
        """The shares of the objects in the clusters of base clustering number `base`, shape (n, J); rows of 0 are unknown objects."""
        found = self._native.shares(base)
        if found is None:
            raise IndexError(f"base clustering {base} of {self.n_base_clusterings}")
        return found

    def hardened(self) -> Ensemble:
        """The same with every object in the cluster of its largest share."""
        return Ensemble._of(self._native.hardened())

    @property
    def n_objects(self) -> int:
        """Objects, n."""
        return self._native.objects

    @property
    def n_base_clusterings(self) -> int:
        """Base clusterings, M."""
        return len(self._native.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and base clusterings, (n, M)."""
        return self.n_objects, self.n_base_clusterings

    @property
    def names(self) -> list[str]:
        """Names of the base clusterings."""
        return self._native.names

    @property
    def n_clusters(self) -> list[int]:
        """Clusters of every base clustering."""
        return self._native.clusters

    @property
    def missing(self) -> int:
        """Labels that are missing."""
        return self._native.missing

    @property
    def object_names(self) -> list[str] | None:
        """Names of the objects, where there are some."""
        return self._native.object_names

    @property
    def truth(self) -> list[str | None] | None:
        """The true classes, where the file that was read, or the :class:`Table` that it was made of, has some."""
        return self._native.truth

    @property
    def recipe(self) -> dict[str, Any] | None:
        """How the base clusterings were made, where that is known."""
        recipe = self._native.recipe
        return None if recipe is None else dict(json.loads(recipe))

    def __len__(self) -> int:
        return self.n_objects

    def __repr__(self) -> str:
        counts = self.n_clusters
        low, high = min(counts), max(counts)
        clusters = f"{low} clusters each" if low == high else f"{low} to {high} clusters"
        gaps = {0: "", 1: ", 1 label missing"}.get(self.missing, f", {self.missing} labels missing")
        soft = "soft " if self.is_soft else ""
        return f"Ensemble({self.n_objects} objects, {self.n_base_clusterings} {soft}base clusterings, {clusters}{gaps})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        same = self.names == other.names and self.object_names == other.object_names and self.shape == other.shape
        same = same and self._words() == other._words() and self.is_soft == other.is_soft
        if not same or not self.is_soft:
            return same and bool(np.array_equal(self.to_numpy(), other.to_numpy()))
        return all(np.array_equal(self.shares(base), other.shares(base)) for base in range(self.n_base_clusterings))

    __hash__ = None  # type: ignore[assignment]

    def _words(self) -> list[list[str]]:
        return [self._native.values(base) for base in range(self.n_base_clusterings)]

    def to_numpy(self) -> NDArray[np.int32]:
        """Clusters numbered from 0 in the order of their labels, shape (n, M); -1 is missing."""
        return self._native.matrix()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)

    def to_frame(self) -> Any:
        """A pandas frame of the labels as they were called, one categorical column a base clustering."""
        import pandas as pd

        codes = self.to_numpy()
        columns = {
            name: pd.Categorical.from_codes(codes[:, at], words) for at, (name, words) in enumerate(zip(self.names, self._words()))
        }
        frame = pd.DataFrame(columns, index=self.object_names)
        frame.columns = pd.Index(self.names)
        return frame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file whose ending says the format: ``.csv``, ``.npz``, ``.parquet``."""
        self._native.write(os.fspath(path))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, one column a base clustering."""
        if not os.fspath(path).endswith(".parquet"):
            raise InputError(f"{path}: name a file that ends in .parquet, or call save()")
        self.save(path)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.is_soft:
            tables = [self.shares(base) for base in range(self.n_base_clusterings)]
            return _rebuilt_soft, (tables, self.names, self._words(), self.object_names, max(self.n_clusters))
        return _rebuilt, (self.to_numpy(), self.names, self._words(), self.object_names)

    def _repr_html_(self) -> str:
        rows = [("objects", self.n_objects), ("base clusterings", self.n_base_clusterings)]
        counts = self.n_clusters
        return table("Ensemble", [*rows, ("clusters", f"{min(counts)} to {max(counts)}"), ("missing labels", self.missing)])


def _rebuilt(codes: NDArray[np.int32], names: list[str], words: list[list[str]], objects: list[str] | None) -> Ensemble:
    """An ensemble out of its parts: what pickles hold."""
    columns = [np.ascontiguousarray(codes[:, at]) for at in range(codes.shape[1])]
    return Ensemble._of(_partita.NativeEnsemble.from_columns(columns, names, [list(w) for w in words], objects))


def _rebuilt_soft(
    tables: list[NDArray[np.float64]], names: list[str], words: list[list[str]], objects: list[str] | None, most: int
) -> Ensemble:
    """A soft ensemble out of its parts."""
    return Ensemble._of(_partita.NativeEnsemble.from_shares(tables, names, words, objects, most))


def weights_of_bases(given: Any, ensemble: Ensemble | None) -> tuple[str | None, list[float] | None]:
    if given is None:
        return None, None
    if isinstance(given, str):
        if given != "agreement":
            raise InputError(f"base_weights={given!r}; write 'agreement', one number a base clustering, or a dict by name")
        return given, None
    if ensemble is None:
        raise InputError("base_weights= of base clusterings that are to be made can only be 'agreement'")
    if isinstance(given, dict):
        absent = [name for name in ensemble.names if name not in given]
        if absent:
            raise InputError(f"base_weights has no weight for base clustering '{absent[0]}'")
        given = [given[name] for name in ensemble.names]
    weights = [float(weight) for weight in given]
    if len(weights) != ensemble.n_base_clusterings:
        raise InputError(f"{len(weights)} base_weights for {ensemble.n_base_clusterings} base clusterings")
    return None, weights


def weights_of_objects(given: Any, ensemble: Ensemble) -> list[float] | None:
    if given is None:
        return None
    return [float(weight) for weight in in_order("object_weights", given, ensemble)]
