"""Rounds of tasks on workers of other systems: the bytes of the command line, also when workers die."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita._engines import engine_of

from conftest import ROOT

CUTS = [0, 1, 2050, 7777, 9000]


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> pt.RowFiles:
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, CUTS[-1])
    columns = [np.where(rng.random(truth.size) < 0.7, truth, rng.integers(0, 4, truth.size)) for _ in range(6)]
    labels = np.stack(columns, axis=1).astype(np.int8)
    for number, (first, end) in enumerate(zip(CUTS, CUTS[1:])):
        np.save(folder / f"{number}.npy", labels[first:end])
    return pt.scan(str(folder / "*.npy"), folder / "many.json", rows_per_part=1000)


def written(found: pt.RowConsensus) -> bytes:
    return b"".join(path.read_bytes() for path in found.label_files)


@pytest.fixture(scope="module")
def expected(rows, command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")

    @functools.cache
    def labels(method: str) -> bytes:
        command("consensus", rows.manifest, "-k", 4, "-m", method, "-o", folder / f"{method}.csv")
        return (folder / f"{method}.csv").read_bytes()

    return labels


METHODS = sorted(name for name, info in pt.methods().items() if info["streams"])


def test_this_process_and_a_pool_write_the_bytes_of_one_command(rows, expected, tmp_path):
    found = pt.consensus(rows, 4, "lwgp", folder=tmp_path / "here")
    assert written(found) == expected("lwgp")
    assert (found.n_clusters, sum(found.record_["sizes"])) == (4, CUTS[-1])
    assert "lwgp: 9000 objects in 4 clusters" in repr(found)
    assert "9000 objects fall into 4 clusters" in found.report_file.read_text()
    with ProcessPoolExecutor(2) as pool:
        assert written(pt.consensus(rows, 4, "lwgp", engine=pool, folder=tmp_path / "pool")) == expected("lwgp")


@pytest.mark.parametrize("label_format", ["parquet", "npy"])
def test_labels_in_columns_and_arrays(rows, expected, tmp_path, label_format):
    found = pt.consensus(rows, 4, "acv", folder=tmp_path / "fit", label_format=label_format)
    if label_format == "npy":
        labels = np.concatenate([np.load(path) for path in found.label_files])
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        tables = [parquet.read_table(path) for path in found.label_files]
        assert tables[0].column_names == ["object", "label", "agreement", "probability"]
        labels = np.concatenate([table["label"].to_numpy() for table in tables])
    lines = expected("acv").decode().splitlines()[1:]
    assert labels.tolist() == [int(line.split(",")[1]) for line in lines]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"method": "eac-average"}, "eac-average"),
        ({"engine": 7}, r"distributed\.Client"),
        ({"folder": None}, "folder="),
        ({"n_clusters": "auto"}, "give a number"),
        ({"ensemble": [[0, 1], [0, 1]], "n_clusters": 2}, "what scan"),
        ({"label_format": "xlsx"}, "label_format"),
        ({"method": ["kc", "mm"]}, "one method at a time"),
        ({"object_weights": [1]}, "go with an Ensemble"),
        ({"pairs": [(0, 1)]}, "go with an Ensemble"),
        ({"base_weights": [1] * 6}, "the name of a CSV file"),
    ],
)
def test_what_cannot_be_asked_for_is_said(rows, tmp_path, changed, said):
    with pytest.raises(pt.InputError, match=said):
        pt.consensus(**{"ensemble": rows, "n_clusters": 4, "folder": tmp_path / "fit", **changed})


def test_files_that_are_not_there(tmp_path):
    with pytest.raises((pt.InputError, OSError), match="none.npy"):
        pt.scan(tmp_path / "none.npy", tmp_path / "m.json")


def test_files_that_change_between_rounds_are_refused(tmp_path):
    """A process that does many tasks holds rows; it must not go on with those of a file that is another now."""
    labels = np.random.default_rng(2).integers(0, 4, (3000, 5)).astype(np.int8)
    np.save(tmp_path / "rows.npy", labels)
    rows = pt.scan(tmp_path / "rows.npy", tmp_path / "m.json", rows_per_part=1000)
    rounds = []

    def engine(task, parts):
        rounds.append(parts)
        if len(rounds) == 3:
            np.save(tmp_path / "rows.npy", labels[::-1])
        for part in parts:
            task(part)

    with pytest.raises(pt.PartitaError, match=r"rows\.npy.*was changed since the manifest was made"):
        pt.consensus(rows, 4, "kc", engine=engine, folder=tmp_path / "fit")
    assert len(rounds) == 3


DELIVERIES = ["twice", "cut", "stale", "missing"]


@pytest.fixture(params=[None, "client", "spark"])
def runs_tasks(request):
    """An engine of each kind: this process, Dask, Spark."""
    return engine_of(request.param and request.getfixturevalue(request.param))


@pytest.mark.parametrize("fault", DELIVERIES)
def test_what_an_engine_delivers_wrongly_is_caught(rows, runs_tasks, tmp_path, fault):
    """An engine that loses, doubles, cuts or swaps what tasks wrote gets a clear error, never a wrong answer."""
    kept: dict[str, bytes] = {}
    done = []

    def engine(task, parts):
        runs_tasks(task, parts)
        # What was done is found done.
        sums = [Path(task(part)) for part in parts]
        if fault == "twice":
            sums[1].write_bytes(sums[0].read_bytes())
        elif fault == "cut":
            sums[0].write_bytes(sums[0].read_bytes()[:-9])
        elif fault == "stale":
            if kept:
                sums[0].write_bytes(kept["first"])
            kept["first"] = sums[0].read_bytes()
        elif len(done) < 1:
            # What is missing is asked for again.
            sums[0].unlink()
        done.append(sums)

    if fault == "missing":
        assert written(pt.consensus(rows, 4, "mm", engine=engine, folder=tmp_path / "fit", restarts=1)) != b""
        assert len(done[1]) == 1
        return
    with pytest.raises(pt.InputError, match=r"\.sum"):
        pt.consensus(rows, 4, "mm", engine=engine, folder=tmp_path / "fit", restarts=1)


@pytest.fixture(scope="module")
def saved(rows, tmp_path_factory, command) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.json"
    command("consensus", rows.manifest, "-k", 4, "-m", "mm", "-o", path.with_suffix(".csv"), "--model", path)
    return path


def check_one_round(rows, saved, command, folder, engine):
    """Prediction and scores on an engine are those of the command line in one process."""
    predicted = pt.load_model(saved).predict_rows(rows, folder=folder / "predicted", engine=engine)
    one = folder / "one.csv"
    command("predict", saved, rows.manifest, "-o", one)
    assert written(predicted) == one.read_bytes()
    assert sum(predicted.sizes) == CUTS[-1] and predicted.unknown_values == predicted.rows_without_values == 0
    names = [f"{rows.manifest}:{name}" for name in command_names(rows)[:2]]
    assert pt.metrics.scores(*names, engine=engine, folder=folder / "scores") == pt.metrics.scores(*names)


def command_names(rows) -> list[str]:
    return [base["name"] for base in json.loads(rows.manifest.read_text())["bases"]]


def test_prediction_and_scores_in_this_process_and_a_pool(rows, saved, command, tmp_path):
    (tmp_path / "here").mkdir()
    check_one_round(rows, saved, command, tmp_path / "here", None)
    (tmp_path / "pool").mkdir()
    with ProcessPoolExecutor(2) as pool:
        check_one_round(rows, saved, command, tmp_path / "pool", pool)


def test_labels_of_a_fit_are_scored_by_tasks(rows, tmp_path):
    found = pt.consensus(rows, 4, "kc", folder=tmp_path / "fit", label_format="npy")
    labels = pt.scan(found.label_files, tmp_path / "labels.json", rows_per_part=3000)
    truth = f"{rows.manifest}:{command_names(rows)[0]}"
    by_tasks = pt.metrics.scores(str(labels.manifest), truth, folder=tmp_path / "scores")
    assert by_tasks == pt.metrics.scores(str(labels.manifest), truth)
    assert by_tasks["h"] > 0.5


def test_what_tasks_of_one_round_cannot_do_is_said(rows, saved, tmp_path):
    for wrong in ({"label_format": "xlsx"}, {"unknown": "drop"}):
        with pytest.raises(pt.InputError, match=f"{next(iter(wrong))}="):
            pt.load_model(saved).predict_rows(rows, folder=tmp_path / "p", **wrong)
    name = f"{rows.manifest}:{command_names(rows)[0]}"
    with pytest.raises(pt.InputError, match="folder="):
        pt.metrics.scores(name, name, engine=lambda task, parts: None)
    with pytest.raises(pt.InputError, match="MANIFEST:COLUMN"):
        pt.metrics.scores([0, 1], [0, 1], folder=tmp_path / "p")
    pt.metrics.scores(name, name, folder=tmp_path / "p")
    with pytest.raises(pt.InputError, match="take another folder"):
        pt.metrics.scores(name, f"{rows.manifest}:{command_names(rows)[1]}", folder=tmp_path / "p")


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture(params=["client", "spark"])
def workers(request):
    """A client of Dask, a session of Spark."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("method", METHODS)
