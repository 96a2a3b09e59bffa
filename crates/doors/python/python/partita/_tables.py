"""Inputs of any kind as what the native functions read: label columns and tables; and sparse numbers on their way back."""

from __future__ import annotations

import csv
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Union

import numpy as np

from partita import _partita
from partita._errors import InputError
from partita._given import check_labels, check_table, is_clustering, labels_by_name, warn_of_distances
from partita._partita import NativeTable
from partita._run import Run, json_of, say

#: Words that mean that a label is missing, as in files.
MISSING_WORDS = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "?", "N/A"]
    + ["NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
)

Column = tuple[str, Any, "list[str] | None"]

#: Columns by name, by a pattern with * and ?, or by a regular expression; one or several.
ColumnNames = Union[str, "re.Pattern[str]", Sequence[Union[str, "re.Pattern[str]"]]]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of numbers, one row an object; :func:`generate`, :func:`consensus` and :func:`choose_k` take it.

    Attributes
    ----------
    X : array of shape (n, d), or SciPy sparse array in compressed rows
        The numbers.
    columns : list of str
        Names of the features.
    object_names : list of str or None
        Names of the objects, where there are some.
    truth : list of str or None
        The true classes, where there are some; ``None`` where one is missing. :func:`generate` keeps them with the ensemble.
    truth_name : str
        What their column is called.
    gaps : list of (row, column)
        Where means of columns stand for gaps in ``X``, in place of which base clusterings draw values of like rows.
    """

    X: Any
    columns: list[str]
    object_names: list[str] | None = None
    truth: list[str | None] | None = field(default=None, repr=False)
    truth_name: str = "label"
    gaps: list[tuple[int, int]] = field(default_factory=list, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and features, (n, d)."""
        n, d = self.X.shape
        return int(n), int(d)

    def to_frame(self) -> Any:
        """A pandas frame of the numbers; a sparse table becomes sparse columns."""
        import pandas as pd

        if hasattr(self.X, "tocsr"):
            return pd.DataFrame.sparse.from_spmatrix(self.X, index=self.object_names, columns=self.columns)
        return pd.DataFrame(self.X, index=self.object_names, columns=self.columns)

    def __repr__(self) -> str:
        classes = "" if self.truth is None else ", with true classes"
        return f"Table({self.shape[0]} objects, {self.shape[1]} features{classes})"


@dataclass(frozen=True)
class TableFiles:
    """A table in a file, or in a folder of files whose rows follow each other, that is read where base clusterings are made of it.

    Attributes
    ----------
    path : pathlib.Path
        The file or folder; workers of an engine see it under the same path.
    options : str
        How it is read, as JSON.
    """

    path: Path
    options: str = field(repr=False)


def is_frame(data: Any) -> bool:
    """Whether it has named columns: pandas, polars, Arrow."""
    return (hasattr(data, "columns") or hasattr(data, "column_names")) and hasattr(data, "shape")


def frame_columns(data: Any) -> tuple[list[str], list[Any]]:
    """Names and columns of a frame."""
    names = list(data.column_names if hasattr(data, "column_names") else data.columns)
    if hasattr(data, "iloc"):
        return [str(name) for name in names], [data.iloc[:, at] for at in range(len(names))]
    return [str(name) for name in names], [data[name] for name in names]


def columns_called(called: ColumnNames, names: Callable[[], list[str]]) -> list[str]:
    """Names and patterns as they are; of a regular expression the names that it is found in."""
    found: list[str] = []
    for wanted in [called] if isinstance(called, (str, re.Pattern)) else called:
        if isinstance(wanted, re.Pattern):
            fits = [name for name in names() if wanted.search(name)]
            if not fits:
                raise InputError(f"no column fits the regular expression {wanted.pattern!r}; there are {', '.join(names()[:20])}")
            found += fits
        else:
            found.append(str(wanted))
    return found


def bases_of_frame(called: str, data: Any, only: ColumnNames, skip: ColumnNames) -> tuple[list[str], list[Any]]:
    """Names and columns of a frame that are base clusterings, chosen as those of a file are; what is left out unasked is said."""
    names, columns = frame_columns(data)
    asked = columns_called(only, lambda: names)
    values = [0] * len(names) if asked else [_different(column) for column in columns]
    wanted = _partita.base_columns(called, (names, values, data.shape[0]), asked, columns_called(skip, lambda: names))
    if wanted[1]:
        say(True, wanted[1])
    return [names[at] for at in wanted[0]], [columns[at] for at in wanted[0]]


