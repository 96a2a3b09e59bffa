"""The package beside the command line and beside what people use in Python: wall and CPU seconds, peak memory, ARI.

    cargo xtask bench python

builds wheel and command line, installs the peers of ``peers/requirements.txt`` and runs this. Every case runs in a process of its own, all
cases in turn; ``--few`` takes fewer objects, ``--runs N`` another number of runs.
"""

from __future__ import annotations

import argparse
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

#: Peers are installed without what they ask for: ensembleclustering wants NumPy before 2 and scikit-learn before 1.1.
LOOSE = "ensembleclustering==1.0.2"


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


def ours(method: str | None) -> Callable[[Any, int], Any]:
    """partita.consensus with a method."""

    def work(labels: Any, k: int) -> Any:
        import partita as pt

        return pt.consensus(labels, k, method)

    return work


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
    """SciPy's average link on a co-association by a product of matrices."""
    from scipy.cluster.hierarchy import fcluster, linkage

    hot = one_hot(labels)
    together = (hot @ hot.T) / labels.shape[1]
    return fcluster(linkage(1 - together[np.triu_indices(len(hot), 1)], "average"), k, "maxclust")


def ensembleclustering(solver: str) -> Callable[[Any, int], Any]:
    """The package ensembleclustering with a solver."""

    def work(labels: Any, k: int) -> Any:
        # It reads this where it loads; the package wants rows of labels.
        from ensembleclustering import cluster_ensembles

        return cluster_ensembles(labels.T.astype(np.float64), nclass=k, solver=solver, random_state=0)

    return work


def ours_table(X: Any, k: int) -> Any:
    """100 runs of k-means and their consensus."""
    import partita as pt

    ensemble = pt.generate(X, "kmeans:100", base_k=k)
    return pt.consensus(ensemble, k)


def ours_spread(X: Any, k: int) -> Any:
    """The same with the usual numbers of base clusters."""
    import partita as pt

    return pt.consensus(pt.generate(X, "kmeans:100"), k)


