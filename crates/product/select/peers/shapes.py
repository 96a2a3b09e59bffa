"""Clusterings of scikit-learn and genieclust: reads `file k` lines, prints `file|algorithm|labels` lines.

Algorithms that are given the true number of clusters end in `known`, those that choose it themselves in `open`.
"""

import sys
import warnings

import genieclust
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")


def known(table, k):
    yield "k-means", KMeans(k, n_init=10, random_state=0).fit_predict(table)
    yield "Gaussian mixture", GaussianMixture(k, n_init=3, random_state=0).fit_predict(table)
    for linkage in ("ward", "average", "single"):
        yield linkage, AgglomerativeClustering(k, linkage=linkage).fit_predict(table)
    yield "Genie", genieclust.Genie(n_clusters=k).fit_predict(table)


def unknown(table, most):
    found = [KMeans(k, n_init=5, random_state=0).fit_predict(table) for k in range(2, most + 1)]
    yield "k-means, silhouette", max(found, key=lambda labels: silhouette_score(table, labels))
    models = [GaussianMixture(k, random_state=0).fit(table) for k in range(1, most + 1)]
    yield "Gaussian mixture, BIC", min(models, key=lambda model: model.bic(table)).predict(table)
    yield "HDBSCAN", HDBSCAN(min_cluster_size=max(5, len(table) // 50)).fit_predict(table)


def main():
    for line in sys.stdin:
        file, k = line.split()
        table = np.loadtxt(file, delimiter=",", ndmin=2)
        k = int(k)
        answers = [(f"{name}|known", labels) for name, labels in known(table, k)] if k > 1 else []
        answers += [(f"{name}|open", labels) for name, labels in unknown(table, 12)]
        for name, labels in answers:
            print(f"{file}|{name}|{' '.join(map(str, labels))}", flush=True)


main()