def test_workers_write_the_bytes_of_one_process(workers, rows, expected, tmp_path, method):
    found = pt.consensus(rows, 4, method, engine=workers, folder=tmp_path / "fit", n_jobs=1)
    assert written(found) == expected(method)


def workers_of_dask(client) -> list[int]:
    """The processes, as far as they are known."""
    pids = [worker["pid"] for worker in client.cluster.scheduler_info.get("workers", {}).values() if "pid" in worker]
    return pids or [worker.pid for worker in client.cluster.workers.values() if getattr(worker, "pid", None)]


def kill_some(pids, times: int, pause: float) -> threading.Thread:
    def kill() -> None:
        for _ in range(times):
            time.sleep(pause)
            for pid in pids():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.parametrize("all_at_once", [False, True])
def test_workers_of_dask_may_be_killed(client, rows, expected, tmp_path, all_at_once):
    killer = kill_some(lambda: workers_of_dask(client)[: None if all_at_once else 1], 2, 0.4)
    slow = _Slow(pt.dask.dask_engine(client, retries=20, timeout=120))
    found = pt.consensus(rows, 4, "lwgp", engine=slow, folder=tmp_path / "fit", n_jobs=1)
    killer.join()
    assert slow.rounds > 1
    assert written(found) == expected("lwgp")


