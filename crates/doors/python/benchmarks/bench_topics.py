"""How far clusters of several seeds agree: StableClusters beside k-means and HDBSCAN of scikit-learn.

    cargo xtask bench topics

Data sets are read from the folder that ``PARTITA_DATASETS`` names. ``--seeds N`` takes seeds 0 to N-1.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize, scale

import partita as pt

#: Every second data set by the alphabet: the least agreement of an object that is no noise was chosen on the first four.
DECIDING = ["drawn", "letter-recognition", "optdigits", "segment"]
REPORTING = ["isolet", "mini-newsgroups", "pendigits", "webkb"]

#: Objects of a data set, at most.
MOST = 2000

LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]


def drawn() -> tuple[Any, Any]:
    """30 clusters on a sphere in 64 columns, and 15 % of the objects in none."""
    rng = np.random.default_rng(0)
    centres, truth = rng.normal(size=(30, 64)), rng.integers(30, size=MOST)
    X = centres[truth] + 1.3 * rng.normal(size=(MOST, 64))
    outside = rng.random(MOST) < 0.15
    X[outside] = 1.6 * rng.normal(size=(int(outside.sum()), 64))
    return normalize(X), np.where(outside, -1, truth)


def documents(path: Path) -> tuple[Any, Any]:
    """Weighted words of documents in 100 directions of their singular value decomposition, of length 1."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = pt.text([row["text"] for row in rows])
    return normalize(TruncatedSVD(100, random_state=0).fit_transform(words.X)), np.array([row["label"] for row in rows])


def data(name: str) -> tuple[Any, Any]:
    """Embeddings, and the classes of people."""
    if name == "drawn":
        return drawn()
    folder = Path(os.environ["PARTITA_DATASETS"])
    path = next(file for file in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if file.exists())
    if name in ("mini-newsgroups", "webkb"):
        return documents(path)
    table = pt.read_table(path, truth="label", skip=["split"] if "digits" in name else ())
    X, truth = np.asarray(table.X), np.asarray(table.truth)
    rows = np.random.default_rng(1).permutation(len(X))[:MOST]
    return (scale(X[rows]) if name == "segment" else X[rows]), truth[rows]


def agreement(labels: list[Any], least: int = -1) -> float:
    """Mean adjusted Rand index of two runs over the objects whose labels are at least so in both."""
    pairs = [(a, b, (a >= least) & (b >= least)) for a, b in combinations(labels, 2)]
    return float(np.mean([adjusted_rand_score(a[both], b[both]) for a, b, both in pairs]))


def line(name: str, runs: list[Any], truth: Any) -> None:
    numbers = [len(set(run) - {-1}) for run in runs]
    noise = np.mean([(run < 0).mean() for run in runs])
    right = np.mean([adjusted_rand_score(truth, run) for run in runs])
    both = agreement(runs, 0)
    print(f"  {name:<34} {min(numbers):>3} to {max(numbers):<3} {agreement(runs):>6.3f} {both:>6.3f} {noise:>6.3f} {right:>6.3f}", flush=True)


def measure(name: str, seeds: range) -> None:
    """Prints the lines of a data set; the last has the agreement of objects that two runs label, by the least agreement that labels need."""
    X, truth = data(name)
    k = len(set(truth) - {-1})
    print(f"{name}: {X.shape[0]} × {X.shape[1]}, {k} classes")
    line("sklearn KMeans(n_init=1)", [KMeans(k, n_init=1, random_state=seed).fit_predict(X) for seed in seeds], truth)
    line("sklearn KMeans(n_init=10)", [KMeans(k, n_init=10, random_state=seed).fit_predict(X) for seed in seeds], truth)
    line("sklearn HDBSCAN(10), has no seed", [HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X)] * 2, truth)
    found = [pt.StableClusters(k, random_state=seed).fit(X) for seed in seeds]
    line("StableClusters(K)", [one.labels_ for one in found], truth)
    line("StableClusters(K, min_agreement=0)", [one.result_.labels_ for one in found], truth)
    line('StableClusters("method")', [pt.StableClusters(random_state=seed).fit(X).labels_ for seed in seeds[:5]], truth)
    levels = [[np.where(one.agreement_ >= level, one.result_.labels_, -1) for one in found] for level in LEVELS]
    print("  sure by min_agreement: " + "  ".join(f"{level} {agreement(runs, 0):.3f}" for level, runs in zip(LEVELS, levels)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=DECIDING + REPORTING)
    given = parser.parse_args()
    print(f"{f'seeds 0 to {given.seeds - 1}':<36} {'clusters':<10} {'ARI':>6} {'sure':>6} {'noise':>6} {'truth':>6}")
    for name in given.only:
        measure(name, range(given.seeds))


if __name__ == "__main__":
    main()