def many_kmeans(X: Any, k: int) -> Any:
    """scikit-learn's KMeans(n_init=100)."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=100, random_state=0).fit_predict(X)


Case = tuple[str, str, Callable[[Any, int], Any]]
LABELS, FEW_LABELS, TABLE = "labels", "few labels", "table"
CASES: list[Case] = [
    (LABELS, "partita.consensus (lwgp)", ours(None)),
    (TABLE, "partita: 100 k-means with K clusters, lwgp", ours_table),
    (TABLE, "partita: 100 k-means with √n/2 to √n clusters, lwgp", ours_spread),
    (TABLE, "sklearn: KMeans(n_init=100)", many_kmeans),
    (FEW_LABELS, "partita.consensus (lwgp)", ours(None)),
    (FEW_LABELS, "partita.consensus (mm)", ours("mm")),
    (FEW_LABELS, "partita.consensus (hbgf)", ours("hbgf")),
    (FEW_LABELS, "partita.consensus (mcla)", ours("mcla")),
    (FEW_LABELS, "partita.consensus (eac-average)", ours("eac-average")),
    (FEW_LABELS, "one-hot, sklearn KMeans", hot_kmeans),
    (FEW_LABELS, "one-hot, SVD, sklearn KMeans", svd_kmeans),
    (FEW_LABELS, "GEMM co-association, SciPy average link", average_link),
    (FEW_LABELS, "ensembleclustering (nmf)", ensembleclustering("nmf")),
    (FEW_LABELS, "ensembleclustering (hbgf)", ensembleclustering("hbgf")),
    (FEW_LABELS, "ensembleclustering (mcla)", ensembleclustering("mcla")),
    (FEW_LABELS, "ensembleclustering (cspa)", ensembleclustering("cspa")),
]


def sizes(few: bool) -> dict[str, tuple[Any, tuple[int, int, int]]]:
    """How the data of every table are drawn: objects, columns, clusters."""
    part = 20 if few else 1
    return {
        LABELS: (drawn_labels, (1_000_000 // part, 20, 10)),
        TABLE: (drawn_table, (20_000 // part, 16, 10)),
        FEW_LABELS: (drawn_labels, (4_000 // min(part, 4), 20, 10)),
    }


def forget_peak() -> None:
    """What was held before, such as what data were drawn with, counts no more; where the system cannot forget, it does."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def peak() -> int:
    """The most bytes that this process has held since."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_case(at: int, few: bool) -> dict[str, Any]:
    """One case: what data and packages take is not counted."""
    from sklearn.metrics import adjusted_rand_score

    kind, _, work = CASES[at]
    draw, size = sizes(few)[kind]
    data, truth = draw(*size)
    # What is loaded late is loaded now.
    work(data[:200], 2)
    forget_peak()
    before, cpu, wall = peak(), time.process_time(), time.perf_counter()
    found = work(data, size[2])
    took: dict[str, Any] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak": peak() - before}
    if hasattr(found, "record_"):
        method = found.record_["methods"][0]
        took.update(method_wall=method["seconds"], method_cpu=method["cpu_seconds"])
        found = found.labels_
    if kind == LABELS:
        took["stated"] = stated(data, size[2])
    return {**took, "ari": float(adjusted_rand_score(truth, found))}


def stated(labels: Any, k: int) -> int:
    """Bytes that the method says it needs."""
    import partita as pt

    try:
        pt.consensus(labels, k, max_memory=1)
    except pt.BudgetError as error:
        return int(error.needed)
    raise AssertionError("one byte was enough")


def command_line(folder: str, few: bool) -> dict[str, Any]:
    """The same labels by the command line: what its record says of the method, and the whole but for reading."""
    path = os.path.join(folder, "labels.npy")
    if not os.path.exists(path):
        np.save(path, drawn_labels(*sizes(few)[LABELS][1])[0])
    binary = os.environ["PARTITA_BINARY"]
    arguments = [binary, "consensus", path, "-k", "10", "--quiet", "--json", "--force", "-o", os.path.join(folder, "found.npy")]
    begun = time.perf_counter()
    record = json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout)
    wall, method = time.perf_counter() - begun, record["methods"][0]
    return {"wall": wall - record["read"]["seconds"], "method_wall": method["seconds"], "method_cpu": method["cpu_seconds"]}


def child(at: int, few: bool) -> dict[str, Any]:
    """A case in a process of its own, or why it does not run."""
    flags = ["--case", str(at), *(["--few"] if few else [])]
    done = subprocess.run([sys.executable, __file__, *flags], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return {"failed": said[-1][:160]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def median(runs: list[dict[str, Any]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def table(kind: str, found: list[list[dict[str, Any]]], few: bool) -> None:
    """The cases of a kind, a line each."""
    n, width, k = sizes(few)[kind][1]
    what = f"a table of {n:,} × {width}" if kind == TABLE else f"{n:,} × {width} labels (int8)"
    print(f"\n{what}, {k} clusters")
    print(f"{'':54} {'wall s':>8} {'CPU s':>8} {'MiB':>7} {'ARI':>6}")
    for (own, name, _), runs in zip(CASES, found):
        if own != kind:
            continue
        if "failed" in runs[0]:
            print(f"{name:54} does not run: {runs[0]['failed']}")
            continue
        numbers = f"{median(runs, 'wall'):8.2f} {median(runs, 'cpu'):8.2f} {median(runs, 'peak') / 2**20:7.0f}"
        print(f"{name:54} {numbers} {median(runs, 'ari'):6.3f}")


def beside_the_command_line(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """The limits that the package is held to."""
    print(f"{'partita consensus, without reading':54} {median(theirs, 'wall'):8.2f}")
    method = median(ours, "method_wall"), median(theirs, "method_wall")
    print(f"the method alone: {method[0]:.2f} s in Python, {method[1]:.2f} s on the command line")
    share, bytes_share = median(ours, "wall") / median(theirs, "wall"), median(ours, "peak") / median(ours, "stated")
    print(f"wall of the call in Python / of the command without reading: {share:.3f} (at most 1.05)")
    print(f"peak beyond the array / stated bytes ({median(ours, 'stated') / 2**20:.0f} MiB): {bytes_share:.3f} (at most 1.15)")


def main(few: bool, count: int) -> None:
    """All cases, medians of runs taken in turn."""
    found: list[list[dict[str, Any]]] = [[] for _ in CASES]
    theirs: list[dict[str, Any]] = []
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", LOOSE]
    subprocess.run(pip, capture_output=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            theirs.append(command_line(folder, few))
            for at in range(len(CASES)):
                found[at].append(child(at, few))
    print(f"Python {platform.python_version()}, {LOOSE} without what it asks for; medians of {count} runs, cases in turn, each in a")
    print("process of its own; memory is what the call took beyond its data")
    table(LABELS, found, few)
    beside_the_command_line(found[0], theirs)
    table(TABLE, found, few)
    table(FEW_LABELS, found, few)
    print("\nruns, one line a case")
    for name, runs in [("command line", theirs), *((f"{kind}: {name}", runs) for (kind, name, _), runs in zip(CASES, found))]:
        rounded = [{key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()} for run in runs]
        print(f"{name}: {json.dumps(rounded)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="fewer objects, to try it")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--case", type=int, help="one case, as JSON")
    given = parser.parse_args()
    if given.case is None:
        main(given.few, given.runs)
    else:
        print(json.dumps(run_case(given.case, given.few)))
