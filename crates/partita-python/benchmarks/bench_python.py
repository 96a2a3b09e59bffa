"""The package beside what people use in Python: CPU and wall seconds, peak memory, ARI; each case in a process of its own.

    python crates/partita-python/benchmarks/bench_python.py path/to/partita > docs/benchmarks/python.md
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

RUNS = 3


def drawn_labels(n: int, m: int, clusters: int) -> tuple[Any, Any]:
    """Base clusterings that each err at three objects of ten."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, clusters, n)
    labels = np.empty((n, m), dtype=np.int8)
    for column in range(m):
        wrong = rng.random(n) < 0.3
        labels[:, column] = np.where(wrong, rng.integers(0, clusters, n), truth)
    return labels, truth


def drawn_table(n: int, d: int, clusters: int) -> tuple[Any, Any]:
    """Normal clusters that overlap a little."""
    rng = np.random.default_rng(1)
    centres = rng.normal(scale=1.6, size=(clusters, d))
    truth = rng.integers(0, clusters, n)
    return centres[truth] + rng.normal(size=(n, d)), truth


def one_hot(labels: Any) -> Any:
    """All base clusters as columns of zeros and ones."""
    return np.concatenate([np.eye(int(column.max()) + 1, dtype=np.float32)[column] for column in labels.T], axis=1)


def ours(labels: Any, k: int) -> Any:
    """partita.consensus, the default method."""
    import partita as pt

    return pt.consensus(labels, k).labels_


def hot_kmeans(labels: Any, k: int) -> Any:
    """k-means on one-hot labels."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=0).fit_predict(one_hot(labels))


def svd_kmeans(labels: Any, k: int) -> Any:
    """SVD of one-hot labels, then k-means."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD

    return KMeans(k, n_init=10, random_state=0).fit_predict(TruncatedSVD(k, random_state=0).fit_transform(one_hot(labels)))


def average_link(labels: Any, k: int) -> Any:
    """SciPy's average link on a co-association by matrix products."""
    from scipy.cluster.hierarchy import fcluster, linkage

    hot = one_hot(labels)
    together = (hot @ hot.T) / labels.shape[1]
    return fcluster(linkage(1 - together[np.triu_indices(len(hot), 1)], "average"), k, "maxclust")


def ours_average(labels: Any, k: int) -> Any:
    """partita.consensus, eac-average."""
    import partita as pt

    return pt.consensus(labels, k, "eac-average").labels_


def ours_table(X: Any, k: int) -> Any:
    """100 k-means and lwgp."""
    import partita as pt

    return pt.ConsensusClustering(k, base="kmeans:100").fit_predict(X)


def many_kmeans(X: Any, k: int) -> Any:
    """scikit-learn's KMeans(n_init=100)."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=100, random_state=0).fit_predict(X)


LARGE, SMALL, TABLE = (drawn_labels, (1_000_000, 20, 10)), (drawn_labels, (4000, 20, 10)), (drawn_table, (20_000, 16, 10))
CASES: dict[str, tuple[Any, Callable[[Any, int], Any]]] = {
    "1,000,000 × 20 int8: partita (lwgp)": (LARGE, ours),
    "4,000 × 20: partita (lwgp)": (SMALL, ours),
    "4,000 × 20: partita (eac-average)": (SMALL, ours_average),
    "4,000 × 20: one-hot + KMeans": (SMALL, hot_kmeans),
    "4,000 × 20: one-hot + SVD + KMeans": (SMALL, svd_kmeans),
    "4,000 × 20: co-association + SciPy average": (SMALL, average_link),
    "20,000 × 16 table: partita, 100 k-means + lwgp": (TABLE, ours_table),
    "20,000 × 16 table: KMeans(n_init=100)": (TABLE, many_kmeans),
}


def case(name: str) -> None:
    """One case, as JSON: what data and packages take is not counted."""
    from sklearn.metrics import adjusted_rand_score

    (draw, size), work = CASES[name]
    data, truth = draw(*size)
    work(data[:200], 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    found = work(data, size[2])
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    print(json.dumps({**took, "mib": more, "ari": adjusted_rand_score(truth, found)}))


def command_line(binary: str) -> dict[str, float]:
    """The compute part of the command line on the large labels."""
    labels, _ = drawn_labels(*LARGE[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "e.npy")
        np.save(path, labels)
        arguments = [binary, "consensus", path, "-k", "10", "--json", "-o", os.path.join(folder, "l.npy")]
        own = [json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout) for _ in range(RUNS)]
    return {"wall": statistics.median(run["seconds"] for run in own), "cpu": statistics.median(run["cpu_seconds"] for run in own)}


def main(binary: str) -> None:
    """All cases, medians of three runs taken in turn."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CASES}
    for _ in range(RUNS):
        for name in CASES:
            done = subprocess.run([sys.executable, __file__, "--case", name], capture_output=True, text=True, check=True)
            found[name].append(json.loads(done.stdout.splitlines()[-1]))
    print("# The Python package beside other ways\n")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}; other work ran on the")
    print(f"machine. Medians of {RUNS} runs, each in a process of its own, the ways in turn. Memory is what the call took beyond its data.\n")
    print("`python crates/partita-python/benchmarks/bench_python.py PATH/TO/partita`\n")
    print("| what | CPU s | wall s | MiB | ARI |\n|---|---|---|---|---|")
    for name, runs in found.items():
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        print(f"| {name} | {median['cpu']:.2f} | {median['wall']:.2f} | {median['mib']:.0f} | {median['ari']:.3f} |")
    own = command_line(binary)
    print(f"| 1,000,000 × 20 int8: `partita consensus`, its compute part | {own['cpu']:.2f} | {own['wall']:.2f} | | |")
    print("\nRaw numbers:\n\n```json")
    print(json.dumps(found, indent=1))
    print("```")


if __name__ == "__main__":
    case(sys.argv[2]) if sys.argv[1] == "--case" else main(sys.argv[1])
