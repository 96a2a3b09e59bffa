"""The peers of `cargo xtask bench evidence --peers`: what one does in Python today.

evidence.py CASE FILE OBJECTS [PAIRS]; FILE holds the labels of all objects, a byte each, 100 an object. Prints one line
of JSON: seconds of CPU and wall, peak bytes, and what shows that all contestants computed the same.
"""

import json
import sys
import time

import fastcluster
import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

BASES = 100
CLUSTERS = 10


def one_hot(labels, kind):
    """Objects x clusters of all base clusterings, sparse."""
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0).astype(np.int64) + 1)])
    columns = (labels + offsets[:-1]).ravel().astype(np.int32)
    starts = np.arange(0, columns.size + 1, labels.shape[1], dtype=np.int64)
    ones = np.ones(columns.size, dtype=kind)
    return sparse.csr_matrix((ones, columns, starts), shape=(labels.shape[0], offsets[-1]))


def gemm(labels):
    """All counts by a product of dense matrices in single precision."""
    dense = one_hot(labels, np.float32).toarray()
    return dense @ dense.T


def product(labels):
    """All counts by a product of sparse matrices, with the smallest counts and indices that SciPy takes."""
    ones = one_hot(labels, np.uint8)
    return ones @ ones.T


def condensed(labels):
    """1 - c/M for all pairs, a block of rows at a time so that the square matrix never exists."""
    dense = one_hot(labels, np.float32).toarray()
    n = len(dense)
    out = np.empty(n * (n - 1) // 2)
    place = 0
    for start in range(0, n, 1000):
        block = dense[start : start + 1000] @ dense[start:].T
        for row in range(len(block)):
            counts = block[row, row + 1 :]
            out[place : place + len(counts)] = 1 - counts / BASES
            place += len(counts)
    return out


def cut(tree):
    return np.bincount(fcluster(tree, CLUSTERS, "maxclust")).max()


def sampled(labels, pairs):
    """Counts of pairs drawn without replacement, as a symmetric sparse matrix."""
    n = len(labels)
    places = np.random.default_rng(1).choice(n * (n - 1) // 2, pairs, replace=False, shuffle=False)
    places.sort()
    left = np.floor((2 * n - 1 - np.sqrt((2.0 * n - 1) ** 2 - 8.0 * places)) / 2).astype(np.int64)
    first = left * (2 * n - left - 1) // 2
    left += (first + n - 1 - left <= places).astype(np.int64) - (first > places)
    right = places - left * (2 * n - left - 1) // 2 + left + 1
    counts = np.empty(pairs, dtype=np.uint16)
    for start in range(0, pairs, 100_000):
        part = slice(start, start + 100_000)
        counts[part] = (labels[left[part]] == labels[right[part]]).sum(axis=1)
    both = (np.concatenate([left, right]), np.concatenate([right, left]))
    return sparse.csr_matrix((np.concatenate([counts, counts]), both), shape=(n, n))


def run(case, labels, words):
    """Does the work and returns what shows that it was done, not measured."""
    if case == "gemm":
        counts = gemm(labels)
        return lambda: {"sum": (counts.sum(dtype=np.float64) - BASES * len(labels)) / 2}
    if case == "product":
        counts = product(labels)
        return lambda: {"sum": (float(counts.data.sum(dtype=np.int64)) - BASES * len(labels)) / 2}
    if case == "fastcluster":
        largest = cut(fastcluster.linkage(condensed(labels), "average", preserve_input=False))
        return lambda: {"largest": float(largest)}
    if case == "scipy":
        largest = cut(linkage(condensed(labels), "average"))
        return lambda: {"largest": float(largest)}
    if case == "pairs":
        matrix = sampled(labels, int(words[0]))
        return lambda: {"stored": float(matrix.nnz)}
    raise SystemExit(f"no case {case}")


def peak():
    with open("/proc/self/status") as status:
        return next(1024.0 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def main():
    case, file, objects = sys.argv[1], sys.argv[2], int(sys.argv[3])
    labels = np.fromfile(file, dtype=np.uint8, count=objects * BASES).reshape(objects, BASES)
    cpu, wall = time.process_time(), time.perf_counter()
    shown = run(case, labels, sys.argv[4:])
    figures = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "peak": peak()}
    print(json.dumps(figures | shown()))


main()
