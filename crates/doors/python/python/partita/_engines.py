"""Engines: what runs tasks, in this process, on an executor, Dask or Spark; what the tasks do is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from partita._errors import InputError
from partita._run import Engine
from partita.dask import dask_engine
from partita.spark import spark_engine


def _here(task: Callable[[int], str], parts: list[int]) -> None:
    for part in parts:
        task(part)


def _of_executor(executor: Executor, task: Callable[[int], str], parts: list[int]) -> None:
    for _ in executor.map(task, parts):
        pass


def engine_of(engine: Any) -> Engine:
    """What runs tasks: this process, an executor, a client of Dask, a session of Spark, or a function of one's own."""
    if engine is None:
        return _here
    if isinstance(engine, Executor):
        return partial(_of_executor, engine)
    package = type(engine).__module__.partition(".")[0]
    if package == "distributed":
        return dask_engine(engine)
    if package == "pyspark":
        return spark_engine(engine)
    if callable(engine):
        return engine  # type: ignore[no-any-return]
    raise InputError(
        f"engine={engine!r}; give a distributed.Client, a SparkSession, an Executor, or a function of a task and a list of parts"
    )
