"""Several methods over one ensemble, and what the ensemble says of labels of one's own."""

from __future__ import annotations

import numpy as np

import partita as pt

truth = np.arange(60) % 3
rng = np.random.default_rng(0)
labels = [np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), truth) for _ in range(9)]
ensemble = pt.Ensemble(labels, objects=[f"cell{at}" for at in range(60)])

results = pt.consensus(ensemble, 3, ["lwgp", "mm"], random_state=1)
for name, result in results.items():
    print(name, result.n_clusters, round(float(result.agreement_.mean()), 3))
tuned = pt.consensus(ensemble, 3, method={"lwgp": {}, "mm": {"restarts": 3}})
assert tuned["mm"].settings["restarts"] == 3 and tuned.first.method == "lwgp"

drawn = {f"cell{at}": int(truth[at]) for at in reversed(range(60))}
agreement: float = pt.metrics.anmi(drawn, ensemble, base_weights="agreement")
assert agreement > 0.3 and pt.metrics.object_agreement(drawn, ensemble).shape == (60,)
