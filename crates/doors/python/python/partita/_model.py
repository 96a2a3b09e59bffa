"""Models: fitted consensus methods that label new objects."""

from __future__ import annotations

import json
import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._ensemble import Ensemble
from partita._errors import InputError, PartitaWarning
from partita._html import save_text
from partita._rows import RowFiles, RowPrediction, check_format, rounds
from partita._run import logger
from partita._tables import is_frame, table_of


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
            found, unread, empty = self._native.predict(None, table_of(new, None if is_frame(new) else self._columns(new), gaps="refused"))
        if unread and unknown == "refuse":
            raise InputError(f"{unread} values are unknown to the model; unknown='missing' takes them as missing")
        if unread or empty:
            what = f"{unread} values are unknown to the model and taken as missing; {len(empty)} rows have none that it knows"
            warnings.warn(what, PartitaWarning, stacklevel=2)
        return found

    def _columns(self, new: Any) -> list[str] | None:
        known = self.info.get("columns")
        if not isinstance(known, list) or len(known) != np.shape(new)[-1]:
            return None
        return [str(name) for name in known]

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
            Gets the model, what tasks need and what they make. A call with the same folder continues where another stopped.
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
        return RowPrediction(files, found["sizes"], found["mean_probability"], found["unknown_values"], found["rows_without_values"])

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
        save_text(self._text, path)

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
