"""k-means-based consensus clustering as its formulas say, without moves of single rows: python plain_kcc.py POOLS POOL UTILITY DRAWS.

POOLS is a folder with the .mat files of published base clusterings, POOL one of them, UTILITY cos or normalised-h. Prints NMI (by the
larger entropy) of every draw of 20 base clusterings, the best of ten initializations by k-means++, and the mean with its standard error.
"""

import sys

import numpy as np
from scipy.io import loadmat

ROUNDS, STARTS = 100, 10


def one_hot(labels):
    return np.unique(labels, return_inverse=True)[1][:, None] == np.arange(len(np.unique(labels)))


def entropy(shares):
    return -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))


def nmi(a, b):
    joint = one_hot(a).T.astype(float) @ one_hot(b) / len(a)
    rows, columns = entropy(joint.sum(1)), entropy(joint.sum(0))
    return (rows + columns - entropy(joint)) / max(rows, columns)


def plus_plus(z, clusters, random):
    chosen = [random.integers(len(z))]
    away = z.sum(1) - z @ z[chosen[0]]
    while len(chosen) < clusters:
        chosen.append(random.choice(len(z), p=away / away.sum()))
        away = np.minimum(away, z.sum(1) - z @ z[chosen[-1]])
    return z[chosen]


def gains(means, blocks, utility, weights):
    """What every label adds to the score of every cluster."""
    if utility == "normalised-h":
        return np.hstack([weight * np.log(np.maximum(means[:, block], 1e-9)) for block, weight in zip(blocks, weights)])
    length = [np.maximum(np.linalg.norm(means[:, block], axis=1, keepdims=True), 1e-300) for block in blocks]
    return np.hstack([means[:, block] / norm for block, norm in zip(blocks, length)])


def worth(means, block, utility):
    if utility == "normalised-h":
        return np.array([-entropy(mean[block]) for mean in means])
    return np.linalg.norm(means[:, block], axis=1)


def run(z, blocks, weights, clusters, utility, random):
    means, labels = plus_plus(z, clusters, random), None
    for _ in range(ROUNDS):
        scores = z @ gains(means, blocks, utility, weights).T
        before, labels = labels, scores.argmax(1)
        for empty in set(range(clusters)) - set(labels):
            labels[scores.max(1).argmin()] = empty
        if before is not None and (before == labels).all():
            break
        member = labels[:, None] == np.arange(clusters)
        means = member.T.astype(float) @ z / np.maximum(member.sum(0), 1)[:, None]
    shares = np.bincount(labels, minlength=clusters) / len(z)
    return sum(w * (shares @ worth(means, block, utility)) for block, w in zip(blocks, weights)), labels


folder, pool, utility, draws = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
data = loadmat(f"{folder}/{pool}.mat")
members, truth = data["members"], data["gt"].ravel()
found = []
for draw in range(draws):
    random = np.random.default_rng(draw)
    chosen = members[:, random.choice(members.shape[1], 20, replace=False)]
    parts = [one_hot(column).astype(float) for column in chosen.T]
    ends = np.cumsum([0] + [part.shape[1] for part in parts])
    blocks = [slice(start, end) for start, end in zip(ends, ends[1:])]
    weights = [1 / entropy(part.mean(0)) if utility == "normalised-h" else 1.0 for part in parts]
    runs = [run(np.hstack(parts), blocks, weights, len(set(truth)), utility, random) for _ in range(STARTS)]
    found.append(nmi(max(runs, key=lambda result: result[0])[1], truth))
print(" ".join(f"{value:.3f}" for value in found))
print(f"{pool} {utility}: NMI {np.mean(found):.4f} ± {np.std(found, ddof=1) / draws**0.5:.4f} over {draws} draws")
