"""Which clusters are real: test_clusters and what it finds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._run import Run, seed_of
from partita._tables import named_labels, placed_labels, table_of


class ClusterTest:
    """Which clusters are real, and the labels that are left when those without a gap are merged.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_objects,)
        The merged cluster of every object, a place in ``clusters``; -1 for objects without a label.
    n_clusters : int
        Clusters that are left.
    clusters : list of dict
        Those that are left: name (of the labels that it is made of), rows, verdict (``established``, ``separate-at-alpha``,
        ``cannot-tell``).
    splits : list of dict
        The splits between neighbours that are left: first, second (places in ``clusters``), test (p, gap, corridor), adjusted_p, verdict.
    newick : str
        The tree over the clusters; nodes are called by their p-values.
    record_ : dict
        All of it, with settings and seed: what ``partita test --json`` prints.
    """

    def __init__(self, record: dict[str, Any], labels: list[int]) -> None:
        self.record_ = record
        self.labels_: NDArray[np.int64] = np.array(labels, dtype=np.int64)
        self.clusters: list[dict[str, Any]] = record["merged"]
        self.n_clusters = len(self.clusters)
        self.splits: list[dict[str, Any]] = record["splits"]
        self.newick = str(record["newick"])

    def to_frame(self) -> Any:
        """A pandas frame of the splits that are left, the weakest first."""
        import pandas as pd

        names = [cluster["name"] for cluster in self.clusters]
        rows = [
            (names[split["first"]], names[split["second"]], split["test"]["p"], split["adjusted_p"], split["verdict"])
            for split in sorted(self.splits, key=lambda split: -split["test"]["p"])
        ]
        return pd.DataFrame(rows, columns=["first", "second", "p", "adjusted_p", "verdict"])

    def __repr__(self) -> str:
        return f"ClusterTest({self.record_['sentence']})"


def test_clusters(
    X: Any,
    labels: Any,
    *,
    alpha: float = 0.05,
    halvings: int = 4,
    merge_small: bool = False,
    scale: str = "auto",
    common: bool = False,
    impute: str | None = None,
    obsm: str | None = None,
    layer: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    progress: Any = False,
) -> ClusterTest:
    """Which clusters are real: a p-value for every split between neighbours, for labels of any tool (the held-out corridor gap test).

    Two clusters are separate if in a straight corridor from one to the other there is a place that is emptier than both ends, on rows that
    were not used to choose the corridor or the place. Neighbours without a gap are merged. "No gap seen" does not mean "the same".

    Parameters
    ----------
    X : table
        The table that the clusters were made of, as for :func:`generate`; not coordinates of t-SNE or UMAP, which tear gaps open.
    labels : column of labels, dict, or pandas Series
        One label an object; None, NaN and -1 are objects without a label. Matched by name where both have names, else by place.
    alpha : float
        The probability with which one population that was cut may be left split.
    halvings : int
        How often the rows are divided into a half that chooses and a half that is counted.
    merge_small : bool
        Merge clusters that cannot be tested with the neighbour from which they are least separate.
    scale : str
        "none", "zscore", "minmax", "mixed" or "auto".
    common : bool
        Objects of the table that the labels do not have are without a label; otherwise they are refused.
    impute, obsm, layer
        As for :func:`generate`; gaps stay gaps if ``impute`` is not given.
    random_state, n_jobs, max_memory, progress
        As for :func:`consensus`.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 7])
    >>> cut = np.r_[np.zeros(200, int), 1 + (X[200:, 0] > 7)]
    >>> pt.test_clusters(X, cut).n_clusters
    2
    """
    table = table_of(X, impute=impute, obsm=obsm, layer=layer, gaps="kept")
    found = named_labels(labels) or (None, placed_labels(labels))
    with Run(n_jobs, max_memory, progress) as run:
        text, merged = _partita.test_clusters(
            table, found, float(alpha), int(halvings), bool(merge_small), scale, common, seed_of(random_state), run
        )
    return ClusterTest(json.loads(text), merged)


#: pytest takes functions of such names for tests.
test_clusters.__test__ = False  # type: ignore[attr-defined]
