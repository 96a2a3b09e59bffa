"""Tasks of a consensus of label rows in files on the executors of Spark.

``pt.consensus(pt.scan("labels/*.parquet"), 10, engine=spark)`` uses it. Executors see files, manifest and folder under the same paths,
read their own parts and write their own labels; Spark moves numbers of parts and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partita._run import Engine

__all__ = ["spark_engine"]


def spark_engine(session: Any) -> Engine:
    """Runs tasks on a session's executors, one a partition; ``spark.task.maxFailures`` says how often one is tried.

    Parameters
    ----------
    session : pyspark.sql.SparkSession

    Returns
    -------
    callable
        For ``engine=`` of :func:`partita.consensus`.
    """
    context = session.sparkContext

    def run_tasks(task: Callable[[int], str], parts: list[int]) -> None:
        context.parallelize(parts, len(parts)).foreach(task)

    return run_tasks
