"""Label rows in many files, and their consensus in rounds of tasks that any engine may run."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from partita import _partita
from partita._engines import engine_of
from partita._errors import InputError
from partita._run import Run, json_of, seed_of

_FORMATS = ("csv", "parquet", "npy")


@dataclass(frozen=True)
class RowFiles:
    """Label rows in files that were made one ensemble by :func:`scan`.

    Attributes
    ----------
    manifest : pathlib.Path
        Names of the files, their parts, base clusterings and labels; ``partita consensus`` reads it too.
    n_parts : int
        Tasks of a round.
    """

    manifest: Path
    n_parts: int


@dataclass(frozen=True)
class RowConsensus:
    """What :func:`consensus` found of label rows in files.

    Attributes
    ----------
    label_files : list of pathlib.Path
        The labels, a file a part, in the order of the rows. CSV (``object,label,agreement``; the first file has the heading),
        Parquet with these columns, or NPY with the labels alone.
    record_ : dict
        Method, settings, sizes of clusters, warnings.
    report_file : pathlib.Path
        The page about it: tables of all objects, pictures of about 20,000 of them.
    """

    label_files: list[Path]
    record_: dict[str, Any]
    report_file: Path

    @property
    def n_clusters(self) -> int:
        """Clusters of the consensus."""
        return len(self.record_["sizes"])

    def __repr__(self) -> str:
        n = sum(self.record_["sizes"])
        return f"RowConsensus({self.record_['method']}: {n} objects in {self.n_clusters} clusters, {len(self.label_files)} files)"


@dataclass(frozen=True)
class RowPrediction:
    """Labels of a saved model for rows in files.

    Attributes
    ----------
    label_files : list of pathlib.Path
        The labels, a file a part, in the order of the rows: ``object,label,probability``, or NPY with the labels alone.
    sizes : list of int
        Objects in every cluster.
    mean_probability : float
        The mean probability of the labels.
    unknown_values : int
        Labels that the model has never seen; they were taken as missing.
    rows_without_values : int
        Rows without any label that the model knows: they get its largest cluster, with probability 0.
    """

    label_files: list[Path]
    sizes: list[int]
    mean_probability: float
    unknown_values: int
    rows_without_values: int


def scan(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    manifest: str | os.PathLike[str] = "manifest.json",
    *,
    rows_per_part: int = 1 << 21,
    skip: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> RowFiles:
    """Makes one ensemble of files whose rows follow each other, without holding them.

    Parameters
    ----------
    files : path, pattern such as ``"labels/*.parquet"``, or sequence of paths
        Parquet, Arrow or NPY with the same columns of whole numbers. All workers must see them under the same path.
    manifest : path
        Where the manifest goes; workers read it too.
    rows_per_part : int
        Rows of a task, about: as many whole row groups as fit.
    skip : sequence of str
        Columns to leave out.
    columns : sequence of str
        These columns alone, also one called ``label``: true labels for :func:`partita.metrics.scores`, or labels of another run.

    Returns
    -------
    RowFiles
        For :func:`consensus`.
    """
    if isinstance(files, (str, os.PathLike)):
        found: list[str] = sorted(glob.glob(os.fspath(files))) or [os.fspath(files)]
    else:
        found = [os.fspath(path) for path in files]
    target = Path(manifest).absolute()
    if skip and columns:
        raise InputError("skip= leaves columns out, columns= names those that are read; give one of them")
    return RowFiles(target, _partita.write_manifest(found, str(target), rows_per_part, (list(skip), list(columns)), Run()))


#: Method, its settings as JSON, clusters, seed, weights, format of the labels: what the native function asks for.
RowQuestion = tuple["str | None", "str | None", int, int, "str | None", str]


def row_question(
    n_clusters: Any, method: str | None, settings: dict[str, Any], random_state: Any, base_weights: Any, label_format: str
) -> RowQuestion:
    """What is asked of rows in files, from keywords."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, int):
        raise InputError(f"n_clusters={n_clusters!r}; give a number: rows in files are not looked at to choose one")
    check_format(label_format)
    if base_weights is not None and not isinstance(base_weights, (str, os.PathLike)):
        raise InputError("base_weights= of rows in files is 'agreement' or the name of a CSV file with the columns name and weight")
    weights = None if base_weights is None else os.fspath(base_weights)
    own = json_of(settings) if settings else None
    return method, own, n_clusters, seed_of(random_state), weights, label_format


def row_consensus(
    rows: RowFiles, question: RowQuestion, folder: str | os.PathLike[str], engine: Any, n_jobs: int | None, max_memory: int | str | None
) -> RowConsensus:
    """Rounds of tasks until all labels are there. What the folder holds of the same fit is not done again."""
    place, path = str(Path(folder).absolute()), str(rows.manifest)
    found = rounds(partial(_partita.fold, path, place, question), path, engine, n_jobs, max_memory)
    return RowConsensus([Path(name) for name in found["labels"]], found["record"], Path(place) / "report.html")


def check_format(label_format: str) -> None:
    """Refuses formats that labels of parts are not written in."""
    if label_format not in _FORMATS:
        raise InputError(f"label_format={label_format!r}; write one of {', '.join(_FORMATS)}")


def rounds(step: Callable[[Run], str], manifest: str, engine: Any, n_jobs: int | None, max_memory: int | str | None) -> dict[str, Any]:
    """Runs the tasks that each step asks for, over the parts of a manifest, until it has what was asked."""
    run_tasks, how = engine_of(engine), Run(n_jobs, max_memory)
    while not (found := dict(json.loads(step(how))))["done"]:
        run_tasks(partial(_task, manifest=manifest, model=found["job"], n_jobs=n_jobs, max_memory=max_memory), found["missing"])
    return found


def _task(part: int, manifest: str, model: str, n_jobs: int | None, max_memory: int | str | None) -> str:
    return _partita.pass_part(manifest, model, part, Run(n_jobs, max_memory))
