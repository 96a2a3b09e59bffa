"""The consensus of an ensemble by one method or several, its methods, and runs that are repeated or reported."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

from partita import _partita
from partita._choice import ClusterChoice, choice_json
from partita._ensemble import Ensemble, weights_of_bases, weights_of_objects
from partita._errors import InputError
from partita._given import pairs_and_counts, rows_of_start
from partita._html import save_text
from partita._result import ConsensusResult, ConsensusResults, Interrupted
from partita._rows import RowConsensus, RowFiles, row_consensus, row_question
from partita._run import Run, clusters_of, json_of, page_json, seed_of
from partita._tables import table_of

#: Several methods: their names, or a dict of their settings by name.
Methods = list[str] | tuple[str, ...] | dict[str, dict[str, Any]]


@dataclass
class _Request:
    """What the native function is asked for."""

    clusters: str
    methods: list[tuple[str, str]]
    seed: int
    weight_source: str | None
    weights: list[float] | None
    auto: bool = False
    object_weights: list[float] | None = None
    unlabelled: str = "keep"
    start: list[list[float]] | None = None
    pairs: list[tuple[int, int]] | None = None
    counts: list[tuple[int, int]] | None = None


@lru_cache(maxsize=1)
def _described() -> str:
    return _partita.methods()


def methods(search: str | None = None) -> dict[str, dict[str, Any]]:
    """Every method by name: summary, reference, what it can do, its settings with defaults and ranges.

    Parameters
    ----------
    search : str, optional
        Only methods that a name from the literature stands for, such as ``"ECC"`` or ``"LinkCluE"`` (``known_as`` says so), and those
        whose name, summary or reference has this text.

    Examples
    --------
    >>> import partita as pt
    >>> pt.methods()["lwgp"]["family"]
    'graph'
    >>> [setting["name"] for setting in pt.methods()["eac-average"]["settings"]]
    []
    """
    every = {method["name"]: method for method in json.loads(_described())}
    if search is None:
        return every
    found = json.loads(_partita.search_methods(search))
    known: dict[str, list[str]] = {name: [] for name in found["methods"]}
    for entry in found["known_as"]:
        for name in entry["methods"]:
            known.setdefault(name, []).append(f"{entry['term']}: {entry['note']}")
    return {name: {**every[name], "known_as": terms} for name, terms in known.items()}


def method_of(method: str | None, clusters: str) -> str:
    """The method, or the default where none is named."""
    if method is None:
        return _partita.DEFAULT_OF_OWN_CLUSTERS if clusters == "method" else _partita.DEFAULT_METHOD
    if not isinstance(method, str):
        raise InputError(f"method={method!r}; name one of {', '.join(methods())}")
    return method


def methods_of(method: Methods, settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Names of several methods, each with the settings for all and its own as JSON."""
    names = [method_of(name, "") for name in method]
    if not names or len(set(names)) < len(names):
        raise InputError(f"method={method!r}; name at least one method, and each once")
    own = {name: method[name] or {} for name in names} if isinstance(method, dict) else {}
    wrong = [name for name, of in own.items() if not isinstance(of, dict)]
    if wrong:
        raise InputError(f"method={{'{wrong[0]}': {own[wrong[0]]!r}}}; write the settings of a method as a dict, such as {{'restarts': 3}}")
    return [(name, json_of({**settings, **own.get(name, {})})) for name in names]


def one_method(method: str | None) -> str | None:
    """The name of one method; of several it is an error."""
    return None if method is None else method_of(method, "")


def request_of(
    ensemble: Ensemble | None,
    n_clusters: Any,
    method: str | Methods | None,
    random_state: Any,
    base_weights: Any,
    settings: dict[str, Any],
) -> _Request:
    """What is asked for by these keywords."""
    clusters = clusters_of(n_clusters)
    source, weights = weights_of_bases(base_weights, ensemble)
    several = method if isinstance(method, (list, tuple, dict)) else [method_of(method, clusters)]
    return _Request(clusters, methods_of(several, settings), seed_of(random_state), source, weights)


def run_consensus(
    ensemble: Ensemble | None, table: _partita.NativeTable | None, recipe: str | None, request: _Request, run: Run
) -> ConsensusResults:
    """The results, or an exception that carries the best so far."""
    native_ensemble = None if ensemble is None else ensemble._native
    with run:
        natives, stopped_by = _partita.consensus(native_ensemble, table, recipe, request, run)
    return _results(natives, stopped_by, table)


def _results(
    natives: list[_partita.NativeResult], stopped_by: BaseException | None, table: _partita.NativeTable | None
) -> ConsensusResults:
    results = ConsensusResults([ConsensusResult(native, table) for native in natives])
    if isinstance(stopped_by, KeyboardInterrupt):
        raise Interrupted("stopped; the best so far is in .result", results) from stopped_by
    if stopped_by is not None:
        raise stopped_by
    return results


