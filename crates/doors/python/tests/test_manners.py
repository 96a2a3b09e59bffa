"""Interrupts, threads, forks, progress, imports, subinterpreters."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from conftest import run_python

INTERRUPTED = """
import json, os, signal, sys, threading, time
import numpy as np, partita as pt

labels = np.random.default_rng(0).integers(0, 8, size=(20_000, 30))
every = pt.Ensemble(labels)
some = pt.Ensemble(labels[:4_000])
table = np.random.default_rng(1).normal(size=(20_000, 16))
asked = []
# A shell starts what runs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def ask():
    asked.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

def work(kind, method, settings):
    if kind == "generate":
        return pt.generate(table, method, n_jobs=1, **settings)
    if kind == "choose":
        return pt.choose_k(some, range(2, 9), n_jobs=1, **settings)
    if kind == "modes":
        return pt.modes(every, n_jobs=1)
    return pt.consensus(some if kind == "some" else every, 8, method, n_jobs=1, **settings)

for kind, method, settings in json.loads(sys.argv[1]):
    timer = threading.Timer(0.3, ask)
    try:
        timer.start()
        work(kind, method, settings)
        timer.cancel()
        timer.join()
        found = "finished"
    except pt.Interrupted as error:
        same = error.result is error.results.first and list(error.results) == [error.result.method]
        found = "result" if len(error.result.labels_) in (4_000, 20_000) and same else "wrong"
    except KeyboardInterrupt:
        found = "nothing"
    late = time.process_time() - asked.pop() if asked else 0.0
    print(json.dumps([method, found, late]), flush=True)
"""

#: On which data, what, with settings that make it take long.
LONG = [
    ("every", "mm", {"restarts": 1000}),
    ("every", "mm", {"restarts": 2, "tolerance": 0.0, "iterations": 100000}),
    ("every", "nbce-vb", {"restarts": 500}),
    ("some", "nbce-cvb", {"restarts": 500}),
    ("some", "bce", {"restarts": 500}),
    ("some", "nbce-gibbs", {"sweeps": 5000}),
    ("every", "eac-average", {}),
    ("some", "pcc-l2", {"restarts": 50}),
    ("some", "penca", {"restarts": 500}),
    ("some", "median-vi", {"restarts": 500}),
    ("some", "lwgp", {"restarts": 500, "tolerance": 0.0}),
    ("some", "cspa", {}),
    ("some", "kc", {"restarts": 1000}),
    ("some", "hgpa", {"restarts": 200}),
    ("some", "ssce-p", {}),
    ("generate", "kmeans:1000", {}),
    ("choose", "eac-average", {"draws": 200}),
    ("modes", "", {}),
]

#: A fifth of a second is what the package promises, built with all optimisations on a quiet machine. Here it is built without, and
#: other programs slow it down: what takes minutes unless it is stopped may take a second.
LATEST = 1.0


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c():
    """From Ctrl-C to the exception there is little work, counted in CPU seconds: machines are shared. What was late is tried again, twice."""
    tried = LONG
    for _ in range(3):
        found = interrupted(tried)
        assert [method for method, _, _ in found] == [method for _, method, _ in tried]
        assert {end for _, end, _ in found} <= {"result", "nothing"}, found
        assert {end for method, end, _ in found if method == "mm"} <= {"result"}
        tried = [long for long, (method, _, seconds) in zip(tried, found) if seconds >= LATEST]
        if not tried:
            return
    raise AssertionError(found)


def interrupted(long):
    """What became of each of these, and how late."""
    return [json.loads(line) for line in run_python("-c", INTERRUPTED, json.dumps(long)).splitlines()]


def test_the_interpreter_goes_on_meanwhile(ensemble):
    """Another thread counts while a method runs."""
    labels = np.random.default_rng(0).integers(0, 8, size=(4000, 20))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    pt.consensus(labels, 5, "eac-average", n_jobs=1)
    done.set()
    counter.join()
    assert counted[0] > 5


def test_threads(ensemble, result):
    found = []
    workers = [threading.Thread(target=lambda: found.append(pt.consensus(ensemble, 3).labels_)) for _ in range(4)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert len(found) == 4 and all(np.array_equal(labels, result.labels_) for labels in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_after_use():
    program = """
