"""How computations are run (threads, memory, progress, notes), and keywords as the native functions read them."""

from __future__ import annotations

import json
import logging
import numbers
import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from partita._errors import InputError, PartitaWarning

#: Runs a task for every part, on any machine and in any order, and returns when all are done. Tasks can be pickled, and run twice.
Engine = Callable[[Callable[[int], str], "list[int]"], None]

logger = logging.getLogger("partita")

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class Run:
    """Threads, memory and progress of a computation; the result does not depend on them. As a context it ends the bar of progress."""

    __slots__ = ("threads", "max_memory", "progress", "say", "_bar")

    def __init__(self, n_jobs: int | None = None, max_memory: int | str | None = None, progress: object = False) -> None:
        self.threads = threads(n_jobs)
        self.max_memory = bytes_of(max_memory)
        self.say: Callable[[bool, str], None] = say
        self._bar: Any = None
        self.progress: Callable[[str, int, int], object] | None = None
        if callable(progress):
            self.progress = progress
        elif progress:
            self.progress = self._show

    def _show(self, what: str, done: int, total: int) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            logger.info("%s: %d of %d", what, done, total)
            return
        if self._bar is None or self._bar.desc.rstrip(": ") != what:
            self.close()
            self._bar = tqdm(total=total, desc=what)
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def say(warning: bool, text: str) -> None:
    """Warnings are warnings, notes go to the logger ``partita``."""
    if warning:
        warnings.warn(text, PartitaWarning, stacklevel=4)
    else:
        logger.info(text)


def threads(n_jobs: int | None) -> int:
    """``None`` and -1 are all cores, -2 all but one."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise InputError(f"n_jobs={n_jobs!r}; write a number of threads, or None for all cores")
    if n_jobs == 0:
        raise InputError("n_jobs=0; write a number of threads, or None for all cores")
    if n_jobs > 4096:
        raise InputError(f"n_jobs={n_jobs}; at most 4096 threads")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return int(n_jobs)


def bytes_of(memory: int | str | None) -> int | None:
    """Bytes of a number or of a text such as ``"500MiB"``."""
    if memory is None:
        return None
    if isinstance(memory, numbers.Integral) and not isinstance(memory, bool) and 0 <= int(memory) < 2**64:
        return int(memory)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", memory) if isinstance(memory, str) else None
    if not found or found[2].lower() not in _UNITS:
        raise InputError(f"max_memory={memory!r}; write bytes, or a text such as '4GiB'")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def seed_of(random_state: Any) -> int:
    """A seed: a whole number from 0, or drawn from a generator; ``None`` is 0, so that every run can be repeated."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if 0 <= int(random_state) < 2**64:
            return int(random_state)
        raise InputError(f"random_state={random_state}; seeds are whole numbers from 0 to 2**64 - 1")
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**63))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    raise InputError(f"random_state={random_state!r}; write a whole number, a numpy Generator or RandomState, or None")


def clusters_of(n_clusters: Any, name: str = "n_clusters") -> str:
    """A number, a range, ``"auto"``, ``"significant"`` or ``"method"`` as the native functions read it."""
    if isinstance(n_clusters, range):
        if n_clusters.step != 1 or len(n_clusters) == 0:
            raise InputError(f"{name}={n_clusters}; write a range of step 1 such as range(2, 13)")
        return f"{n_clusters.start}..{n_clusters.stop - 1}"
    if isinstance(n_clusters, str):
        return n_clusters
    if isinstance(n_clusters, numbers.Integral) and not isinstance(n_clusters, bool):
        return str(int(n_clusters))
    raise InputError(f"{name}={n_clusters!r}; write a number of clusters, range(2, 13), 'auto', 'significant' or 'method'")


def json_of(settings: Any) -> str:
    """Settings or options as JSON; NumPy's numbers and arrays are written as Python's."""
    return json.dumps(settings, default=_plain)


def page_json(title: str | None, names: Sequence[str] | None, describe: Sequence[str] | None = None) -> str:
    """What a report is called and what it says besides, as the native functions take it."""
    for what, given in (("names", names), ("describe", describe)):
        if isinstance(given, str):
            raise InputError(f"{what}={given!r}; give a list of texts")
    lists = {"names": names, "describe": describe}
    return json.dumps({"title": title, **{name: [str(one) for one in given] for name, given in lists.items() if given is not None}})


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise InputError(f"{value!r} is not a number, a text or a list")