def test_workers_of_dask_predict_and_score_while_they_are_killed(client, rows, saved, command, tmp_path):
    killer = kill_some(lambda: workers_of_dask(client)[:1], 2, 0.2)
    slow = _Slow(pt.dask.dask_engine(client, retries=20, timeout=120))
    check_one_round(rows, saved, command, tmp_path, slow)
    killer.join()
    assert slow.rounds == 2


class _Slow:
    """Tasks that take their time, so that something can happen to them."""

    def __init__(self, engine) -> None:
        self.engine, self.rounds = engine, 0

    def __call__(self, task, parts) -> None:
        self.rounds += 1

        # A function of its own, which travels with its code: workers do not know the tests.
        def late(part: int) -> str:
            time.sleep(0.1)
            name = task(part)
            time.sleep(0.1)
            return str(name)

        self.engine(late, parts)


DRIVER = """
import sys
import partita as pt
manifest, folder = sys.argv[1:]
import time
def engine(task, parts):
    for part in parts:
        task(part)
        time.sleep(0.05)
print(len(pt.consensus(pt.RowFiles(pt._rows.Path(manifest), 0), 4, "lwgp", engine=engine, folder=folder).label_files))
"""


def test_the_driver_may_be_killed_and_goes_on(rows, expected, tmp_path):
    command = [sys.executable, "-c", DRIVER, str(rows.manifest), str(tmp_path / "fit")]
    for after in (0.4, 0.7, 1.0):
        driver = subprocess.Popen(command)
        time.sleep(after)
        driver.kill()
        driver.wait()
    subprocess.run(command, check=True)
    found = pt.consensus(rows, 4, "lwgp", folder=tmp_path / "fit")
    assert written(found) == expected("lwgp")


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "CI" not in os.environ:
        pytest.skip("Spark needs a Java runtime")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local-cluster[3,1,512]").appName("partita")
    builder = builder.config("spark.ui.enabled", "false").config("spark.executor.memory", "512m")
    builder = builder.config("spark.task.maxFailures", "8").config("spark.driver.host", "127.0.0.1")
    # What runs for seconds is not worth optimising.
    builder = builder.config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_executors_of_spark_predict_and_score(spark, rows, saved, command, tmp_path):
    check_one_round(rows, saved, command, tmp_path, spark)


def test_an_executor_of_spark_may_be_killed(spark, rows, expected, tmp_path):
    def victims() -> list[int]:
        listed = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True).stdout
        return [int(pid) for pid in listed.split()][:1]

    killer = kill_some(victims, 2, 0.5)
    found = pt.consensus(rows, 4, "lwgp", engine=_Slow(pt.spark.spark_engine(spark)), folder=tmp_path / "fit", n_jobs=1)
    killer.join()
    assert written(found) == expected("lwgp")


