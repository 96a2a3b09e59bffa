"""How many clusters there are: choose_k and what it finds."""

from __future__ import annotations

import json
import os
from typing import Any

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._html import save_text
from partita._run import Run, json_of, seed_of
from partita._tables import table_of


class ClusterChoice:
    """How many clusters, and why.

    Attributes
    ----------
    n_clusters : int
        The number chosen; 1 means that no number is better than for data without clusters.
    reason : str
        Why, in a sentence or two.
    criterion : str
        The criterion that decided.
    rows : list of dict
        What was measured of every number.
    record_ : dict
        All of it, with settings and seed: what ``partita choose-k --json`` prints.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.record_ = record
        self.n_clusters = int(record["clusters"])
        self.reason = str(record["reason"])
        self.criterion = str(record["criterion"])
        self.rows: list[dict[str, Any]] = record["rows"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the JSON that ``partita report --choice`` and :func:`load_choice` read."""
        save_text(json.dumps(self.record_, indent=2), path)

    def to_frame(self) -> Any:
        """A pandas frame of what was measured, a row a number of clusters."""
        import pandas as pd

        scalars = [{name: value for name, value in row.items() if not isinstance(value, (list, dict))} for row in self.rows]
        return pd.DataFrame(scalars).set_index("clusters").dropna(axis="columns", how="all")

    def __repr__(self) -> str:
        return f"ClusterChoice({self.n_clusters}: {self.reason})"


def load_choice(path: str | os.PathLike[str]) -> ClusterChoice:
    """Reads what :meth:`ClusterChoice.save` or ``partita choose-k -o`` wrote."""
    return ClusterChoice(json.loads(_partita.read_choice(os.fspath(path))))


def choice_json(choice: ClusterChoice | None) -> str | None:
    """What was found of the number of clusters, as the native functions take it."""
    if choice is None:
        return None
    if not hasattr(choice, "record_"):
        raise InputError(f"choice={choice!r}; give what choose_k() found, or load_choice(path)")
    return json.dumps(choice.record_)


def choose_k(
    data: Any,
    clusters: range | None = None,
    *,
    method: str = "eac-average",
    impute: str | None = None,
    obsm: str | None = None,
    layer: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
    **settings: Any,
) -> ClusterChoice:
    """How many clusters there are, if any.

    Parameters
    ----------
    data : Ensemble or table
        An :class:`Ensemble`, or a table of numbers as for :func:`generate`.
    clusters : range, optional
        The numbers to look at. If not given, from 2 to 12; of a table to a twelfth of its objects, 12 at least and 40 at most, and twice
        as many while the number chosen lies in the upper quarter.
    method : str
        The method, for ensembles.
    impute, obsm, layer
        As for :func:`generate`, of tables.
    random_state, n_jobs, max_memory, progress
        As for :func:`consensus`.
    **settings
        As ``partita choose-k --set`` takes them: ``scale``, or ``criterion="rcsi"`` with ``runs``, ``draws``, ...

    Examples
    --------
    >>> import partita as pt
    >>> labels = [[0] * 20 + [1] * 20 + [2] * 20] * 6
    >>> pt.choose_k(pt.Ensemble(labels), range(2, 6)).n_clusters
    3
    """
    if clusters is not None:
        if not isinstance(clusters, range) or clusters.step != 1 or len(clusters) == 0:
            raise InputError(f"clusters={clusters!r}; write a range of step 1 such as range(2, 13)")
        if clusters.start < 1:
            raise InputError(f"clusters={clusters!r}; numbers of clusters are from 2")
    with Run(n_jobs, max_memory, progress) as run:
        ensemble = data._native if isinstance(data, Ensemble) else None
        table = None if ensemble is not None else table_of(data, impute=impute, obsm=obsm, layer=layer)
        if obsm is not None:
            settings.setdefault("scale", "none")
        bounds = (2, None) if clusters is None else (clusters.start, clusters.stop - 1)
        found = _partita.choose_k(ensemble, table, bounds, method, json_of(settings), seed_of(random_state), run)
    return ClusterChoice(json.loads(found))
