"""The results of several methods over one ensemble."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from partita._ensemble import Ensemble
from partita._errors import InputError
from partita._result import ConsensusResult


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