@overload
def consensus(ensemble: RowFiles, n_clusters: int, method: str | None = None, **keywords: Any) -> RowConsensus: ...
@overload
def consensus(ensemble: Any, n_clusters: Any, method: Methods, **keywords: Any) -> ConsensusResults: ...
@overload
def consensus(ensemble: Any, n_clusters: Any = "auto", *, method: Methods, **keywords: Any) -> ConsensusResults: ...
@overload
def consensus(ensemble: Any, n_clusters: Any = "auto", method: str | None = None, **keywords: Any) -> ConsensusResult: ...
def consensus(
    ensemble: Any,
    n_clusters: Any = "auto",
    method: str | Methods | None = None,
    *,
    features: Any = None,
    base_weights: Any = None,
    object_weights: Any = None,
    unlabelled: str = "keep",
    start: Any = None,
    pairs: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
    engine: Any = None,
    folder: Any = None,
    label_format: str = "csv",
    **settings: Any,
) -> ConsensusResult | ConsensusResults | RowConsensus:
    """Finds the clustering that an ensemble agrees on.

    Parameters
    ----------
    ensemble : Ensemble, labels or RowFiles
        What :class:`Ensemble` takes, or what :func:`scan` found: label rows in files, which are read block by block.
    n_clusters : int, range, "auto", "significant" or "method"
        Clusters of the consensus; a range of which one is chosen (1 if base clusterings agree no more than by chance); ``"auto"``, which
        is 2 to 12; or ``"method"``, where the method finds its own. ``"significant"`` asks a table, which an ensemble has not:
        :class:`ConsensusClustering` makes one cluster for every 100 objects and merges neighbours between which
        :func:`test_clusters` sees no gap.
    method : str, list of str or dict, optional
        A name of :func:`methods`; ``"lwgp"`` if not given, ``"eac-average"`` with ``n_clusters="method"``. Several names, as ``partita run
        -m a,b``: all find a consensus of this ensemble with one number of clusters; a dict has settings of each, such as ``{"lwgp": {},
        "pcc-kl": {"restarts": 3}}``.
    features : table, optional
        The table behind the ensemble, rows in the same order, for methods and models that read one.
    base_weights : "agreement", sequence or dict, optional
        Weights of the base clusterings, for methods that take them. One of weight 0 is left out.
    object_weights : sequence, optional
        Weights of the objects, for methods that take them: a weight of 2 is two objects; one of 0 has no part in the fit and is labelled
        afterwards.
    unlabelled : "keep", "cluster" or "refuse"
        What is done with objects that no base clustering labels, such as the noise of a density method: they get no label (−1, and NaN
        for numbers), are labelled though nothing speaks for it, or are an error.
    start : array, ConsensusResult or str, optional
        Probabilities to start from, objects × clusters, for methods whose ``methods()[name]["start"]`` is true; of a result, those that it
        has. A word is the method's setting of this name.
    pairs : array, optional
        The pairs of objects that are read, for methods whose ``methods()[name]["pairs"]`` is true: a row of two places a pair. With four
        columns the third and the fourth are how often the two are together and in how many base clusterings both are labelled, in place
        of what the ensemble says.
    random_state : int, Generator or RandomState
        The same seed gives the same bytes, whatever ``n_jobs`` is; those of ``partita consensus --seed``.
    n_jobs : int, optional
        Threads; all cores if not given. The result does not depend on it.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``; three quarters of the machine's memory if not given.
    progress : bool or callable
        Show progress with tqdm, or call this with (what, done, total).
    engine : distributed.Client, SparkSession, Executor or callable, optional
        What reads the rows in files; this process if not given.
    folder : path, optional
        Where models, sums, labels and the record go, for rows in files. A call that was interrupted continues where it stopped.
    label_format : "csv", "parquet" or "npy"
        The files of labels, for rows in files.
    **settings
        Settings of the method, as ``methods()[name]["settings"]`` lists them; of several, of each.

    Returns
    -------
    ConsensusResult
        Of several methods :class:`ConsensusResults`, by name. Of rows in files a :class:`RowConsensus`: the labels of ``partita consensus
        MANIFEST``, byte for byte.

    Raises
    ------
    InputError, SettingError, BudgetError
        What cannot be used, and the remedy.
    Interrupted
        After Ctrl-C, with the best so far as ``result``, where the method has one.

    Examples
    --------
    >>> import partita as pt
    >>> ensemble = pt.Ensemble([["x", "x", "x", "y", "y", "y"], [1, 1, 2, 2, 2, 2], [7, 7, 7, None, 9, 9]])
    >>> result = pt.consensus(ensemble, n_clusters=2, method="eac-average")
    >>> result.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result
    ConsensusResult(eac-average: 6 objects in 2 clusters, agreement 0.944)
    """
    if isinstance(ensemble, RowFiles):
        if any(given is not None for given in (features, object_weights, start, pairs)):
            raise InputError("features=, object_weights=, start= and pairs= go with an Ensemble, not with rows in files")
        if not (method is None or isinstance(method, str)):
            raise InputError("rows in files are read for one method at a time; name one")
        if folder is None:
            raise InputError("say with folder= where models, sums and labels of rows in files go")
        question = row_question(n_clusters, method, settings, random_state, base_weights, label_format)
        return row_consensus(ensemble, question, folder, engine, n_jobs, max_memory)
    if engine is not None or folder is not None:
        raise InputError("engine= and folder= go with rows in files: give what scan() found")
    given = Ensemble(ensemble)
    table = None if features is None else table_of(features, gaps="refused")
    if isinstance(start, str):
        settings["start"], start = start, None
    request = request_of(given, n_clusters, method, random_state, base_weights, settings)
    request.object_weights, request.unlabelled = weights_of_objects(object_weights, given), unlabelled
    request.start, (request.pairs, request.counts) = rows_of_start(start), pairs_and_counts(pairs)
    found = run_consensus(given, table, None, request, Run(n_jobs, max_memory, progress))
    return found.first if method is None or isinstance(method, str) else found


