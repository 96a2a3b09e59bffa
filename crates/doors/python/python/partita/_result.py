"""The result of a consensus method."""

from __future__ import annotations

import json
import os
import warnings
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError, PartitaWarning
from partita._html import bars, table
from partita._reading import matrix_of
from partita._rows import RowFiles, RowPrediction, check_format, rounds
from partita._run import logger
from partita._tables import is_frame, table_of

if TYPE_CHECKING:
    from partita._consensus import ClusterChoice


def _check_unknown(unknown: str) -> None:
    if unknown not in ("missing", "refuse"):
        raise InputError(f"unknown={unknown!r}; write 'missing' or 'refuse'")


class Model:
    """A fitted consensus that labels new objects; :func:`load_model` reads one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._native = _partita.read_model(text)

    @property
    def reads_table(self) -> bool:
        """Whether new objects are rows of a table, not label rows."""
        return self._native.reads_table

    def predict_proba(self, new: Any, unknown: str = "missing") -> NDArray[np.float64]:
        """Probabilities of all clusters for every new object.

        Parameters
        ----------
        new : labels as for :class:`Ensemble`, or a table
            With the base clusterings, or the features, that the model was learned from; matched by name where they have names.
        unknown : {"missing", "refuse"}
            What becomes of labels that the model has never seen: they are taken as missing with a warning, or ``new`` is refused.

        Returns
        -------
        array of shape (n, K)
        """
        _check_unknown(unknown)
        if not self.reads_table:
            found, unread, empty = self._native.predict(Ensemble(new)._native, None)
        else:
            found, unread, empty = self._native.predict(None, table_of(new, None if is_frame(new) else self._columns(new)))
        if unread and unknown == "refuse":
            raise InputError(f"{unread} values are unknown to the model; unknown='missing' takes them as missing")
        if unread or empty:
            what = f"{unread} values are unknown to the model and taken as missing; {len(empty)} rows have none that it knows"
            warnings.warn(what, PartitaWarning, stacklevel=2)
        return found

    def _columns(self, new: Any) -> list[str] | None:
        known = self.info.get("columns")
        fits = isinstance(known, list) and len(known) == np.shape(new)[-1]
        return [str(name) for name in known] if fits and isinstance(known, list) else None

    def predict(self, new: Any) -> NDArray[np.intp]:
        """The most probable cluster of every new object, shape (n,)."""
        labels: NDArray[np.intp] = np.argmax(self.predict_proba(new), axis=1)
        return labels

    def predict_rows(
        self,
        rows: RowFiles,
        *,
        folder: str | os.PathLike[str],
        engine: Any = None,
        label_format: str = "csv",
        unknown: str = "missing",
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
    ) -> RowPrediction:
        """Labels rows in files by tasks: the labels of ``partita predict``, a file a part.

        Parameters
        ----------
        rows : RowFiles
            From :func:`partita.scan`, with the base clusterings that the model was learned from.
        folder : path
            Gets the model, what tasks need and what they make. A call with the same folder goes on where another ended.
        engine : optional
            As for :func:`partita.consensus`; without one the tasks run in this process.
        label_format : {"csv", "parquet", "npy"}
            NPY has the labels alone.
        unknown : {"missing", "refuse"}
            As for :meth:`predict_proba`.
        n_jobs, max_memory : optional
            Threads of a task, and what it may hold.
        """
        _check_unknown(unknown)
        check_format(label_format)
        os.makedirs(folder, exist_ok=True)
        place = os.path.abspath(folder)
        path = os.path.join(place, "model.json")
        self.save(path)
        step = partial(_partita.predict_parts, path, str(rows.manifest), place, (label_format, unknown == "refuse"))
        found = rounds(step, str(rows.manifest), engine, n_jobs, max_memory)
        files = [Path(name) for name in found["labels"]]
        return RowPrediction(files, found["sizes"], found["mean_certainty"], found["unknown_values"], found["rows_without_values"])

    def perplexity(self, held_out: Any) -> float:
        """exp(-mean ln p of a label) over label rows that the model has not seen, 1 at best; an upper bound for a model of ``bce``.

        Parameters
        ----------
        held_out : labels as for :class:`Ensemble`
            With the base clusterings that the model was learned from; missing labels and labels that are new to it do not count.
        """
        found, _, unread, _ = _partita.perplexity(self._text, Ensemble(held_out)._native)
        if unread:
            logger.info("%d labels are new to the model and do not count", unread)
        return found

    @property
    def info(self) -> dict[str, Any]:
        """The model as it is saved."""
        return dict(json.loads(self._text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the JSON that ``partita predict`` reads."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def __repr__(self) -> str:
        made = self.info.get("made", {})
        return f"Model({self.info.get('format')!r}, by {made.get('method', '?')} from {made.get('objects', '?')} objects)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (self._text,)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Reads a model that :meth:`ConsensusResult.save` or ``partita consensus --model`` wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    try:
        return Model(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def choice_json(choice: ClusterChoice | None) -> str | None:
    """What was found of the number of clusters, as the native functions take it."""
    if choice is None:
        return None
    if not hasattr(choice, "record_"):
        raise InputError(f"choice={choice!r}; give what choose_k() found, or load_choice(path)")
    return json.dumps(choice.record_)


def written(page: str, path: str | os.PathLike[str] | None) -> str:
    """A page, which goes to a file too where there is one."""
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return page


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
        The cluster of every object, from 0.
    confidence_ : array of shape (n,)
        How far the ensemble supports each label, 0 to 1; compares between methods.
    certainty_ : array of shape (n,)
        The method's own number; ``methods()[name]["certainty"]`` says what it means.
    probabilities_ : array of shape (n, K) or None
        Probabilities of all clusters, where the method has them.
    n_clusters : int
        Clusters that have objects.
    diagnostics_ : dict
        Objective, rounds, why it stopped, warnings, and facts of the method's own.
    record_ : dict
        What was done: everything needed to judge and to repeat it.
    evidence_ : array of shape (n, K)
        How the base clusterings of every object spread over the clusters; what ``soft.csv`` holds where there are no probabilities.
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
    def confidence_(self) -> NDArray[np.float64]:
        return self._native.confidence()

    @cached_property
    def certainty_(self) -> NDArray[np.float64]:
        return self._native.certainty()

    @cached_property
    def probabilities_(self) -> NDArray[np.float64] | None:
        return self._native.probabilities()

    @cached_property
    def evidence_(self) -> NDArray[np.float64]:
        return self._native.evidence()

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
        names = ["objective", "objective_name", "objective_sense", "objective_trace", "rounds", "stopped", "kkt_gap"]
        kept = {name: own[name] for name in [*names, "anmi", "confidence", "seconds", "warnings"] if name in own}
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
        return np.bincount(self.labels_, minlength=self._native.clusters())

    def relations(self, threshold: float = 0.0) -> Relations:
        """How the clusters overlap, by the probabilities or, of a method that has none, the shares of the evidence.

        Parameters
        ----------
        threshold : float
            Probabilities below this count as 0; what is left of a row is divided by its sum.
        """
        return Relations(*self._native.relations(threshold))

    def to_frame(self) -> Any:
        """A pandas frame: label, certainty, confidence and, where there are some, probabilities p0, p1, ...; a row an object."""
        import pandas as pd

        columns: dict[str, Any] = {"label": self.labels_, "certainty": self.certainty_, "confidence": self.confidence_}
        if self.probabilities_ is not None:
            columns.update({f"p{at}": column for at, column in enumerate(self.probabilities_.T)})
        return pd.DataFrame(columns, index=self.ensemble_.object_names)

    def similarity(self, least: float = 0.1) -> Any:
        """The pairs of objects that draws from the posterior put together, where the method samples one (``nbce-gibbs``).

        Parameters
        ----------
        least : float
            Pairs that a smaller share of the draws puts together are left out; ``partita consensus --least-similarity``.

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
        """
        place = None if figures is None else os.fspath(figures)
        return written(self._native.report(self._table, choice_json(choice), place), path)

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
        mean = self.record_["methods"][0].get("confidence")
        sure = "" if mean is None else f", confidence {mean:.3f}"
        return f"ConsensusResult({self.method}: {len(self)} objects in {self.n_clusters} clusters{sure})"

    def _repr_html_(self) -> str:
        own = self.record_["methods"][0]
        anmi, sure = own.get("anmi"), own.get("confidence")
        rows = [("method", self.method), ("objects", len(self)), ("clusters", self.n_clusters)]
        rows += [("confidence", "-" if sure is None else f"{sure:.4f}"), ("agreement (ANMI)", "-" if anmi is None else f"{anmi:.4f}")]
        rows += [("seconds", f"{own['seconds']:.2f}"), *(("warning", text) for text in self.warnings)]
        return table("Consensus", rows, bars([int(size) for size in self.sizes_]))

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("labels_", "confidence_", "certainty_", "probabilities_", "evidence_", "label_names_", "draws_", "linkage_")
        kept = {name: getattr(self, name) for name in names}
        return _restored, ({**kept, "record_": self.record_, "ensemble_": self.ensemble_, "_model": self._model},)


class _Restored(ConsensusResult):
    """A result out of a pickle: all that was computed, without what can be computed anew."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._table = None

    @property
    def sizes_(self) -> NDArray[np.intp]:
        return np.bincount(self.labels_, minlength=int(self.labels_.max(initial=0)) + 1)

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
    ) -> str:
        raise InputError("a result out of a pickle draws no report; draw it before")

    def save_run(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        raise InputError("a result out of a pickle writes no run; write it before")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ({name: value for name, value in self.__dict__.items() if name != "_table"},)


def _restored(kept: dict[str, Any]) -> ConsensusResult:
    """A result out of its parts: what pickles hold."""
    return _Restored(kept)