def _different(column: Any) -> int:
    """How many different values a column of any library has."""
    for name in ("nunique", "n_unique"):
        if hasattr(column, name):
            return int(getattr(column, name)())
    return len(column.unique() if hasattr(column, "unique") else np.unique(np.asarray(column)))


def index_of(data: Any) -> Any:
    """The index of a pandas frame or Series, unless it only numbers the rows."""
    index: Any = getattr(data, "index", None)
    if not hasattr(index, "equals"):
        return None
    if index.dtype.kind in "iu" and np.array_equal(np.asarray(index), np.arange(len(index))):
        return None
    return index


def names_of(index: Any) -> list[str] | None:
    """Names of objects out of an index, a list, or nothing; 3.0 is called as 3 is."""
    if index is None:
        return None
    names = index.tolist() if hasattr(index, "tolist") else index
    return [str(int(name)) if isinstance(name, float) and name.is_integer() else str(name) for name in names]


def frame_index(data: Any) -> list[str] | None:
    """Names of the objects: the index of a pandas frame or Series, unless it only numbers the rows."""
    return names_of(index_of(data))


def _same(index: Any, other: Any) -> bool:
    if index is None or other is None or isinstance(index, list) or isinstance(other, list):
        return type(index) is type(other) and index == other
    return index is other or bool(index.equals(other))


def joint_rows(names: Sequence[str], indexes: Sequence[Any], lengths: Sequence[int]) -> tuple[list[str] | None, list[Any] | None]:
    """Names of the objects of several inputs, matched by their indexes, and the rows of each, -1 where it lacks one; none as they stand."""
    if not indexes or all(_same(index, indexes[0]) for index in indexes[1:]):
        return (names_of(indexes[0]) if indexes else None), None
    return _partita.match_objects([(name, names_of(index), n) for name, index, n in zip(names, indexes, lengths)], Run())


def taken(array: Any, rows: Any, missing: float = -1) -> Any:
    """Rows of an array, where -1 gives a missing value."""
    found, absent = array[rows], rows < 0
    if absent.any():
        found = found.astype(np.float64 if found.dtype.kind == "f" else np.int64)
        found[absent] = missing
    return found


def in_order(what: str, values: Any, ensemble: Any) -> list[Any]:
    """Values of the objects of an ensemble in its order: matched by the index of a Series or the keys of a dict, else by place."""
    named, n = ensemble.object_names, ensemble.n_objects
    index = list(values) if isinstance(values, Mapping) else index_of(values)
    listed = list(values.values() if isinstance(values, Mapping) else values)
    if index is not None:
        _, rows = joint_rows(["the ensemble", what], [named, names_of(index)], [n, len(listed)])
        if rows is not None:
            absent = np.flatnonzero(rows[1][:n] < 0)
            if len(absent):
                raise InputError(f"{what} has nothing for object '{named[absent[0]] if named else absent[0]}'")
            listed = [listed[row] for row in rows[1][:n]]
    if len(listed) != n:
        raise InputError(f"{len(listed)} {what} for {n} objects")
    return listed


def label_columns(
    data: Any,
    names: Sequence[str] | None,
    only: ColumnNames = (),
    skip: ColumnNames = (),
    missing: Sequence[Any] | None = None,
) -> tuple[list[Column], list[str] | None]:
    """Columns of labels with their names and the names of their words, objects in one order; names of the objects."""
    if isinstance(missing, str):
        raise InputError(f"missing={missing!r}; write a list of them")
    gaps = None if missing is None else [str(label).strip() for label in missing]
    check_labels(data)
    if not is_frame(data) and (only or skip):
        raise InputError("only= and skip= choose columns of a frame; leave others out of the dict or the array")
    if getattr(getattr(data, "dtype", None), "names", None):
        data = {name: data[name] for name in data.dtype.names}
    if is_clustering(data):
        data = [data]
    if isinstance(data, Mapping):
        found, columns = [str(name) for name in data], list(data.values())
    elif is_frame(data):
        found, columns = bases_of_frame("the frame", data, only, skip)
    elif isinstance(data, (list, tuple)):
        columns = list(data)
        if columns and not is_clustering(columns[0]) and np.ndim(columns[0]) == 0:
            raise InputError("a list is a list of base clusterings, each a list or array of labels; for one, write [labels]")
        found = [f"base{at}" for at in range(len(columns))]
    else:
        matrix = as_array(data)
        if matrix.ndim != 2:
            raise InputError(
                f"an array of labels has the shape (objects, base clusterings), not {matrix.shape}; "
                "reshape one column with labels[:, None]"
            )
        columns = [matrix[:, at] for at in range(matrix.shape[1])]
        found = [f"base{at}" for at in range(len(columns))]
    called = _renamed(found, names, "base clusterings")
    made, indexes = [], []
    for name, column in zip(called, columns):
        column, index = labels_by_name(name, column) if is_clustering(column) else (column, index_of(column))
        made.append(label_column(name, column, gaps))
        indexes.append(index)
    objects, rows = joint_rows([f"base clustering '{name}'" for name in called], indexes, [len(array) for _, array, _ in made])
    if rows is not None:
        made = [(name, taken(array, of), words) for (name, array, words), of in zip(made, rows)]
    return made, objects


