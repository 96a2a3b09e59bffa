"""Base clusterings of a table: in this process, a share of them, or by tasks on other machines."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from partita import _partita
from partita._engines import engine_of
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._reading import merge
from partita._run import Run, json_of, seed_of
from partita._tables import TableFiles, table_of


def recipe_json(
    recipe: str | dict[str, Any] | os.PathLike[str] | None, preset: str | None = None, n_clusters: int | None = None, **fields: Any
) -> str:
    """A recipe as JSON, from a text such as ``"kmeans:100"``, a dict, a preset, and fields that change it."""
    given: dict[str, Any] = {}
    if isinstance(recipe, str):
        given["base"] = recipe
    elif isinstance(recipe, dict):
        given.update(recipe)
    elif recipe is not None:
        raise InputError(f"{recipe!r} is not a recipe; write 'kmeans:100', a dict, or preset='pcc-2'")
    given.update({name: value for name, value in fields.items() if value is not None})
    if isinstance(given.get("base"), str):
        given["base"] = [part.strip() for part in given["base"].split(",")]
    base_k = given.get("base_k")
    if isinstance(base_k, range):
        given["base_k"] = f"{base_k.start}..{base_k.stop - 1}"
    elif isinstance(base_k, (list, tuple)):
        given["base_k"] = ",".join(str(k) for k in base_k)
    elif base_k is not None:
        given["base_k"] = str(base_k)
    resolution = given.get("resolution")
    if isinstance(resolution, (list, tuple)):
        given["resolution"] = "..".join(str(float(end)) for end in resolution)
    elif resolution is not None:
        given["resolution"] = str(resolution)
    preset = given.pop("preset", preset)
    return _partita.recipe(preset, n_clusters, json_of(given))


def generate(
    X: Any,
    recipe: str | dict[str, Any] | os.PathLike[str] | None = None,
    *,
    base_k: Any = None,
    subsample: float | None = None,
    replacement: bool | None = None,
    features: float | None = None,
    projection: int | None = None,
    gini: Sequence[float] | None = None,
    resolution: float | tuple[float, float] | None = None,
    objective: str | None = None,
    edges: float | None = None,
    graph: bool = False,
    scale: str | None = None,
    preset: str | None = None,
    n_clusters: int | None = None,
    impute: str | None = None,
    obsm: str | None = None,
    layer: str | None = None,
    random_state: Any = None,
    part_file: str | os.PathLike[str] | None = None,
    part: str | None = None,
    engine: Any = None,
    folder: str | os.PathLike[str] | None = None,
    n_tasks: int | None = None,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
) -> Ensemble:
    """Makes base clusterings of a table: all, a share of them, or all by tasks on other machines.

    Parameters
    ----------
    X : array of shape (n, d), DataFrame, SciPy sparse matrix, Table, TableFiles or AnnData
        Finite numbers. A float64 array is read in place; what :func:`scan_table` found is read by blocks where it would fill half of
        ``max_memory``, by k-means and uspec. A frame with words or dates is read as ``partita run`` reads a file: words become categories.
    recipe : str, dict or path, optional
        Base clusterers and how often each runs, such as ``"kmeans:60,ward:10"``, or a dict with the names of the arguments below and
        ``base``, or the path (a ``pathlib.Path``) of a recipe in TOML or of an ensemble, which says how it was made and with which
        seed. 100 runs of k-means if not given.
    base_k : int, range, list or "sqrt", optional
        Clusters of each base clustering; ``"sqrt"`` is sqrt(n)/2 to sqrt(n).
    subsample : float, optional
        Share of the objects that each base clustering sees; .9 if not given.
    replacement : bool, optional
        Draw them with replacement.
    features : float, optional
        Share of the columns that each base clustering sees.
    projection : int, optional
        Random directions that each base clustering sees instead of the columns.
    gini : sequence of float, optional
        Limits of the Gini index of cluster sizes, 0 to 1, which the runs of genie take in turn.
    resolution : float or pair of float, optional
        Resolutions that runs of leiden draw from, evenly in their logarithm; from .1 to 2 if not given.
    objective : {"modularity", "cpm", "rb"}, optional
        What runs of leiden make as large as possible; "modularity" if not given. The resolution of "cpm" is in units of the weights of
        edges: the density that a cluster has at least. "rb" finds the clusterings of "modularity".
    edges : float, optional
        Share of the edges that each run of leiden sees.
    graph : bool, optional
        ``X`` is a SciPy sparse matrix of shape (n, n), the symmetric weights of a graph such as AnnData's ``obsp["connectivities"]``;
        ``recipe`` is ``"leiden:100"`` on all objects if not given.
    scale : {"none", "zscore", "minmax", "mixed", "auto"}, optional
        Scaling of the columns; "auto" if not given, "none" of a preset that says nothing.
    preset : str, optional
        A paper's recipe, which the arguments above may change; some depend on ``n_clusters``.
    n_clusters : int, optional
        What presets multiply.
    impute : {"mean", "none"}, optional
        What gaps (NaN, None) become: the mean of their column; "none" refuses them. Without it, base clusterings draw values of like
        rows, which is said.
    obsm, layer : str, optional
        What is clustered of an AnnData: a key of ``obsm``, whose columns are those of one space and not scaled unless ``scale`` says
        so, or of ``layers`` (``"X"`` is its ``X``).
    random_state : int, Generator or RandomState, optional
        The same seed gives the same bytes, whatever ``n_jobs`` is; 0, or that of an ensemble given as ``recipe``, if not given.
    part_file : path, optional
        Where finished base clusterings are kept until all are made, so that the same call continues after Ctrl-C or a power failure.
    part : str, optional
        Make only this share of the base clusterings, such as ``"2/4"``, the second of four; ``part_file`` keeps them for
        :func:`merge`, which joins the parts that calls, processes or machines made.
    engine : distributed.Client, SparkSession, Executor or callable, optional
        Runs ``n_tasks`` tasks on the workers, each a share of the base clusterings of a table that :func:`scan_table` found; they are
        those of one process. Workers see the table and the folder under the same paths.
    folder : path, optional
        Where tasks keep what is finished, so that a call after a failure makes the missing base clusterings only. ``engine=`` needs it.
    n_tasks : int, optional
        One a base clustering if not given. Each reads the table.
    n_jobs, max_memory, progress
        As for :func:`consensus`.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
    >>> pt.generate(X, "kmeans:20", base_k="2..3", subsample=1.0).shape
    (6, 20)
    """
    if obsm is not None and scale is None and preset is None:
        scale = "none"
    parts = {"base_k": base_k, "subsample": subsample, "replacement": replacement, "features": features, "projection": projection}
    parts.update(scale=scale, gini=None if gini is None else list(gini), resolution=resolution)
    parts.update(objective=objective, edges=edges)
    if graph:
        preset = "graph" if preset is None and not isinstance(recipe, os.PathLike) else preset
        if not hasattr(X, "tocsr"):
            raise InputError("graph=True takes a SciPy sparse matrix of shape (n, n); write scipy.sparse.csr_array(X) for an array")
    if isinstance(recipe, os.PathLike):
        if preset is not None:
            raise InputError("a recipe from a file and preset= are two recipes; give one")
        text, seed = _partita.recipe_of_file(os.fspath(recipe))
        recipe, random_state = json.loads(text), seed if random_state is None else random_state
    json_text = recipe_json(recipe, preset, n_clusters, **parts)
    if part is not None and part_file is None:
        raise InputError(f"part={part!r}; say with part_file= where this share of the base clusterings goes")
    keep = None if part_file is None else os.fspath(part_file)
    with Run(n_jobs, max_memory, progress) as run:
        seed = seed_of(random_state)
        if engine is not None or folder is not None or n_tasks is not None:
            if part_file is not None or not isinstance(X, TableFiles) or folder is None:
                raise InputError("engine= goes with folder= and a table that scan_table() found, without part_file=")
            job = _Job(X, json_text, seed, Path(folder).absolute(), {"n_jobs": n_jobs, "max_memory": max_memory})
            return job.run(engine, n_tasks)
        if isinstance(X, TableFiles):
            if impute or obsm or layer:
                raise InputError("impute=, obsm= and layer= go with a table in memory; scan_table() takes impute= of a file")
            made = _partita.generate_of_file(str(X.path), X.options, json_text, seed, keep, part, run)
        else:
            made = _partita.generate(table_of(X, impute=impute, obsm=obsm, layer=layer), json_text, seed, keep, part, run, graph)
        return Ensemble._of(made)


@dataclass(frozen=True)
class _Job:
    """Base clusterings that tasks make: each keeps its own in a part file and makes those that are missing."""

    table: TableFiles
    recipe: str
    seed: int
    folder: Path
    how: dict[str, Any]

    def run(self, engine: Any, n_tasks: int | None) -> Ensemble:
        runs = sum(int(base.rpartition(":")[2]) for base in json.loads(self.recipe)["base"])
        if n_tasks is not None and (isinstance(n_tasks, bool) or not isinstance(n_tasks, int) or n_tasks < 1):
            raise InputError(f"n_tasks={n_tasks!r}; write a number from 1 to {runs}, the number of base clusterings")
        tasks = runs if n_tasks is None else min(n_tasks, runs)
        self.folder.mkdir(parents=True, exist_ok=True)
        engine_of(engine)(partial(self.make, of=tasks), list(range(tasks)))
        return merge(*(self.part_file(part, tasks) for part in range(tasks)), max_memory=self.how["max_memory"])

    def part_file(self, part: int, of: int) -> str:
        return str(self.folder / f"{part + 1}-of-{of}.part")

    def make(self, part: int, of: int) -> str:
        path, file = str(self.table.path), self.part_file(part, of)
        _partita.generate_of_file(path, self.table.options, self.recipe, self.seed, file, f"{part + 1}/{of}", Run(**self.how))
        return file
