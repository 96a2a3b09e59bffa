"""Files: ensembles, tables, texts, and what a file holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._run import Run, json_of, logger, seed_of
from partita._tables import ColumnNames, Table, TableFiles, columns_called, frame_index, is_gap, matrix_of, table_in


def read_options(
    paths: Sequence[str | os.PathLike[str]],
    *,
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    all_rows: bool = False,
    transpose: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """How files are read, under the names of an experiment's record."""
    if truth is True:
        raise InputError("truth=True; name the column, or write False where there is none")
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise InputError(f"delimiter={delimiter!r}; write one character such as ';' or '\\t'")
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal={decimal!r}; write '.' or ','")
    if isinstance(missing, str):
        raise InputError(f"missing={missing!r}; write a list of them")
    options: dict[str, Any] = {"truth": truth, "id": id, "delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    options.update(all_rows=all_rows, transpose=transpose, missing=None if missing is None else list(missing))
    how = json_of({**options, "header": "auto"})

    def names() -> list[str]:
        return [name for path in paths for name in _partita.column_names(os.fspath(path), how)]

    options.update(skip=columns_called(skip, names), only=columns_called(only, names))
    # Of tables alone, but in the record of every file.
    options["max_categories"] = 50
    options["header"] = "auto" if header is None else "yes" if header else "no"
    return {**options, **more}


def read_ensemble(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    all_rows: bool = False,
    transpose: bool = False,
    sheet: str | None = None,
    soft_bases: bool = False,
    most_shares: int = 8,
    harden: bool = False,
    max_memory: int | str | None = None,
) -> Ensemble:
    """Reads an ensemble from a file, or from several whose base clusterings stand side by side, as the command line does.

    Parameters
    ----------
    path, *more : path
        CSV, TSV, NPY, NPZ, Parquet, Arrow or MAT; one row an object, one column a base clustering. Of H5AD the columns of ``obs``.
        Objects of several files are matched by their names, else by place; labels of objects that a file lacks are missing.
    truth : str or False, optional
        The column with the true classes, by name or position from 1; one called label or truth if not given; ``False`` for none.
    id : str, optional
        The column with the names of the objects, by name or position from 1.
    missing : sequence of str, optional
        Words that mean that a label is missing, in place of the usual ones.
    skip, only : str, regular expression, or sequence of them
        Columns to leave out, and the only ones that are data: names, patterns in which ``*`` stands for any letters and ``?`` for
        one, or what ``re.compile`` gives. A column with more than 3 sqrt(n) different values is no base clustering unless ``only``
        has it, which is said.
    header : bool, optional
        Whether the first line names the columns (CSV, TSV); found out if not given.
    delimiter : str, optional
        What separates fields (CSV, TSV), one character; found out if not given.
    encoding : str, optional
        The encoding of a text such as ``"windows-1252"``; found out if not given.
    decimal : {".", ","}, optional
        The mark before the decimals of numbers; found out if not given.
    all_rows : bool
        Every row below the header of a text is an object; without it titles, comments, units, sums, notes and blank rows are not.
    transpose : bool
        Rows are base clusterings and columns are objects (text, NPY, NPZ, MAT).
    sheet : str, optional
        The sheet of a spreadsheet; the first if not given.
    soft_bases : bool
        All columns are shares of objects in clusters.
    most_shares : int
        The most shares of an object in a soft base clustering that are kept; the largest are, divided by their sum.
    harden : bool
        Take soft base clusterings as hard.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``.

    Raises
    ------
    InputError
        For what cannot be read, with the file, the row and the column.
    """
    paths = [os.fspath(file) for file in (path, *more)]
    options = read_options(
        paths,
        truth=truth,
        id=id,
        missing=missing,
        skip=skip,
        only=only,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        all_rows=all_rows,
        transpose=transpose,
        sheet=sheet,
        soft_bases=soft_bases,
        most_shares=most_shares,
        harden=harden,
    )
    return Ensemble._of(_partita.NativeEnsemble.read(paths, json_of(options), Run(None, max_memory)))


def merge(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    harden: bool = False,
    max_memory: int | str | None = None,
) -> Ensemble:
    """One ensemble of the parts of one job, or of several ensembles, as ``partita merge`` makes it.

    Parameters
    ----------
    path, *more : path
        Files that ``generate(..., part="2/4", part_file=...)`` or ``partita generate --part`` wrote, or what a call that was interrupted
        has kept; all parts together are the ensemble of one call. Or files that :func:`read_ensemble` takes.
    truth, id, missing, skip, only, harden, max_memory
        As for :func:`read_ensemble`, of ensembles.

    Returns
    -------
    Ensemble
        With the names of the objects and the true classes, where the parts have them.

    Raises
    ------
    InputError
        For parts of several jobs, and for what cannot be read.
    """
    paths = [os.fspath(file) for file in (path, *more)]
    own: dict[str, Any] = {"soft_bases": False, "most_shares": 8, "harden": harden}
    options = read_options(paths, truth=truth, id=id, missing=missing, skip=skip, only=only, **own)
    return Ensemble._of(_partita.merge(paths, json_of(options), Run(None, max_memory)))


def read_table(
    path: str | os.PathLike[str],
    *,
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    all_rows: bool = False,
    transpose: bool = False,
    sheet: str | None = None,
    layer: str | None = None,
    obsm: str | None = None,
    encode: str | None = None,
    impute: str | None = None,
    max_categories: int | None = 50,
    filter_labels: Sequence[str] = (),
    max_per_label: int | None = None,
    random_state: Any = 0,
    max_memory: int | str | None = None,
) -> Table:
    """Reads a table of numbers from a file as ``partita run`` and ``partita generate`` do.

    Parameters
    ----------
    path : path
        CSV, TSV, NPY, NPZ, Parquet, Arrow or H5AD, or a sparse matrix of SciPy.
    truth, id, missing, skip, only, header, delimiter, encoding, decimal, all_rows, transpose, sheet
        As for :func:`read_ensemble`. The truth of an H5AD may be any column of its ``obs``.
    layer, obsm : str, optional
        The layer, or the array in ``obsm`` such as ``"X_pca"``, of an H5AD that is the table; its ``X`` if not given.
    encode : {"one-hot", "ordinal", "none"}, optional
        What columns that hold words become; ``"none"`` refuses them. If not given, those of a text become columns of zeros and ones.
    impute : {"mean", "none"}, optional
        What missing numbers become; ``"none"`` refuses them. If not given, base clusterings draw values of like rows for those of a
        text (the means of columns stand for them in ``X``), which is said; those of other files are refused.
    max_categories : int or None
        The most columns that are made of one.
    filter_labels : sequence of str
        Take only rows with these true classes; columns that are constant in them are left out.
    max_per_label : int, optional
        Take at most so many rows of each true class, drawn with ``random_state``.
    random_state : int, Generator or RandomState
        As ``partita run --seed``.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``.

    Raises
    ------
    InputError
        For what cannot be read, with the file, the row and the column.
    """
    more: dict[str, Any] = {"encode": encode, "impute": impute, "max_categories": max_categories, "filter_labels": list(filter_labels)}
    more["max_per_label"] = max_per_label
    options = read_options(
        [path],
        truth=truth,
        id=id,
        missing=missing,
        skip=skip,
        only=only,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        all_rows=all_rows,
        transpose=transpose,
        sheet=sheet,
        layer=layer,
        obsm=obsm,
        **more,
    )
    seed, run = seed_of(random_state), Run(None, max_memory)
    return table_in(path, json_of({"file": "", **options}), seed, run)


def scan_table(
    path: str | os.PathLike[str],
    *,
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    all_rows: bool = False,
    encode: str | None = None,
    impute: str | None = None,
    max_categories: int | None = 50,
) -> TableFiles:
    """Names a table that :func:`generate` reads itself: in this process or on workers, by blocks where it does not fit.

    Parameters
    ----------
    path : path
        A file that :func:`read_table` takes, or a folder of Parquet, Arrow or NPY files whose rows follow each other in the order of
        their names. Parquet and Arrow are read by blocks.
    truth, id, missing, skip, only, header, delimiter, encoding, decimal, all_rows
        As for :func:`read_ensemble`.
    encode, impute, max_categories
        As for :func:`read_table`. With ``impute`` the table is read whole.

    Returns
    -------
    TableFiles
        Nothing is read yet.

    Raises
    ------
    InputError
        Where nothing has this path.
    """
    place = Path(path).absolute()
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder")
    more: dict[str, Any] = {"encode": encode, "impute": impute, "max_categories": max_categories}
    # Names of columns in a folder of files are those of its files.
    options = read_options(
        [place],
        truth=truth,
        id=id,
        missing=missing,
        skip=skip,
        only=only,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        all_rows=all_rows,
        **more,
    )
    return TableFiles(place, json_of({"file": "", **options}))


def text(documents: Iterable[str | None], *, max_memory: int | str | None = None, **settings: Any) -> Table:
    """Turns documents into a sparse table of weighted words, as ``partita text`` does.

    Parameters
    ----------
    documents : iterable of str
        Texts, such as a column of a frame; ``None`` and NaN are empty ones.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``.
    **settings
        As ``partita text --set`` takes them: ``headers``, ``markup``, ``stop_words``, ``stemming``, ``numbers``, ``min_length``,
        ``min_documents``, ``terms``, ``frequency``, ``idf``, ``unit_length``.

    Returns
    -------
    Table
        ``X`` is a SciPy sparse array of shape (documents, words), ``columns`` are the words.

    Examples
    --------
    >>> import partita as pt
    >>> words = pt.text(["cats and dogs", "a dog barks", "cats purr", "dogs bark"], min_documents=2)
    >>> words.columns, words.shape
    (['bark', 'cat', 'dog'], (4, 3))
    """
    if isinstance(documents, str):
        raise InputError("a text alone is one document; write a list of them")
    texts = [_text(at, document) for at, document in enumerate(documents)]
    numbers, words, _, empty = _partita.words_of(texts, json_of(settings), Run(None, max_memory))
    if empty:
        logger.info("%d of %d documents have none of the kept words", empty, len(texts))
    return Table(matrix_of(numbers), words, frame_index(documents))


def _text(at: int, document: Any) -> str | None:
    if isinstance(document, str):
        return document
    if is_gap(document):
        return None
    raise InputError(f"document {at} is {document!r}; documents are texts")


def inspect(
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    truth: str | bool | None = None,
    id: str | None = None,
    missing: Sequence[str] | None = None,
    skip: ColumnNames = (),
    only: ColumnNames = (),
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    all_rows: bool = False,
    transpose: bool = False,
) -> dict[str, Any]:
    """What a file holds, as ``partita inspect --json`` prints it; its ``kind`` says what it is.

    Parameters
    ----------
    path : path
        A table, an ensemble, a model, a record.json, a choice.json, or the folder of a run.
    kind : {"table", "ensemble", "model", "record"}, optional
        Take the file as this, whatever is found in it.
    truth, id, missing, skip, only, header, delimiter, encoding, decimal, all_rows, transpose
        As for :func:`read_ensemble`.
    """
    options = read_options(
        [path],
        truth=truth,
        id=id,
        missing=missing,
        skip=skip,
        only=only,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        all_rows=all_rows,
        transpose=transpose,
    )
    return dict(json.loads(_partita.inspect(os.fspath(path), kind, json_of(options), Run())))
