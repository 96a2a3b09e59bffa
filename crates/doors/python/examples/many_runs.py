"""Many runs of one program: one answer or several, and the same columns for all."""

import numpy as np

import partita as pt

table = pt.synth("gaussians", 300, random_state=1, clusters=3)
ensemble = pt.generate(table.X, "kmeans:20", base_k=range(2, 5), random_state=0)
found = pt.modes(ensemble)
print(found)
print("objects on which the answers differ most:", np.argsort(-found.disagreement_)[:5].tolist())

assert table.probabilities is not None
noise = np.random.default_rng(0)
runs = {f"seed {seed}": table.probabilities[:, noise.permutation(3)] for seed in range(4)}
aligned = pt.align({**runs, "labels": pt.consensus(ensemble, 3).labels_})
print(aligned)
soft = pt.consensus(aligned.ensemble(), 3, "soft-mean")
print("agreement with the truth:", round(pt.metrics.adjusted_rand(soft.labels_, table.y), 3))

first, later = ensemble.to_numpy()[:, :15], ensemble.to_numpy()[:, 15:]
names = ensemble.names
grown = pt.update(pt.Ensemble(first, names=names[:15]), pt.Ensemble(later, names=names[15:]), warm_start=soft)
print(grown)
