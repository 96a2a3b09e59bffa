"""Synthetic tables with known clusters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _partita
from partita._run import json_of, seed_of


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Points with known clusters.

    Attributes
    ----------
    X : array of shape (n, d)
        The points, in random order.
    y : array of shape (n,), int32
        The cluster of every point; -1 for what belongs to none.
    probabilities : array of shape (n, K) or None
        Of mixtures: the probability of every component given the point.
    columns : list of str
        Names of the columns of ``X``.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int32]
    probabilities: NDArray[np.float64] | None
    columns: list[str]


def synth_families() -> dict[str, dict[str, Any]]:
    """The families of :func:`synth` by name: group, usual number of objects, what is drawn."""
    return {family["name"]: family for family in json.loads(_partita.synth_families())}


def synth(family: str, n_objects: int | None = None, *, random_state: Any = 0, **settings: Any) -> SyntheticTable:
    """Draws a table with known clusters, as ``partita synth`` does.

    Parameters
    ----------
    family : str
        One of :func:`synth_families`, such as ``"half-rings"``.
    n_objects : int, optional
        Points; the family's usual number if not given.
    random_state : int, Generator or RandomState
        The same seed gives the same bytes; those of ``partita synth --seed``.
    **settings
        ``clusters``, ``dimensions`` or ``separation`` of a mixture.

    Examples
    --------
    >>> import partita as pt
    >>> table = pt.synth("half-rings", 400)
    >>> table.X.shape, sorted(set(table.y.tolist()))
    ((400, 2), [0, 1])
    """
    return SyntheticTable(*_partita.synth(family, n_objects, seed_of(random_state), json_of(settings)))
