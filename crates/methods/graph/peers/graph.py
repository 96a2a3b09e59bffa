"""Consensus by other people's programs: python graph.py PEER CASE_FOLDER.

CASE_FOLDER holds labels.bin (n x M bytes, 255 = missing), truth.bin (n bytes) and case.json: objects, bases, clusters.
The last line printed is JSON: cpu and wall seconds of the consensus (reading not counted), peak bytes, ARI.
"""

import json
import os
import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score
import pymetis
import threadpoolctl

peer, folder = sys.argv[1:3]
threadpoolctl.threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
with open(f"{folder}/case.json") as file:
    case = json.load(file)
n, bases, clusters = case["objects"], case["bases"], case["clusters"]
labels = np.fromfile(f"{folder}/labels.bin", dtype=np.uint8).reshape(n, bases)
truth = np.fromfile(f"{folder}/truth.bin", dtype=np.uint8)


def base_clusters():
    """For every label that is there: its object's row boundaries, and the base cluster."""
    widths = np.array([int(column[column < 255].max()) + 1 for column in labels.T])
    offsets = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int32)
    there = labels < 255
    starts = np.concatenate([[0], np.cumsum(there.sum(1))]).astype(np.int32)
    return (labels.astype(np.int32) + offsets)[there], starts, int(widths.sum())


def svd():
    """One-hot rows, their leading singular vectors, k-means; all at scikit-learn's defaults."""
    codes, starts, side = base_clusters()
    rows = csr_matrix((np.ones(len(codes), dtype=np.float32), codes, starts), shape=(n, side))
    embedded = TruncatedSVD(clusters, random_state=0).fit_transform(rows)
    return KMeans(clusters, random_state=0).fit_predict(embedded)


def metis():
    """The graph of objects and base clusters cut by METIS (HBGF), at pymetis' defaults."""
    codes, starts, side = base_clusters()
    back = csr_matrix((np.ones(len(codes), dtype=np.int8), codes, starts), shape=(n, side)).T.tocsr()
    ends = np.concatenate([codes + n, back.indices])
    return pymetis.part_graph(clusters, pymetis.CSRAdjacency(np.concatenate([starts, back.indptr[1:] + len(codes)]), ends))[1][:n]


cpu, wall = time.process_time(), time.perf_counter()
found = {"svd": svd, "metis": metis}[peer]()
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak, "ari": adjusted_rand_score(truth, found)}))
