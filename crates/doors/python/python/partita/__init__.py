"""Consensus clustering: many clusterings of the same objects in, the one they agree on out.

>>> import partita as pt
>>> ensemble = pt.Ensemble({"a": ["x", "x", "x", "y", "y", "y"], "b": [1, 1, 2, 2, 2, 2], "c": [7, 7, 7, None, 9, 9]})
>>> pt.consensus(ensemble, n_clusters=2).labels_
array([1, 1, 1, 0, 0, 0], dtype=int32)

``Ensemble`` takes clusterings that exist, ``generate`` makes some of a table, ``consensus`` finds what they agree on; ``choose_k`` says
how many clusters there are, ``modes`` whether there is one answer or several; ``align`` gives many runs common columns.
``ConsensusClustering`` and ``LabelConsensus`` are estimators of scikit-learn; ``metrics`` compares clusterings, ``plot`` draws results,
``anndata`` works on AnnData; ``read_table``, ``read_ensemble`` and ``inspect`` read files, ``text`` makes tables of documents; ``scan`` makes an ensemble of label rows in many files, which workers of ``dask`` or ``spark`` may read. NumPy
is all that must be there; other packages are imported when they are needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partita import metrics
from partita._align import AlignedRuns, RunMode, align
from partita._consensus import ClusterChoice, choose_k, consensus, load_choice, methods, repeat, report
from partita._ensemble import Ensemble
from partita._errors import BudgetError, InputError, Interrupted, PartitaError, PartitaWarning, SettingError
from partita._generate import generate
from partita._modes import EnsembleMode, EnsembleModes, modes
from partita._partita import __version__
from partita._reading import inspect, merge, read_ensemble, read_table, scan_table, text
from partita._result import ConsensusResult, Model, Relations, load_model
from partita._results import ConsensusResults
from partita._rows import RowConsensus, RowFiles, RowPrediction, scan
from partita._synth import SyntheticTable, synth, synth_families
from partita._tables import Table, TableFiles
from partita._update import Updated, update

if TYPE_CHECKING:
    from partita import anndata, dask, plot, spark
    from partita._estimators import ConsensusClustering, LabelConsensus

__all__ = [
    "AlignedRuns",
    "BudgetError",
    "ClusterChoice",
    "ConsensusClustering",
    "ConsensusResult",
    "ConsensusResults",
    "Ensemble",
    "EnsembleMode",
    "EnsembleModes",
    "InputError",
    "Interrupted",
    "LabelConsensus",
    "Model",
    "PartitaError",
    "PartitaWarning",
    "Relations",
    "RowConsensus",
    "RowFiles",
    "RowPrediction",
    "RunMode",
    "SettingError",
    "SyntheticTable",
    "Table",
    "TableFiles",
    "Updated",
    "__version__",
    "align",
    "anndata",
    "choose_k",
    "consensus",
    "dask",
    "generate",
    "inspect",
    "load_choice",
    "load_model",
    "merge",
    "methods",
    "metrics",
    "modes",
    "plot",
    "read_ensemble",
    "read_table",
    "repeat",
    "report",
    "scan",
    "scan_table",
    "spark",
    "synth",
    "synth_families",
    "text",
    "update",
]

_LATE = {"ConsensusClustering": "partita._estimators", "LabelConsensus": "partita._estimators"}


def __getattr__(name: str) -> Any:
    """What needs other packages, imported when it is asked for."""
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in ("plot", "anndata", "dask", "spark"):
        return importlib.import_module(f"partita.{name}")
    raise AttributeError(f"module 'partita' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
