"""Labels of several tools in a table: which clustering do they agree on, and where do they not?"""

import numpy as np

import partita as pt

rng = np.random.default_rng(0)
truth = np.repeat(["B", "NK", "T"], 50)
tools = {}
for tool in ["leiden", "louvain", "sc3", "seurat"]:
    labels = truth.astype(object).copy()
    labels[rng.choice(150, 20, replace=False)] = rng.choice(["B", "NK", "T"], 20)
    labels[rng.choice(150, 5, replace=False)] = None
    tools[tool] = labels

ensemble = pt.Ensemble(tools)
result = pt.consensus(ensemble, n_clusters="auto", random_state=0)
print(ensemble)
print(result)
print("agreement with the truth:", round(pt.metrics.adjusted_rand(result.labels_, truth), 3))
doubtful = np.argsort(result.agreement_)[:5]
print("look at objects", doubtful.tolist(), "first")