@overload
def repeat(
    record: str | os.PathLike[str],
    method: list[str] | tuple[str, ...],
    *,
    allow_changed_input: bool = ...,
    n_jobs: int | None = ...,
    max_memory: int | str | None = ...,
    progress: Any = ...,
) -> ConsensusResults: ...
@overload
def repeat(
    record: str | os.PathLike[str],
    method: str | None = ...,
    *,
    allow_changed_input: bool = ...,
    n_jobs: int | None = ...,
    max_memory: int | str | None = ...,
    progress: Any = ...,
) -> ConsensusResult: ...
def repeat(
    record: str | os.PathLike[str],
    method: str | list[str] | tuple[str, ...] | None = None,
    *,
    allow_changed_input: bool = False,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
) -> ConsensusResult | ConsensusResults:
    """Computes once more what a record says, as ``partita run --from`` does: the same files, settings and seed, hence the same labels.

    Parameters
    ----------
    record : path
        The record.json of ``partita run``, ``partita consensus`` or :meth:`ConsensusResult.save_run`.
    method : str or list of str, optional
        Which method, or methods, where the record is of several.
    allow_changed_input : bool
        Go on although an input file has changed since.
    n_jobs, max_memory, progress
        As for :func:`consensus`.

    Returns
    -------
    ConsensusResult
        Of a list of methods :class:`ConsensusResults`, by name.

    Raises
    ------
    InputError
        For a record that cannot be read, files that changed, and several methods of which none is named.
    """
    with Run(n_jobs, max_memory, progress) as run:
        names = [method] if isinstance(method, str) else None if method is None else list(method)
        natives, stopped_by = _partita.repeat(os.fspath(record), names, allow_changed_input, run)
    found = _results(natives, stopped_by, None)
    return found.first if method is None or isinstance(method, str) else found


def report(
    run: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    method: str | None = None,
    choice: ClusterChoice | None = None,
    figures: str | os.PathLike[str] | None = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
    describe: Sequence[str] | None = None,
) -> str:
    """The report about the folder of a run as one HTML page, as ``partita report`` draws it.

    Parameters
    ----------
    run : path
        A folder that ``partita run``, ``partita consensus -o folder/`` or :meth:`ConsensusResult.save_run` wrote.
    path : path, optional
        Where the page goes too.
    method : str, optional
        Which method, where the run has several; the first if not given.
    choice : ClusterChoice, optional
        What :func:`choose_k` found, for the section on the number of clusters; :func:`load_choice` reads one.
    figures : path, optional
        A folder for every picture as SVG and its numbers as CSV.
    title : str, optional
        The title of the page; that of the run, else the name of its file.
    names : list of str, optional
        Names of the clusters in the page, in the order of their numbers; those of the run, else the numbers.
    describe : list of str, optional
        Columns of the run's table that were not clustered on (by name, position from 1 or pattern) and that the page compares
        between the clusters.
    """
    place = None if figures is None else os.fspath(figures)
    page = page_json(title, names, describe)
    return save_text(_partita.report_of_run(os.fspath(run), method, choice_json(choice), place, page, Run()), path)
