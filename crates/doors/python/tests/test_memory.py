"""How much memory calls take beyond their data, measured in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import run_python

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not forget how much was held before")

PEAK = """
import json, sys
import numpy as np, partita as pt

def peak():
    # The most since the last call, which sets it to what is held now.
    with open("/proc/self/status") as file:
        most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return most

def taken(work):
    peak()
    before = peak()
    found = work()
    return peak() - before, found
"""

CONSENSUS = """
# Base clusterings that each err at three objects of ten.
n, m, k = 1_000_000, 20, 10
rng = np.random.default_rng(0)
truth = rng.integers(0, k, n, dtype=np.int8)
labels = np.empty((n, m), dtype=np.int8)
for column in labels.T:
    column[:] = np.where(rng.random(n) < 0.3, rng.integers(0, k, n, dtype=np.int8), truth)
try:
    pt.consensus(labels, k, max_memory=1)
except pt.BudgetError as error:
    stated = error.needed
pt.consensus(labels[:200], 2)
held, found = taken(lambda: pt.consensus(labels, k))
print(json.dumps([held, stated, found.n_clusters]))
"""

LABELS = """
# Pages of the program itself are read by the first call.
pt.Ensemble(np.zeros((200, 2), dtype=np.int8))
found = []
for kind in (np.int8, np.uint8, np.int64):
    labels = np.resize(np.arange(7, dtype=kind), (1_000_000, 40))
    held, made = taken(lambda: pt.Ensemble(labels))
    found.append([held, made.n_objects * made.n_base_clusterings])
print(json.dumps(found))
"""

RESULTS = """
labels = np.resize(np.arange(7, dtype=np.int8), (1_000_000, 4))
result = pt.consensus(labels, 5, "mm", restarts=1, iterations=1)
print(json.dumps([[name, *taken(lambda: getattr(result, name).nbytes)] for name in sys.argv[1:]]))
"""

TABLE = """
pt.generate(np.random.default_rng(0).normal(size=(1000, 4)), "kmeans:2", base_k=3)
X = np.random.default_rng(0).normal(size=(250_000, 40))
print(json.dumps([taken(lambda: pt.generate(X, "kmeans:1", base_k=2, subsample=0.01, n_jobs=1))[0], X.nbytes]))
"""


def measured(program: str, *arguments: str):
    return json.loads(run_python("-c", PEAK + program, *arguments))


def test_a_consensus_holds_what_it_says():
    """Beyond the array of labels at most 1.15 times the bytes that the method states, in one of three processes."""
    shares: list[float] = []
    while not shares or (shares[-1] > 1.15 and len(shares) < 3):
        held, stated, clusters = measured(CONSENSUS)
        assert clusters == 10
        shares.append(held / stated)
    assert shares[-1] <= 1.15, shares


def test_labels_are_copied_once():
    """An ensemble is one byte a label, whatever the array held: that of bytes is copied once."""
    for held, label_bytes in measured(LABELS):
        assert label_bytes <= 40_000_000 and held < 1.15 * label_bytes, (held, label_bytes)


def test_results_are_copied_once():
    for name, held, of_array in measured(RESULTS, "labels_", "agreement_", "probability_", "probabilities_"):
        assert held < 1.15 * of_array + (1 << 20), (name, held, of_array)


def test_tables_are_read_in_place():
    """A table of 80 MB: k-means lays its rows out once, as the memory that it states says, and nothing else is held."""
    held, table_bytes = measured(TABLE)
    assert held < 1.3 * table_bytes, (held, table_bytes)
