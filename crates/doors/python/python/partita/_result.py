"""Results: of one method, of several, and of those that Ctrl-C stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._choice import ClusterChoice, choice_json
from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._html import bars, save_text, table
from partita._model import Model
from partita._run import page_json
from partita._tables import matrix_of


class Relations(NamedTuple):
    """How the clusters of a consensus overlap."""

    #: Expected objects of every cluster, shape (K,).
    objects: NDArray[np.float64]
    #: Of the expected objects of a row's cluster the share that is in the column's, shape (K, K).
    shares: NDArray[np.float64]


class ConsensusResult:
    """A consensus and how it came about.

    Attributes
    ----------
    labels_ : array of shape (n,), int32
        −1 for an object that no base clustering labels; its numbers are NaN.
        The cluster of every object, from 0.
    agreement_ : array of shape (n,)
        The share of the base clusterings that label an object in which it lies with its cluster: more than half of its base cluster is
        there. Compares between methods.
    probability_ : array of shape (n,) or None
        The probability of each label, where the method has probabilities.
    probabilities_ : array of shape (n, K) or None
        Probabilities of all clusters, where the method has them.
    n_clusters : int
        Clusters that have objects.
    diagnostics_ : dict
        Objective, iterations, why it stopped, warnings, and facts of the method's own.
    record_ : dict
        What was done: everything needed to judge and to repeat it.
    label_names_ : array of shape (n,) or None
        What every object is called, "unknown" where that is open: for ``mm`` with ``named=True``, where labels name classes.
    draws_ : array of shape (draws, n) or None
        Partitions drawn from the posterior, where the method samples one (``nbce-gibbs``).
    linkage_ : array of shape (n - 1, 4) or None
        The tree in SciPy's layout, where the method cuts one.
    ensemble_ : Ensemble
        The base clusterings.
    """

    def __init__(self, native: _partita.NativeResult, table: _partita.NativeTable | None = None) -> None:
        self._native = native
        self._table = table

    @cached_property
    def labels_(self) -> NDArray[np.int32]:
        return self._native.labels()

    @cached_property
    def agreement_(self) -> NDArray[np.float64]:
        return self._native.agreement()

    @cached_property
    def probability_(self) -> NDArray[np.float64] | None:
        return self._native.probability()

    @cached_property
    def probabilities_(self) -> NDArray[np.float64] | None:
        return self._native.probabilities()

    @cached_property
    def label_names_(self) -> NDArray[np.object_] | None:
        names = self._native.label_names()
        return None if names is None else np.asarray(names, dtype=object)

    @cached_property
    def draws_(self) -> NDArray[np.int32] | None:
        return self._native.draws()

    @cached_property
    def linkage_(self) -> NDArray[np.float64] | None:
        return self._native.tree()

    @cached_property
    def ensemble_(self) -> Ensemble:
        return Ensemble._of(self._native.ensemble())

    @cached_property
    def record_(self) -> dict[str, Any]:
        return dict(json.loads(self._native.record(False)))

    @property
    def diagnostics_(self) -> dict[str, Any]:
        own = self.record_["methods"][0]
        names = ["objective", "objective_name", "objective_sense", "objective_trace", "iterations", "stopped", "kkt_gap"]
        kept = {name: own[name] for name in [*names, "anmi", "agreement", "seconds", "warnings"] if name in own}
        return {**kept, **own["details"]}

    @property
    def n_clusters(self) -> int:
        return int(self.record_["methods"][0]["clusters"])

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self.record_["methods"][0]["method"])

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of the method."""
        return dict(self.record_["methods"][0]["settings"])

    @property
    def warnings(self) -> list[str]:
        """What to know before trusting the result."""
        return list(self.record_["methods"][0]["warnings"])

    @property
    def sizes_(self) -> NDArray[np.intp]:
        """Objects of every cluster."""
        return np.bincount(self.labels_[self.labels_ >= 0], minlength=self._native.clusters())

    def relations(self, threshold: float = 0.0) -> Relations:
        """How the clusters overlap, by the probabilities of a method that has some.

        Parameters
        ----------
        threshold : float
            Probabilities below this count as 0; what is left of a row is divided by its sum.
        """
        return Relations(*self._native.relations(threshold))

    def to_frame(self) -> Any:
        """A pandas frame: label, agreement and, where there are some, probability and p0, p1, ...; a row an object."""
        import pandas as pd

        columns: dict[str, Any] = {"label": self.labels_, "agreement": self.agreement_}
        if self.probabilities_ is not None:
            columns["probability"] = self.probability_
            columns.update({f"p{at}": column for at, column in enumerate(self.probabilities_.T)})
        return pd.DataFrame(columns, index=self.ensemble_.object_names)

    def similarity(self, least: float = 0.1) -> Any:
        """The pairs of objects that draws from the posterior put together, where the method samples one (``nbce-gibbs``).

        Parameters
        ----------
        least : float
            Pairs that a smaller share of the draws puts together are left out; ``partita consensus --min-similarity``.

        Returns
        -------
        sparse array of SciPy, shape (n, n)
            The shares, with ones on the diagonal.
        """
        found = self._native.similarity(least)
        if found is None:
            raise InputError(f"{self.method} draws no partitions from a posterior; take nbce-gibbs, or metrics.co_association")
        return matrix_of(found)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        choice: ClusterChoice | None = None,
        figures: str | os.PathLike[str] | None = None,
        title: str | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """The report as one HTML page.

        Parameters
        ----------
        path : path, optional
            Where the page goes too.
        choice : ClusterChoice, optional
            What :func:`choose_k` found, for the section on the number of clusters.
        figures : path, optional
            A folder for every picture as SVG and its numbers as CSV.
        title : str, optional
            The title of the page.
        names : list of str, optional
            Names of the clusters in the page, in the order of their numbers; the numbers if not given.
        """
        place = None if figures is None else os.fspath(figures)
        page = self._native.report(self._table, choice_json(choice), place, page_json(title, names))
        return save_text(page, path)

    def model(self, predict_with: str | None = None) -> Model:
        """The model that labels new objects as these were labelled.

        Parameters
        ----------
        predict_with : {"ssce", "centroid", "knn:5"}, optional
            A model that reads the table (for results that have one); the method's own or one of label rows if not given.
        """
        if predict_with is not None and self._table is None:
            raise InputError(f"predict_with={predict_with!r} learns from a table; give features= to consensus()")
        return Model(self._native.model(predict_with, self._table))

    @cached_property
    def _model(self) -> Model:
        return self.model()

    def predict(self, new: Any) -> NDArray[np.intp]:
        """Labels of new objects by the labels that the base clusterings give them, shape (n,)."""
        return self._model.predict(new)

    def predict_proba(self, new: Any) -> NDArray[np.float64]:
        """Probabilities of all clusters for new objects, shape (n, K)."""
        return self._model.predict_proba(new)

    def save(self, path: str | os.PathLike[str], predict_with: str | None = None) -> None:
        """Writes the model that ``partita predict`` and :func:`load_model` read."""
        self.model(predict_with).save(path)

    def save_run(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Writes ensemble, labels, probabilities, record and report into a folder, as ``partita consensus -o folder/`` does; ``partita
        run --from folder/record.json`` repeats it. Gives the record."""
        return dict(json.loads(self._native.write_run(os.fspath(folder), False)))

    def __len__(self) -> int:
        return len(self.labels_)

    def __repr__(self) -> str:
        mean = self.record_["methods"][0].get("agreement")
        sure = "" if mean is None else f", agreement {mean:.3f}"
        return f"ConsensusResult({self.method}: {len(self)} objects in {self.n_clusters} clusters{sure})"

    def _repr_html_(self) -> str:
        own = self.record_["methods"][0]
        anmi, sure = own.get("anmi"), own.get("agreement")
        rows = [("method", self.method), ("objects", len(self)), ("clusters", self.n_clusters)]
        rows += [("agreement", "-" if sure is None else f"{sure:.4f}"), ("mean NMI (ANMI)", "-" if anmi is None else f"{anmi:.4f}")]
        rows += [("seconds", f"{own['seconds']:.2f}"), *(("warning", text) for text in self.warnings)]
        return table("Consensus", rows, bars([int(size) for size in self.sizes_]))

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("labels_", "agreement_", "probability_", "probabilities_", "label_names_", "draws_", "linkage_")
        kept = {name: getattr(self, name) for name in names}
        return _restored, ({**kept, "record_": self.record_, "ensemble_": self.ensemble_, "_model": self._model},)


class _UnpickledResult(ConsensusResult):
    """A result out of a pickle: all that was computed, without what can be computed anew."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._table = None

    @property
    def sizes_(self) -> NDArray[np.intp]:
        return np.bincount(self.labels_[self.labels_ >= 0], minlength=int(self.labels_.max(initial=0)) + 1)

    def model(self, predict_with: str | None = None) -> Model:
        if predict_with is not None:
            raise InputError("a result out of a pickle has only the model that it was pickled with")
        return self._model

    def relations(self, threshold: float = 0.0) -> Relations:
        raise InputError("a result out of a pickle has no relations; ask for them before")

    def similarity(self, least: float = 0.1) -> Any:
        raise InputError("a result out of a pickle has no posterior; ask before, or count its draws_")

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        choice: ClusterChoice | None = None,
        figures: str | os.PathLike[str] | None = None,
        title: str | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        raise InputError("a result out of a pickle draws no report; draw it before")

    def save_run(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        raise InputError("a result out of a pickle writes no run; write it before")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ({name: value for name, value in self.__dict__.items() if name != "_table"},)


def _restored(kept: dict[str, Any]) -> ConsensusResult:
    """A result out of its parts: what pickles hold."""
    return _UnpickledResult(kept)


class ConsensusResults(Mapping[str, ConsensusResult]):
    """What several methods found of one ensemble: a mapping from the name of a method to its :class:`ConsensusResult`, in the order in which
    the methods were named.

    Attributes
    ----------
    first : ConsensusResult
        The result of the method that was named first.
    record_ : dict
        What was done by all methods: everything needed to judge and to repeat it.
    ensemble_ : Ensemble
        The base clusterings.

    Examples
    --------
    >>> import partita as pt
    >>> labels = [["x", "x", "x", "y", "y", "y"], [1, 1, 2, 2, 2, 2], [7, 7, 7, None, 9, 9]]
    >>> found = pt.consensus(labels, 2, ["lwgp", "eac-average"])
    >>> list(found), found["eac-average"].n_clusters
    (['lwgp', 'eac-average'], 2)
    """

    def __init__(self, results: Sequence[ConsensusResult], record: dict[str, Any] | None = None) -> None:
        self._results = {result.method: result for result in results}
        if record is not None:
            self.record_ = record

    @cached_property
    def record_(self) -> dict[str, Any]:
        return dict(json.loads(self.first._native.record(True)))

    @property
    def first(self) -> ConsensusResult:
        """The result of the method that was named first."""
        return next(iter(self._results.values()))

    @property
    def ensemble_(self) -> Ensemble:
        """The base clusterings."""
        return self.first.ensemble_

    def __getitem__(self, method: str) -> ConsensusResult:
        if method not in self._results:
            raise KeyError(f"there is no result of {method!r}; there are {', '.join(self._results)}")
        return self._results[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, method: object) -> bool:
        return method in self._results

    def to_frame(self) -> Any:
        """A pandas frame of the labels, a column a method and a row an object."""
        import pandas as pd

        return pd.DataFrame({name: result.labels_ for name, result in self.items()}, index=self.ensemble_.object_names)

    def save_run(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Writes ensemble, labels, probabilities, record and reports of all methods into a folder, as ``partita run -m a,b`` does: those of
        the first into the folder itself, those of the others into folders of their names. ``partita run --from folder/record.json`` repeats
        it. Gives the record."""
        if not hasattr(self.first, "_native"):
            raise InputError("results out of a pickle write no run; write it before")
        return dict(json.loads(self.first._native.write_run(os.fspath(folder), True)))

    def __repr__(self) -> str:
        found = ", ".join(f"{name} ({result.n_clusters} clusters)" for name, result in self.items())
        return f"ConsensusResults({len(self.first)} objects: {found})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ConsensusResults, (list(self.values()), self.record_)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a method ran that has a result already.

    Attributes
    ----------
    result : ConsensusResult
        The best so far; of several methods that of the first.
    results : ConsensusResults
        Those of all methods that have one.
    """

    def __init__(self, message: str, results: ConsensusResults) -> None:
        super().__init__(message)
        self.results = results
        self.result: ConsensusResult = results.first