def as_array(data: Any) -> np.ndarray[Any, Any]:
    """An array of what may be one; entries that are masked are None."""
    if hasattr(data, "tocsr"):
        raise InputError("labels and shares are dense; give the .toarray() of a sparse matrix")
    try:
        return np.asarray(np.ma.filled(data.astype(object), None) if isinstance(data, np.ma.MaskedArray) else data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"a {type(data).__name__} that cannot be made an array: {error}") from error


def named_runs(runs: Any, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Runs with their names: those given, the keys of a dict, or run0, run1, ..."""
    pairs = list(runs.items()) if isinstance(runs, Mapping) else [(f"run{at}", run) for at, run in enumerate(runs)]
    called = _renamed([str(name) for name, _ in pairs], names, "runs")
    return [(name, run) for name, (_, run) in zip(called, pairs)]


def _renamed(found: list[str], names: Sequence[str] | None, what: str) -> list[str]:
    """The names that were given in place of those that were found."""
    if names is None:
        return found
    if len(names) != len(found):
        raise InputError(f"{len(names)} names for {len(found)} {what}")
    return [str(name) for name in names]


def label_column(name: str, column: Any, gaps: list[str] | None = None) -> Column:
    """A column of numbers, and what they stand for where they stand for words; with `gaps` these are missing, and no other labels are."""
    codes = _categorical(column)
    if codes is not None:
        numbers, words = codes
        return _words_by_code(name, numbers, words, gaps)
    check_labels(column)
    array = _array(name, column, gaps is None)
    if array.ndim != 1:
        raise InputError(f"base clustering '{name}' has the shape {array.shape}; it is one label an object")
    kind = array.dtype.kind
    if kind == "b":
        return name, array.view(np.uint8), ["False", "True"]
    if kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    if kind in "iuf" and gaps is not None:
        return _words(name, array, gaps)
    if kind in "iuf":
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        return name, array, None
    if kind in "OUST":
        return _words(name, array, gaps)
    raise InputError(f"base clustering '{name}' has the type {array.dtype}; labels are whole numbers or words")


def _array(name: str, column: Any, gap_is_number: bool = True) -> np.ndarray[Any, Any]:
    """A column of any library as an array; missing entries of whole numbers are -1, or None."""
    # Arrow and polars give numbers with gaps as floating-point numbers, which hold whole ones up to 2**53.
    if type(column) is np.ndarray:
        return column
    if hasattr(column, "to_numpy"):
        if hasattr(column, "isna") and str(getattr(column, "dtype", ""))[:1] in "IU":
            numbers = {"dtype": "int64", "na_value": -1} if gap_is_number else {"dtype": object, "na_value": None}
            return np.asarray(column.to_numpy(**numbers))
        array = np.asarray(column.to_numpy())
        if array.dtype.kind == "M":
            raise InputError(f"base clustering '{name}' holds dates; labels are whole numbers or words")
        return array
    return _from_list(column) if isinstance(column, (list, tuple)) else as_array(column)


def _from_list(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A list, whose numbers stay numbers although some are ``None``."""
    kinds = {type(value) for value in values}
    if not all(issubclass(kind, (int, float, complex, np.number, np.bool_)) for kind in kinds):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    return np.asarray(values)


def _categorical(column: Any) -> tuple[Any, list[Any]] | None:
    """Codes and words of a categorical column of pandas."""
    accessor = getattr(column, "cat", None)
    if accessor is not None and hasattr(accessor, "codes") and hasattr(accessor, "categories"):
        return np.asarray(accessor.codes), list(accessor.categories)
    if hasattr(column, "codes") and hasattr(column, "categories"):
        return np.asarray(column.codes), list(column.categories)
    return None


def is_gap(value: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas.NA."""
    # These but None are not equal to themselves, or do not say.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _is_missing(value: Any, gaps: list[str] | None = None) -> bool:
    if gaps is None:
        return value.strip() in MISSING_WORDS if isinstance(value, str) else is_gap(value)
    whole = None if isinstance(value, str) else _whole(value)
    return is_gap(value) or (str(value).strip() if whole is None else str(whole)) in gaps


def _words(name: str, array: np.ndarray[Any, Any], gaps: list[str] | None) -> Column:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    distinct: dict[Any, int] = {}
    codes = np.empty(len(array), dtype=np.int64)
    for at, value in enumerate(array.tolist()):
        try:
            codes[at] = distinct.setdefault(value, len(distinct))
        except TypeError:
            raise InputError(f"base clustering '{name}' has {value!r} in row {at}; labels are whole numbers or words") from None
    return _words_by_code(name, codes, list(distinct), gaps)


def _words_by_code(name: str, codes: np.ndarray[Any, Any], words: list[Any], gaps: list[str] | None = None) -> Column:
    """Labels given by their places in a list; a list of numbers makes numbers, as in files."""
    places = [at for at, word in enumerate(words) if not _is_missing(word, gaps)]
    known = [words[at] for at in places]
    # One more than there are words: the code -1 is a missing label.
    table = np.full(len(words) + 1, -1, dtype=np.int64)
    whole = [number for number in map(_whole, known) if number is not None]
    numbers = bool(known) and len(whole) == len(known)
    if numbers and (gaps is None or min(whole) >= 0):
        table[places] = whole
        return name, table[codes], None
    texts = [str(number) for number in whole] if numbers else [word.strip() if isinstance(word, str) else str(word) for word in known]
    order = sorted(set(texts), key=int if numbers else None)
    place = {text: at for at, text in enumerate(order)}
    table[places] = [place[text] for text in texts]
    return name, table[codes], order


def _whole(word: Any) -> int | None:
    """The whole number that a label is or spells; -1 is a missing label."""
    if isinstance(word, (bool, np.bool_)):
        return None
    try:
        number = float(word)
        whole = int(word) if isinstance(word, (int, np.integer)) else int(number)
    except (TypeError, ValueError, OverflowError):
        return None
    return whole if whole == number and -1 <= whole < 2**63 else None


def codes_of(labels: Any) -> Any:
    """A column of labels as whole numbers, none of which may be missing."""
    if is_frame(labels):
        raise InputError("labels are one column; take one of the frame")
    _, array, _ = label_column("labels", labels)
    array = np.asarray(array)
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise InputError("a label is missing; leave the object out")
        if (array != np.floor(array)).any():
            raise InputError(f"{array[array != np.floor(array)][0]} is not a label; labels are whole numbers or words")
        array = array.astype(np.int64)
    if len(array) and array.min() < 0:
        raise InputError("a label is missing (-1, None, NaN); leave the object out")
    return np.ascontiguousarray(array, dtype=np.int64)


def named_labels(labels: Any) -> tuple[list[str], list[str | None]] | None:
    """Names of the objects and their labels, of a pandas Series whose index names the objects or a dict; none for others."""
    if is_clustering(labels):
        values, index = labels_by_name("labels", labels)
        names = names_of(index)
        return None if names is None else (names, [word_of(label) for label in values])
    names = frame_index(labels)
    return None if names is None or is_frame(labels) else (names, placed_labels(labels))


def placed_labels(labels: Any) -> list[str | None]:
    """The labels of a column as files spell them."""
    check_labels(labels)
    return [word_of(label) for label in _array("labels", labels).tolist()]


def part_of(data: Any, obsm: str | None, layer: str | None) -> Any:
    """What obsm= or layer= name of an AnnData, with the names of its objects."""
    if obsm is None and layer is None:
        return data
    if not hasattr(data, "obsm") or (obsm is not None and layer is not None):
        raise InputError("obsm= or layer= names the part of an AnnData that is clustered; give one of them, and an AnnData")
    parts, key = (data.obsm, obsm) if layer is None else ({"X": data.X, **data.layers}, layer)
    if key not in parts:
        raise InputError(f"the AnnData has no {'obsm' if layer is None else 'layer'} '{key}'; it has {', '.join(map(str, parts))}")
    numbers = parts[key]
    columns = list(data.var_names) if obsm is None else [f"{key}{at}" for at in range(numbers.shape[1])]
    return Table(numbers.to_numpy() if is_frame(numbers) else numbers, columns, list(data.obs_names))


def table_of(
    data: Any,
    names: Sequence[str] | None = None,
    impute: str | None = None,
    *,
    obsm: str | None = None,
    layer: str | None = None,
    gaps: Literal["drawn", "kept", "refused"] = "drawn",
) -> NativeTable:
    """A table of numbers: an array, a frame (of words too, which become categories), a sparse matrix, or a part of an AnnData. ``gaps`` says what becomes of them where ``impute``
    does not: base clusterings draw values, they stay, or they are refused."""
    if impute not in (None, "mean", "none"):
        raise InputError(f"impute={impute!r}; write 'mean', 'none' to refuse gaps, or nothing")
    data = part_of(data, obsm, layer)
    if isinstance(data, NativeTable):
        return data
    if isinstance(data, (str, os.PathLike, TableFiles)):
        path = data.path if isinstance(data, TableFiles) else data
        raise InputError(f"{path}: a table here is in memory; read it with read_table(); generate() takes what scan_table() found too")
    objects, columns, truth, drawn = None, None, None, []
    if isinstance(data, Table):
        objects, columns, truth, drawn, data = data.object_names, data.columns, _classes(data), data.gaps, data.X
        if impute == "none" and drawn:
            raise InputError(f"the table has {len(drawn)} missing values; leave the rows out")
        drawn = drawn if impute is None else []
    check_table(data)
    if hasattr(data, "tocsr"):
        return _sparse(data, names or columns, objects, truth)
    if is_frame(data):
        columns, objects = frame_columns(data)[0], frame_index(data)
        try:
            values = data.to_numpy() if hasattr(data, "to_numpy") else np.column_stack([np.asarray(c) for c in frame_columns(data)[1]])
        except TypeError as error:
            # Numbers and dates have no type in common.
            if gaps == "refused":
                raise InputError(f"a table has numbers: {error}") from None
            values = np.empty((0, 0), dtype=object)
        if values.dtype.kind not in "iufb" and gaps != "refused" and not all(map(_holds_numbers, frame_columns(data)[1])):
            return table_of(_read(data, impute), names, impute, gaps=gaps)
    else:
        values = as_array(data)
    if values.dtype.names:
        columns = list(values.dtype.names)
        values = np.column_stack([values[name] for name in columns])
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(f"a table has the shape (objects, features), not {values.shape}")
    warn_of_distances(values)
    if values.dtype.kind in "OUS":
        values = _numbers(values, columns)
    elif values.dtype.kind not in "iufb":
        raise InputError(f"a table has numbers, not {values.dtype}")
    values = np.asarray(values, dtype=np.float64)
    called = _column_names(names or columns, values.shape[1])
    remedy = "take the mean of the column (impute='mean'), or " if impute == "none" else "" if gaps == "refused" else None
    if not _check_finite(values, columns, remedy) and (impute == "mean" or gaps == "drawn"):
        values, _, found = filled(values, called, draws=impute is None)
        drawn = [*drawn, *found]
    return NativeTable.dense(values, called, objects, truth, drawn)


def _holds_numbers(column: Any) -> bool:
    """Whether a column of a frame has numbers, or texts and objects that are numbers, and gaps."""
    values = np.asarray(column)
    try:
        return values.dtype.kind in "iufb" or bool(_numbers(values[:, None], None).size)
    except InputError:
        return False


def _read(frame: Any, impute: str | None) -> Table:
    """A frame with words or dates as a file of text, which is read as ``partita run`` reads one; all its rows are objects."""
    names, columns = frame_columns(frame)
    index = frame_index(frame)
    if index is not None:
        called = next(name for name in ("id", "object", "".join(names) + "_") if name not in names)
        names, columns = [called, *names], [index, *columns]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(zip(*(["" if is_gap(value) else value for value in column] for column in columns)))
        how = {"file": "", "id": None if index is None else names[0], "header": "yes", "delimiter": ",", "all_rows": True}
        options = json_of({**how, "impute": impute, "max_categories": 50})
        table = table_in(path, options, 0, Run())
    if table.X.shape[0] != frame.shape[0]:
        raise InputError(f"{frame.shape[0] - table.X.shape[0]} rows of the frame have no value; leave them out")
    return table


def table_in(path: str | os.PathLike[str], options: str, seed: int, run: Run) -> Table:
    """The table of a file."""
    numbers, columns, objects, classes, gaps = _partita.read_table(os.fspath(path), options, seed, run)
    name, truth = ("label", None) if classes is None else classes
    return Table(matrix_of(numbers), columns, objects, truth, name, gaps)


def filled(values: np.ndarray[Any, Any], columns: list[str], means: Any = None, *, draws: bool = False) -> tuple[Any, Any, Any]:
    """Numbers without gaps, which get the means of their columns or those given, which is said; the means; and where base clusterings draw
    values of like rows instead."""
    made, means, gaps = _partita.fill_gaps(values, columns, means)
    if gaps:
        get = "values of like rows, which base clusterings draw" if draws else "the means of their columns"
        say(True, f"{len(gaps)} missing values get {get}")
    return values if made is None else made, means, gaps if draws else []


def _classes(table: Table) -> tuple[str, list[str | None]] | None:
    """The true classes as words, under the name of their column."""
    if table.truth is None:
        return None
    return table.truth_name, [word_of(value) for value in table.truth]


def word_of(label: Any) -> str | None:
    """A label as files spell it; -1 is a missing one."""
    if is_gap(label):
        return None
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        label = int(label)
    return None if label == -1 else str(label)


def _numbers(values: np.ndarray[Any, Any], columns: list[str] | None) -> np.ndarray[Any, Any]:
    """Numbers of objects and texts; what means that one is missing is NaN."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        made = np.empty(values.shape)
        for (row, column), value in np.ndenumerate(values):
            try:
                made[row, column] = np.nan if _is_missing(value) else float(value)
            except (TypeError, ValueError):
                where = columns[column] if columns else column
                raise InputError(f"row {row}, column '{where}': {str(value)!r} is not a number; leave the column out or encode it") from None
        return made


def _check_finite(values: np.ndarray[Any, Any], columns: list[str] | None, remedy: str | None) -> bool:
    """Whether all are finite. Refuses infinity, and NaN where there is a remedy of gaps to name."""
    # A sum is finite only if all numbers are, unless it overflows: then look.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if np.isfinite(total):
        return True
    for start in range(0, len(values), 65536):
        block = values[start : start + 65536]
        bad = np.argwhere(np.isinf(block) if remedy is None else ~np.isfinite(block))
        if len(bad):
            row, column = bad[0]
            where = columns[column] if columns else column
            value = block[row, column]
            remedy = "correct it, or " if np.isinf(value) else remedy
            raise InputError(f"row {start + row}, column '{where}' is {value}; {remedy}leave the row out")
    return False


def _sparse(
    data: Any, names: Sequence[str] | None, objects: list[str] | None = None, truth: tuple[str, list[str | None]] | None = None
) -> NativeTable:
    matrix = data.tocsr()
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"a table has the shape (objects, features), not {matrix.shape}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values = np.asarray(matrix.data, dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError("the sparse table holds NaN or infinity; impute it or leave the rows out")
    indptr, indices = np.asarray(matrix.indptr, dtype=np.int64), np.asarray(matrix.indices, dtype=np.int64)
    rows, columns = matrix.shape
    return NativeTable.sparse((rows, columns), indptr, indices, values, _column_names(names, columns), objects, truth)


def _column_names(names: Sequence[str] | None, width: int) -> list[str]:
    return _renamed([f"x{at}" for at in range(width)], names, "features")


def matrix_of(numbers: Any) -> Any:
    """A dense array as it is; compressed rows as SciPy has them."""
    if isinstance(numbers, np.ndarray):
        return numbers
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise InputError("the numbers are sparse; install scipy, which holds them") from None
    (rows, columns), indptr, indices, data = numbers
    # scikit-learn refuses indices of 64 bits.
    if max(columns, len(data)) <= np.iinfo(np.int32).max:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return csr_array((data, indices, indptr), shape=(rows, columns))
