"""The same k-means runs by other people's programs: python generate.py PEER CASE_FOLDER.

CASE_FOLDER holds table.npy (n x d) and runs.json: a list of {"centres": [row, ...], "objects": [row, ...] or
null}; the centres are rows of the table. The last line printed is JSON: cpu and wall seconds, peak bytes, mean inertia.
"""

import json
import os
import resource
import sys
import time

import numpy as np

peer, folder = sys.argv[1:3]
threads = int(os.environ["OMP_NUM_THREADS"])
table = np.load(f"{folder}/table.npy").astype(np.float32)
with open(f"{folder}/runs.json") as file:
    runs = json.load(file)
if peer == "scikit-learn":
    from sklearn.cluster import KMeans
    import threadpoolctl

    threadpoolctl.threadpool_limits(threads)

    def fit(rows, centres):
        return KMeans(len(centres), init=centres, n_init=1, algorithm="lloyd").fit(rows).inertia_

else:
    import faiss

    faiss.omp_set_num_threads(threads)

    def fit(rows, centres):
        # 25 rounds, its default; all rows are used.
        k, d = centres.shape
        run = faiss.Kmeans(d, k, niter=25, max_points_per_centroid=len(rows), min_points_per_centroid=1)
        run.train(rows, init_centroids=centres)
        return float(run.index.search(rows, 1)[0].sum())


cpu, wall = time.process_time(), time.perf_counter()
inertia = []
for run in runs:
    rows = table if run["objects"] is None else table[run["objects"]]
    inertia.append(fit(rows, table[run["centres"]]))
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak, "inertia": float(np.mean(inertia))}))
