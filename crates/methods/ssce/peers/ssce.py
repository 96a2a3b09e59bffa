"""Untied classifiers of all base clusterings by scikit-learn: python ssce.py CASE_FOLDER.

CASE_FOLDER holds table.bin (n x d doubles), labels.bin (n x M bytes under common names, every label there), truth.bin (n bytes) and
case.json: objects, columns, bases, clusters. The last line printed is JSON: cpu and wall seconds of scaling and of all fits, peak
bytes, h: the share of objects under the best matching of the plurality of all predictions.
"""

import json
import os
import resource
import sys
import time

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
import threadpoolctl

folder = sys.argv[1]
threadpoolctl.threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))
with open(f"{folder}/case.json") as file:
    case = json.load(file)
n, bases, clusters = case["objects"], case["bases"], case["clusters"]
table = np.fromfile(f"{folder}/table.bin", dtype="<f8").reshape(n, case["columns"])
labels = np.fromfile(f"{folder}/labels.bin", dtype=np.uint8).reshape(n, bases)
truth = np.fromfile(f"{folder}/truth.bin", dtype=np.uint8)

cpu, wall = time.process_time(), time.perf_counter()
spread = table.std(axis=0)
x = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1)
# Its penalty is |w|^2 / (2 C).
models = [LogisticRegression(C=0.5, max_iter=1000).fit(x, labels[:, u]) for u in range(bases)]
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall

votes = np.zeros((n, clusters))
for model in models:
    votes[np.arange(n), model.predict(x)] += 1
counts = np.zeros((clusters, clusters))
np.add.at(counts, (votes.argmax(axis=1), truth), 1)
rows, columns = linear_sum_assignment(-counts)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak, "h": counts[rows, columns].sum() / n}))