def test_the_snakefile_of_the_guide(rows, expected, binary, tmp_path):
    if shutil.which("snakemake", path=str(Path(sys.executable).parent)) is None:
        assert "CI" not in os.environ, "snakemake must be there where the checks run"
        pytest.skip("snakemake is not installed")
    guide = (ROOT / "docs/guide/many-machines.md").read_text(encoding="utf-8")
    chapter = guide.split("## Snakemake")[1].split("\n## ")[0]
    snakefile, loop = (block.split("```")[0] for block in chapter.split("```text\n")[1:3])
    folder = rows.manifest.parent
    (folder / "Snakefile").write_text(snakefile, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "partita").symlink_to(Path(binary).resolve())
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    loop = loop.replace("-k 10", "-k 4")
    done = subprocess.run(["sh", "-c", loop], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    labels = sorted((folder / "fit").glob("labels.*.csv"))
    assert b"".join(path.read_bytes() for path in labels) == expected("lwgp")


RECIPE = {"recipe": "kmeans:4,uspec:2", "base_k": "4..6", "random_state": 3}


@pytest.fixture(scope="module")
def points(tmp_path_factory) -> Path:
    """A table in a folder of files."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("points")
    rng = np.random.default_rng(2)
    values = rng.normal(size=(CUTS[-1], 4)) + 6 * rng.integers(0, 4, (CUTS[-1], 1))
    for number, (first, end) in enumerate(zip(CUTS, CUTS[1:])):
        columns = {f"x{at}": values[first:end, at] for at in range(4)}
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=1500)
    return folder


@pytest.fixture(scope="module")
def made(points) -> pt.Ensemble:
    return pt.generate(pt.read_table(points), **RECIPE)


def test_tables_in_files_are_read_by_blocks(points, made, tmp_path):
    keywords = {**RECIPE, "recipe": "kmeans:4", "subsample": 0.2}
    assert pt.generate(pt.scan_table(points), **keywords, max_memory="1MB") == pt.generate(pt.read_table(points), **keywords)
    with ProcessPoolExecutor(2) as pool:
        assert pt.generate(pt.scan_table(points), **RECIPE, engine=pool, folder=tmp_path / "parts", n_jobs=1) == made
    assert len(list((tmp_path / "parts").iterdir())) == 6


def test_workers_of_dask_make_the_base_clusterings_of_one_process(client, points, made, tmp_path):
    pids = workers_of_dask(client)
    killer = kill_some(lambda: pids[:1], 1, 0.3)
    slow = _Slow(pt.dask.dask_engine(client, retries=20, timeout=120))
    assert pt.generate(pt.scan_table(points), **RECIPE, engine=slow, folder=tmp_path, n_tasks=4, n_jobs=1) == made
    killer.join()


def test_executors_of_spark_make_the_base_clusterings_of_one_process(spark, points, made, tmp_path):
    assert pt.generate(pt.scan_table(points), **RECIPE, engine=spark, folder=tmp_path, n_jobs=1) == made


def test_base_clusterings_that_are_there_are_not_made_again(points, made, tmp_path):
    done = []

    def engine(task, parts):
        done.append([task(part) for part in parts[: 1 + len(parts) * len(done)]])

    with pytest.raises(pt.PartitaError, match="2-of-2"):
        pt.generate(pt.scan_table(points), **RECIPE, engine=engine, folder=tmp_path, n_tasks=2)
    kept = Path(done[0][0]).read_bytes()
    assert pt.generate(pt.scan_table(points), **RECIPE, engine=engine, folder=tmp_path, n_tasks=2) == made
    assert Path(done[0][0]).read_bytes() == kept
    with pytest.raises(pt.InputError, match="other"):
        pt.generate(pt.scan_table(points), **{**RECIPE, "random_state": 4}, engine=engine, folder=tmp_path, n_tasks=2)


def test_files_as_people_have_them_are_read_by_tasks(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id;a b;größe;label\nx1;1;200;p\nx2;NA;210;p\nx3;3;900;q\nx4;4;910;\n", encoding="utf-8")
    keywords = {"recipe": "kmeans:3", "base_k": 2, "subsample": 1.0, "scale": "zscore"}
    found = pt.generate(pt.scan_table(table, impute="mean"), **keywords, engine=_in_turn, folder=tmp_path / "parts")
    assert found == pt.generate(pt.read_table(table, impute="mean"), **keywords)
    assert found.object_names == ["x1", "x2", "x3", "x4"]
    with pytest.raises(pt.InputError, match=r"line 3, column 'a b': 'NA' is missing"):
        pt.generate(pt.scan_table(table, impute="none"), **keywords, engine=_in_turn, folder=tmp_path / "other")


def _in_turn(task, parts) -> None:
    for part in parts:
        task(part)


def test_what_tasks_cannot_make_is_said(points, tmp_path):
    scanned = pt.scan_table(points)
    for table, keywords, said in (
        (np.eye(9), {"engine": list, "folder": tmp_path}, "scan_table"),
        (scanned, {"engine": list}, "folder="),
        (scanned, {"engine": list, "folder": tmp_path, "n_tasks": 0}, "n_tasks=0"),
        (str(points), {}, "read_table"),
    ):
        with pytest.raises(pt.InputError, match=said):
            pt.generate(table, "kmeans:2", **keywords)
    with pytest.raises(pt.InputError, match="no such file"):
        pt.scan_table(points / "none")
    with pytest.raises(pt.InputError, match="read_table"):
        pt.consensus([[0, 1] * (CUTS[-1] // 2)], 2, features=scanned)
