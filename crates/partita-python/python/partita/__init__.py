"""Consensus clustering: many clusterings of the same objects in, the one they agree on out.

>>> import partita as pt
>>> ensemble = pt.Ensemble({"a": ["x", "x", "x", "y", "y", "y"], "b": [1, 1, 2, 2, 2, 2], "c": [7, 7, 7, None, 9, 9]})
>>> pt.consensus(ensemble, n_clusters=2).labels_
array([1, 1, 1, 0, 0, 0], dtype=int32)

``Ensemble`` takes clusterings that exist, ``generate`` makes some of a table, ``consensus`` finds what they agree on; ``choose_k`` says
how many clusters there are. ``ConsensusClustering`` and ``LabelConsensus`` are estimators of scikit-learn; ``metrics`` compares
clusterings, ``plot`` draws results, ``anndata`` works on AnnData; ``scan`` makes an ensemble of label rows in many files, which workers of
``dask`` or ``spark`` may read. NumPy is all that must be there; other packages are imported when they are needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partita import metrics
from partita._consensus import ClusterChoice, choose_k, consensus, methods
from partita._ensemble import Ensemble, generate, read_ensemble
from partita._errors import BudgetError, InputError, Interrupted, PartitaError, PartitaWarning, SettingError
from partita._partita import __version__
from partita._result import ConsensusResult, Model, load_model
from partita._rows import RowConsensus, RowFiles, scan

if TYPE_CHECKING:
    from partita import anndata, dask, plot, spark
    from partita._estimators import ConsensusClustering, LabelConsensus

__all__ = [
    "BudgetError",
    "ClusterChoice",
    "ConsensusClustering",
    "ConsensusResult",
    "Ensemble",
    "InputError",
    "Interrupted",
    "LabelConsensus",
    "Model",
    "PartitaError",
    "PartitaWarning",
    "RowConsensus",
    "RowFiles",
    "SettingError",
    "__version__",
    "anndata",
    "choose_k",
    "consensus",
    "dask",
    "generate",
    "load_model",
    "methods",
    "metrics",
    "plot",
    "read_ensemble",
    "scan",
    "spark",
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