import os, sys
import numpy as np, partita as pt
labels = np.tile(np.repeat([0, 1, 2], 30)[:, None], (1, 5))
pt.consensus(labels, 3)
child = os.fork()
if child == 0:
    os._exit(0 if pt.consensus(labels, 3).n_clusters == 3 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    run_python("-c", program)


def test_joblib_processes(ensemble, result):
    joblib = pytest.importorskip("joblib")
    seeds = joblib.Parallel(n_jobs=2)(joblib.delayed(pt.consensus)(ensemble, 3, random_state=seed) for seed in (0, 0))
    assert all(np.array_equal(found.labels_, result.labels_) for found in seeds)


def test_progress_is_told():
    labels = np.random.default_rng(0).integers(0, 8, size=(3000, 20))
    told = []
    pt.consensus(labels, 5, "mm", restarts=2, tolerance=0.0, iterations=200, progress=lambda *step: told.append(step))
    assert told and all(what == "mm" and 0 <= done <= total for what, done, total in told)


def test_bars(capsys):
    pytest.importorskip("tqdm")
    labels = np.random.default_rng(0).integers(0, 8, size=(2000, 20))
    pt.consensus(labels, 5, "mm", restarts=2, tolerance=0.0, iterations=300, progress=True)
    shown = capsys.readouterr().err
    assert "mm" in shown and "%" in shown


def test_warnings_are_warnings_and_notes_are_logged(blobs, tmp_path, caplog):
    wide = blobs * [1, 1000, 1]
    with pytest.warns(pt.PartitaWarning, match="scale"):
        pt.generate(wide, "kmeans:2", base_k=2, scale="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.generate(wide, "kmeans:2", base_k=2, scale="zscore")
    path = tmp_path / "e.csv"
    path.write_text("cell,a\nu,1\nv,2\nw,2\n")
    with caplog.at_level(logging.INFO, logger="partita"):
        pt.read_ensemble(path)
    assert "e.csv" in caplog.text and "cell" in caplog.text


def test_importing_is_quick_and_brings_nothing():
    program = """
import sys
import numpy
import time
# Seconds of work: machines are shared.
begun = time.process_time()
import partita
took = time.process_time() - begun
heavy = {"sklearn", "pandas", "scipy", "matplotlib", "polars", "pyarrow", "anndata", "tqdm"} & set(sys.modules)
print(took, sorted(heavy))
"""
    runs = [run_python("-c", program).split(maxsplit=1) for _ in range(3)]
    assert all(brought.strip() == "[]" for _, brought in runs), runs
    assert min(float(took) for took, _ in runs) < 0.1, runs


def test_modules_import_only_from_the_layers_above():
    """In the order of the package's docstring, which names all of them."""
    folder, above = Path(pt.__file__).parent, set()
    layers = [re.findall(r"``(\w+)``", line) for line in pt.__doc__.splitlines() if line.startswith("- ``")]
    for layer in layers:
        for name in layer:
            source = next(folder.glob(f"{name}.py*")).read_text(encoding="utf-8")
            imported = re.findall(r"from partita\.(\w+) import", source)
            for names in re.findall(r"from partita import (.+)", source):
                imported += names.split(", ")
            assert set(imported) <= above, name
        above.update(layer)
    assert above == {path.stem for path in folder.glob("*.py*")} - {"__init__"}


def test_subinterpreters_are_refused_politely():
    # Of the extension module alone: NumPy, which the package imports first, refuses too.
    program = """
import partita._partita
path = partita._partita.__file__
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreter = interpreters.create()
code = f'''
import importlib.util
spec = importlib.util.spec_from_file_location("partita._partita", {path!r})
try:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("was imported")
'''
failed = interpreters.run_string(interpreter, code)
assert not failed, failed
"""
    run_python("-c", program)


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pt.nothing
    assert "plot" in dir(pt) and pt.__version__.count(".") == 2


def test_every_public_item_has_a_docstring():
    late = {"plot", "anndata", "ConsensusClustering", "LabelConsensus"}
    for name in set(pt.__all__) - late - {"__version__"}:
        assert getattr(pt, name).__doc__, name
    for name in pt.metrics.__all__:
        assert getattr(pt.metrics, name).__doc__, name
