"""k-means on one-hot labels by other people's programs: python median.py PEER CASE_FOLDER.

CASE_FOLDER holds labels.bin (n x M bytes, every label there), truth.bin (n bytes) and case.json: objects, bases, clusters.
The last line printed is JSON: cpu and wall seconds of the fit (reading and making the sparse matrix not counted), peak bytes, the
sum of squares about the cluster means, ARI; means over three seeds, of mini-batches of one.
"""

import json
import os
import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
import threadpoolctl

peer, folder = sys.argv[1:3]
threadpoolctl.threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
with open(f"{folder}/case.json") as file:
    case = json.load(file)
n, bases, clusters = case["objects"], case["bases"], case["clusters"]
labels = np.fromfile(f"{folder}/labels.bin", dtype=np.uint8).reshape(n, bases)
truth = np.fromfile(f"{folder}/truth.bin", dtype=np.uint8)
widths = labels.max(axis=0).astype(np.int32) + 1
offsets = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int32)
codes = (labels.astype(np.int32) + offsets).ravel()
starts = np.arange(0, n * bases + 1, bases, dtype=np.int32)
rows = csr_matrix((np.ones(n * bases, dtype=np.float32), codes, starts), shape=(n, int(widths.sum())))
del labels, codes



def measured(seed):
    """CPU and wall seconds of one fit, the sum of squares that it reaches, ARI."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = {"kmeans": KMeans, "minibatch": MiniBatchKMeans}[peer](clusters, random_state=seed).fit_predict(rows)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    squares = float(n * bases)
    for k in range(clusters):
        members = rows[found == k]
        if members.shape[0]:
            counts = np.asarray(members.sum(axis=0), dtype=np.float64)
            squares -= float((counts**2).sum()) / members.shape[0]
    return cpu, wall, squares, adjusted_rand_score(truth, found)


runs = [measured(seed) for seed in range(3 if peer == "kmeans" else 1)]
cpu, wall, squares, ari = np.mean(runs, axis=0)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak, "squares": squares, "ari": ari}))
