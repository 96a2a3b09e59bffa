"""Tasks of a consensus of label rows in files on the workers of Dask.

``pt.consensus(pt.scan("labels/*.parquet"), 10, engine=client)`` uses it with its defaults. Workers see files, manifest and folder under
the same paths, read their own parts and write their own labels.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from partita._run import Engine

__all__ = ["dask_engine"]


def _home(part: int) -> int:
    """A result of a few bytes that stays on the worker of a part."""
    return part


def _do(task: Callable[[int], str], part: int, _home: int) -> str:
    """A task, preferably on the worker that has the part's :func:`_home`."""
    return task(part)


def dask_engine(client: Any, *, retries: int = 3, timeout: float | None = None) -> Engine:
    """Runs tasks on a client's workers.

    Parameters
    ----------
    client : distributed.Client
    retries : int
        How often a task is tried again that fails. Tasks of workers that die go to others besides; their sums are written whole or not
        at all.
    timeout : float, optional
        Seconds for all tasks of a round, after which ``TimeoutError`` is raised. What was finished is kept: a call with the same folder
        goes on there.

    Returns
    -------
    callable
        For ``engine=`` of :func:`partita.consensus`.
    """

    # Dask prefers to run a task on the worker that has what the task needs. So a part goes to the worker that has its small result, where
    # its rows were read before. If that worker dies, Dask makes the small result again on another.
    homes: dict[int, Any] = {}

    def run_tasks(task: Callable[[int], str], parts: list[int]) -> None:
        distributed: Any = importlib.import_module("distributed")
        # A client that was restarted has cancelled what it knew.
        missing = [part for part in parts if part not in homes or homes[part].cancelled()]
        homes.update(zip(missing, client.map(_home, missing, pure=False), strict=True))
        near = [homes[part] for part in parts]
        futures = client.map(partial(_do, task), parts, near, retries=retries, pure=False)
        try:
            distributed.wait(futures, timeout=timeout)
            # What tasks made is in files: the answers are fetched only for the error of one that failed.
            if any(future.status != "finished" for future in futures):
                client.gather(futures)
        except BaseException:
            client.cancel(futures)
            raise

    return run_tasks
