"""The estimator in a pipeline, and the number of clusters by stability."""

from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partita as pt

wine = Path(__file__).parents[4] / "datasets" / "wine.csv"
with open(wine, encoding="utf-8") as file:
    names = file.readline().strip().split(",")
columns = [at for at, name in enumerate(names) if name != "label"]
X = np.loadtxt(wine, delimiter=",", skiprows=1, usecols=columns)
truth = np.loadtxt(wine, delimiter=",", skiprows=1, usecols=names.index("label"), dtype=str)

pipeline = make_pipeline(StandardScaler(), pt.ConsensusClustering(3, base="kmeans:30", base_k=range(3, 9)))
labels = pipeline.fit_predict(X)
print("ARI", round(pt.metrics.adjusted_rand(labels, truth), 3))

search = GridSearchCV(pipeline, {"consensusclustering__n_clusters": [2, 3, 5]}, scoring=pt.metrics.stability, cv=2)
print("most stable:", search.fit(X).best_params_)
