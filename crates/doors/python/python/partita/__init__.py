"""Consensus clustering: many clusterings of the same objects in, the one they agree on out.

>>> import partita as pt
>>> ensemble = pt.Ensemble({"a": ["x", "x", "x", "y", "y", "y"], "b": [1, 1, 2, 2, 2, 2], "c": [7, 7, 7, None, 9, 9]})
>>> pt.consensus(ensemble, n_clusters=2).labels_
array([0, 0, 0, 1, 1, 1], dtype=int32)

``Ensemble`` takes clusterings that exist, ``generate`` makes some of a table, ``consensus`` finds what they agree on; ``choose_k`` says
how many clusters there are, ``test_clusters`` which are real, ``modes`` whether there is one answer or several; ``align`` gives many runs common columns.
``ConsensusClustering``, ``LabelConsensus`` and ``StableClusters`` (for BERTopic) are estimators of scikit-learn; ``metrics`` compares clusterings, ``plot`` draws results,
``anndata`` works on AnnData, ``sc`` on its graphs of cells; ``read_table``, ``read_ensemble`` and ``inspect`` read files, ``text`` makes tables of documents; ``scan`` makes an
ensemble of label rows in many files, which workers of ``dask`` or ``spark`` may read. Only NumPy must be installed; other packages are
imported when they are needed.

The modules in layers; a module imports only from layers above it:

- ``_errors``: errors and the warning; ``_html``: pages as text
- ``_run``: threads, memory and progress of a computation; keywords as native functions read them; ``_given``: what is handed in
  place of labels or a table
- ``_partita``: the extension module, the native functions; ``dask``, ``spark``: what runs tasks on the workers of other systems
- ``_tables``: label columns and tables out of arrays and frames; ``_engines``: who runs tasks; ``_synth``: tables with known clusters
- ``_ensemble``: ensembles and weights; ``_rows``: label rows in files, and rounds of tasks over them
- ``_reading``: files; ``_choice``: numbers of clusters; ``_significance``: which clusters are real; ``_model``: labels of new objects
- ``_align``, ``_modes``: many runs in common columns, and how many answers there are; ``metrics``: comparison of clusterings
- ``_generate``: base clusterings of a table; ``_result``: results of methods
- ``_consensus``: the consensus of an ensemble; ``_update``: ensembles that grow; ``plot``: pictures
- ``_estimators``: scikit-learn; ``anndata``: AnnData
- ``sc``: graphs of cells
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partita import anndata, dask, metrics, plot, sc, spark
from partita._align import AlignedRuns, RunMode, align
from partita._choice import ClusterChoice, choose_k, load_choice
from partita._consensus import consensus, methods, repeat, report
from partita._ensemble import Ensemble
from partita._errors import BudgetError, InputError, PartitaError, PartitaWarning, SettingError
from partita._generate import generate
from partita._model import Model, load_model
from partita._modes import EnsembleMode, EnsembleModes, modes
from partita._partita import __version__
from partita._reading import inspect, merge, read_ensemble, read_table, scan_table, text
from partita._result import ConsensusResult, ConsensusResults, Interrupted, Relations
from partita._rows import RowConsensus, RowFiles, RowPrediction, scan
from partita._significance import ClusterTest, test_clusters
from partita._synth import SyntheticTable, synth, synth_families
from partita._tables import Table, TableFiles
from partita._update import Updated, update

if TYPE_CHECKING:
    from partita._estimators import ConsensusClustering, LabelConsensus, StableClusters

__all__ = [
    "AlignedRuns",
    "BudgetError",
    "ClusterChoice",
    "ClusterTest",
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
    "StableClusters",
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
    "sc",
    "scan",
    "scan_table",
    "spark",
    "synth",
    "synth_families",
    "test_clusters",
    "text",
    "update",
]


def __getattr__(name: str) -> Any:
    """The estimators, which need scikit-learn, imported when they are asked for."""
    if name in ("ConsensusClustering", "LabelConsensus", "StableClusters"):
        try:
            return getattr(importlib.import_module("partita._estimators"), name)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("sklearn"):
                raise
            raise ImportError(f"{name} is an estimator of scikit-learn, which is not installed: pip install scikit-learn; generate and consensus do without") from None
    raise AttributeError(f"module 'partita' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
