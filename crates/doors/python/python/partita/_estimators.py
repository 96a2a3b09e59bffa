"""Estimators of scikit-learn, imported with it when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from partita import _partita
from partita._consensus import one_method, request_of, run_consensus
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._generate import recipe_json
from partita._given import check_distances, check_labels, check_table, warn_of_distances
from partita._model import Model
from partita._result import ConsensusResult
from partita._run import Run
from partita._tables import filled, frame_columns, frame_index, is_frame, table_of

__all__ = ["ConsensusClustering", "LabelConsensus", "StableClusters"]

#: An object with less agreement than this is noise: fewer than half of the runs that see it confirm its cluster. It is also the least
#: multiple of .1 at which the objects that two seeds both label agree with an adjusted Rand index of .95 in each of four data sets
#: (topics.md of the benchmarks), which the four others there had no part in.
MIN_AGREEMENT = 0.5


def _weights(sample_weight: Any, X: Any) -> list[float] | None:
    """Weights of the objects, by place as scikit-learn takes them."""
    if sample_weight is None:
        return None
    weights: list[float] = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True).tolist()
    return weights


class _Consensus(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share."""

    result_: ConsensusResult
    model_: Model

    def _run(
        self,
        ensemble: Ensemble | None,
        table: _partita.NativeTable | None = None,
        recipe: str | None = None,
        base_weights: Any = None,
        auto: bool = False,
        object_weights: Any = None,
        unlabelled: str = "keep",
    ) -> ConsensusResult:
        settings = dict(self.settings or {})
        request = request_of(ensemble, self.n_clusters, one_method(self.method), self.random_state, base_weights, settings)
        request.auto, request.object_weights, request.unlabelled = auto, object_weights, unlabelled
        return run_consensus(ensemble, table, recipe, request, Run(self.n_jobs, self.max_memory)).first

    def _keep(self, result: ConsensusResult, model: Model) -> None:
        self.result_, self.model_ = result, model
        self.labels_: NDArray[np.int32] = result.labels_
        self.agreement_: NDArray[np.float64] = result.agreement_
        self.probabilities_: NDArray[np.float64] | None = result.probabilities_
        self.n_clusters_: int = result.n_clusters
        self.diagnostics_: dict[str, Any] = result.diagnostics_
        self.record_: dict[str, Any] = result.record_
        self.n_iter_: int = max(1, int(result.diagnostics_.get("iterations", 1)))

    @property
    def _n_features_out(self) -> int:
        return int(self.result_.sizes_.shape[0])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        raise NotImplementedError

    def _predicted(self, X: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of all clusters for new objects, shape (n, K)."""
        check_is_fitted(self)
        return self._predicted(self._checked(X, reset=False))

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The most probable cluster of every new object, shape (n,)."""
        labels: NDArray[np.int32] = np.argmax(self.predict_proba(X), axis=1).astype(np.int32)
        return labels

    def transform(self, X: Any) -> NDArray[np.float64]:
        """As :meth:`predict_proba`, for pipelines; ``set_output(transform="pandas")`` names the columns."""
        return self.predict_proba(X)

    def score(self, X: Any = None, y: Any = None) -> float:
        """Mean agreement of the labels that were found in ``fit``: for ``GridSearchCV`` over ``n_clusters``."""
        check_is_fitted(self)
        if X is not None:
            self._checked(X, reset=False)
        return float(np.nanmean(self.agreement_))


class ConsensusClustering(_Consensus):
    """Consensus clustering of a table: base clusterings are made, and the clustering found that they agree on.

    Parameters
    ----------
    n_clusters : int, range, "auto", "significant" or "method", default=8
        As for :func:`partita.consensus`.
    method : str, optional
        A name of :func:`partita.methods`.
    base : str, optional
        Base clusterers and how often each runs, such as ``"kmeans:100"``. Where nothing of the base clusterings but ``scale``
        is given, they are chosen as ``partita run table.csv`` chooses them.
    base_k : int, range, list or "sqrt", optional
        Clusters of each base clustering.
    subsample : float, optional
        Share of the objects that each base clustering sees.
    scale : {"none", "zscore", "minmax", "mixed", "auto"}, optional
        Scaling of the columns; "auto" if not given.
    recipe : dict, optional
        Other fields of a recipe, such as ``{"features": .5}``.
    settings : dict, optional
        Settings of the method.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        "precomputed": ``X`` has the distances of all pairs, shape (n, n), and base clusterings are by average, complete and Ward's
        link, PAM and spectral clustering; new objects are given by their distances to those of ``fit``, shape (m, n).
    predict_with : str, default="ssce"
        What labels new objects: ``"ssce"`` (logistic regression), ``"centroid"``, ``"knn:5"``.
    random_state : int, Generator or RandomState, default=0
        The same seed gives the same labels, whatever ``n_jobs`` is.
    n_jobs : int, optional
        Threads; all cores if not given.
    max_memory : int or str, optional
        Bytes that may be held, such as ``"4GiB"``.

    Attributes
    ----------
    labels_ : array of shape (n,)
    agreement_ : array of shape (n,)
    probabilities_ : array of shape (n, K) or None
    n_clusters_ : int
    record_, diagnostics_ : dict
    result_ : ConsensusResult
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
    >>> pt.ConsensusClustering(2, base="kmeans:20", base_k="2..3").fit_predict(X)
    array([1, 1, 1, 0, 0, 0], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: Any = 8,
        method: str | None = None,
        *,
        base: str | None = None,
        base_k: Any = None,
        subsample: float | None = None,
        scale: str | None = None,
        recipe: dict[str, Any] | None = None,
        settings: dict[str, Any] | None = None,
        metric: str = "euclidean",
        predict_with: str = "ssce",
        random_state: Any = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.base = base
        self.base_k = base_k
        self.subsample = subsample
        self.scale = scale
        self.recipe = recipe
        self.settings = settings
        self.metric = metric
        self.predict_with = predict_with
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = True
        return tags

    def _checked(self, X: Any, *, reset: bool, rows: NDArray[np.bool_] | None = None) -> Any:
        """The table of X, of which only some rows may be wanted."""
        check_table(X)
        least = 2 if reset else 1
        values = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least
        )
        index = frame_index(X)
        if rows is not None:
            if len(rows) != values.shape[0]:
                raise InputError(f"runs= labels {len(rows)} objects, X has {values.shape[0]}")
            values, index = values[rows], None
        names = getattr(self, "feature_names_in_", None)
        columns = [f"x{at}" for at in range(values.shape[1])] if names is None else [str(name) for name in names]
        if self.metric == "precomputed" and reset:
            check_distances(values)
        elif reset and not hasattr(values, "tocsr"):
            warn_of_distances(values)
        if hasattr(values, "tocsr"):
            return table_of(values, columns)
        values, means, gaps = filled(values, columns, None if reset else self._means, draws=reset)
        if reset:
            self._means: list[float] | None = means
        return _partita.NativeTable.dense(values, columns, index, None, gaps)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConsensusClustering:
        """Makes base clusterings of a table of shape (n, d), dense or sparse, and finds their consensus; ``y`` is not used.

        Base clusterings draw values of like rows for gaps (NaN), which is said; the model that labels new objects takes the means of columns. ``sample_weight`` weighs the objects in the consensus, for methods
        that take such weights: a weight of 2 is two objects there.
        """
        self._means = None
        if self.metric not in ("euclidean", "precomputed"):
            raise InputError(f"metric={self.metric!r} is not known; give 'euclidean' or 'precomputed'")
        table = self._checked(X, reset=True)
        number = int(self.n_clusters) if isinstance(self.n_clusters, (int, np.integer)) else None
        preset = "distances" if self.metric == "precomputed" and self.base is None else None
        given = (self.base, self.base_k, self.subsample, self.recipe, preset)
        auto = all(part is None for part in given) and self.n_clusters != "method"
        fields = {"base_k": self.base_k, "subsample": self.subsample, "scale": self.scale}
        recipe = recipe_json(self.base, preset, number, **{**fields, **(self.recipe or {})})
        result = self._run(None, table, recipe, auto=auto, object_weights=_weights(sample_weight, X))
        self._keep(result, result.model(self.predict_with))
        return self

    def _predicted(self, X: Any) -> NDArray[np.float64]:
        return self.model_._native.predict(None, X)[0]


class LabelConsensus(_Consensus):
    """The consensus of an ensemble as an estimator: columns are base clusterings, rows are objects.

    Parameters
    ----------
    n_clusters, method, settings, random_state, n_jobs, max_memory
        As for :class:`ConsensusClustering`.
    base_weights : "agreement", sequence or dict, optional
        Weights of the base clusterings, for methods that take them.
    unlabelled : "keep", "cluster" or "refuse"
        What is done with objects that no base clustering labels, as in :func:`partita.consensus`.

    Attributes
    ----------
    labels_, agreement_, probabilities_, n_clusters_, record_, diagnostics_, result_, n_features_in_, feature_names_in_
        As for :class:`ConsensusClustering`.

    Examples
    --------
    >>> import partita as pt
    >>> labels = [[0, 1, 7], [0, 1, 7], [0, 2, 7], [1, 2, 9], [1, 2, 9], [1, 2, -1]]
    >>> pt.LabelConsensus(2).fit_predict(labels)
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: Any = 8,
        method: str | None = None,
        *,
        base_weights: Any = None,
        unlabelled: str = "keep",
        settings: dict[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.base_weights = base_weights
        self.unlabelled = unlabelled
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Ensemble:
        if isinstance(X, Ensemble):
            X = X.to_frame()
        check_labels(X)
        least = 2 if reset else 1
        values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least)
        if not is_frame(X):
            return Ensemble(values, names=[f"base{at}" for at in range(values.shape[1])])
        # Columns keep types of their own, which one array for all of them would not.
        names, columns = frame_columns(X)
        return Ensemble(dict(zip(names, columns)), objects=frame_index(X))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LabelConsensus:
        """Finds the consensus of labels of shape (n, M); ``sample_weight`` weighs the objects, ``y`` is not used."""
        ensemble = self._checked(X, reset=True)
        weights = _weights(sample_weight, ensemble)
        result = self._run(ensemble, base_weights=self.base_weights, object_weights=weights, unlabelled=self.unlabelled)
        self._keep(result, result.model())
        return self

    def _predicted(self, X: Any) -> NDArray[np.float64]:
        return self.model_._native.predict(X._native, None)[0]


class StableClusters(ConsensusClustering):
    """Clusters that depend less on the seed than those of one run, and noise: what BERTopic takes as ``hdbscan_model``.

    Many runs of k-means are made of the embeddings, each with a number of clusters of its own, and their consensus found. An object
    whose agreement is below ``min_agreement`` is noise, −1.

    Parameters
    ----------
    n_clusters : int, range, "auto", "significant" or "method", default="method"
        As for :func:`partita.consensus`. "method" finds a number by the longest lifetime in a tree, which needs memory for all pairs of
        objects; beyond 30,000 of them give a number, or ``method="eac-sparse"``.
    method : str, optional
        A name of :func:`partita.methods`.
    runs : labels as for :class:`Ensemble`, optional
        Clusterings of the objects of ``fit``, in the same order and with −1 for noise, such as those of BERTopic with several seeds of
        UMAP. Their consensus is taken, and no k-means is run.
    base : str, default="kmeans:200"
        Base clusterers and how often each runs; ``"kmeans-cosine:200"`` goes by the angle.
    base_k : int, range, list or "sqrt", optional
        Clusters of each base clustering; from sqrt(n)/2 to sqrt(n) if not given.
    min_agreement : float, default=0.5
        The agreement, from 0 to 1, below which an object is noise. 0 leaves only objects that no run labels.
    settings, predict_with, random_state, n_jobs, max_memory
        As for :class:`ConsensusClustering`.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of every object, from 0; −1 for noise.
    probabilities_ : array of shape (n,)
        The agreement of every object with its cluster; 0 for noise, as HDBSCAN has it. They are shares of runs, not of a model.
    agreement_ : array of shape (n,)
        The same with the agreement of noise; NaN where no run labels the object.
    n_clusters_ : int
        Clusters that have objects. A cluster of noise alone is left out.
    result_ : ConsensusResult
        The consensus with every object in a cluster; of ``runs``, of those that any of them labels.
    record_, diagnostics_, n_features_in_, feature_names_in_
        As for :class:`ConsensusClustering`.

    Notes
    -----
    Time is that of the runs, n·K·d for an iteration of each, and of the method.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> pt.StableClusters(3, base="kmeans:20", base_k="2..5").fit(X).n_clusters_
    3
    """

    # What an embedding needs no choice of.
    subsample: float | None = None
    recipe: dict[str, Any] | None = None
    metric: str = "euclidean"
    scale: str | None = "none"

    def __init__(
        self,
        n_clusters: Any = "method",
        method: str | None = None,
        *,
        runs: Any = None,
        base: str = "kmeans:200",
        base_k: Any = None,
        min_agreement: float = MIN_AGREEMENT,
        settings: dict[str, Any] | None = None,
        predict_with: str = "ssce",
        random_state: Any = 0,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.runs = runs
        self.base = base
        self.base_k = base_k
        self.min_agreement = min_agreement
        self.settings = settings
        self.predict_with = predict_with
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory

    def fit(self, X: Any, y: Any = None) -> StableClusters:  # type: ignore[override]
        """Clusters embeddings of shape (n, d), dense or sparse; ``y`` is not used."""
        if not 0 <= self.min_agreement <= 1:
            raise InputError(f"min_agreement={self.min_agreement!r}; write a share of the runs, from 0 to 1")
        if self.runs is None:
            super().fit(X)
        else:
            self._fit_runs(X, Ensemble(self.runs))
        self._leave_noise()
        return self

    def _fit_runs(self, X: Any, ensemble: Ensemble) -> None:
        """The consensus of the objects that any run labels; the others have no part in the model of new objects."""
        codes = ensemble.to_numpy()
        seen: NDArray[np.bool_] = np.asarray((codes >= 0).any(axis=1))
        table = self._checked(X, reset=True, rows=seen)
        result = self._run(Ensemble(np.ascontiguousarray(codes[seen]), names=ensemble.names), table)
        self._keep(result, result.model(self.predict_with))
        self.labels_, self.agreement_ = np.full(len(seen), -1, dtype=np.int32), np.full(len(seen), np.nan)
        self.labels_[seen], self.agreement_[seen] = result.labels_, result.agreement_

    def _leave_noise(self) -> None:
        sure = np.nan_to_num(self.agreement_) >= self.min_agreement
        sure &= self.labels_ >= 0
        kept, labels = np.unique(self.labels_[sure], return_inverse=True)
        self.labels_ = np.full(len(sure), -1, dtype=np.int32)
        self.labels_[sure] = labels
        self.probabilities_ = np.where(sure, self.agreement_, 0.0)
        self.n_clusters_ = len(kept)
        # Columns of probabilities in the order of the labels, those of clusters that are left out last.
        self._order = np.concatenate([kept, np.setdiff1d(np.arange(self._n_features_out), kept)]).astype(np.intp)

    def _predicted(self, X: Any) -> NDArray[np.float64]:
        return super()._predicted(X)[:, self._order]

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The most probable cluster of every new object, shape (n,); −1 where it is one that is left out."""
        labels = super().predict(X)
        return np.where(labels < self.n_clusters_, labels, -1).astype(np.int32)
