"""Methods of consensus as their formulas say, without care for cost: python plain_pools.py POOLS POOL METHOD < DRAWS.

POOLS is a folder with the .mat files of published base clusterings, POOL one of them, DRAWS what the example `pools` prints for
`METHOD 20 DRAWS POOL [name=value]... each`: the base clusterings of every draw and the NMI that the library finds. Prints NMI (by the larger
entropy) of both, and the difference on the same draws with its standard error. Every search is the best of ten initializations.
"""

import sys

import numpy as np
from scipy.cluster.hierarchy import average, fcluster
from scipy.io import loadmat
from scipy.spatial.distance import squareform

ROUNDS, STARTS, STEPS, THETA = 100, 10, 20, 0.4


def one_hot(labels):
    return (np.unique(labels, return_inverse=True)[1][:, None] == np.arange(len(np.unique(labels)))).astype(float)


def entropy(shares):
    return -np.sum(shares[shares > 0] * np.log2(shares[shares > 0]))


def nmi(a, b):
    joint = one_hot(a).T @ one_hot(b) / len(a)
    rows, columns = entropy(joint.sum(1)), entropy(joint.sum(0))
    return (rows + columns - entropy(joint)) / max(rows, columns)


def unit_rows(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)


# k-means


def plus_plus(x, weights, clusters, random):
    chosen, away = [], np.ones(len(x))
    while len(chosen) < clusters:
        chosen.append(random.choice(len(x), p=away * weights / (away @ weights)))
        to_last = ((x - x[chosen[-1]]) ** 2).sum(1)
        away = to_last if len(chosen) == 1 else np.minimum(away, to_last)
    return x[chosen]


def lloyd(x, weights, clusters, random):
    centres, labels = plus_plus(x, weights, clusters, random), None
    for _ in range(ROUNDS):
        away = (x**2).sum(1)[:, None] - 2 * x @ centres.T + (centres**2).sum(1)
        before, labels = labels, away.argmin(1)
        for empty in set(range(clusters)) - set(labels):
            labels[away.min(1).argmax()] = empty
        if before is not None and (before == labels).all():
            break
        member = (labels[:, None] == np.arange(clusters)) * weights[:, None]
        centres = member.T @ x / np.maximum(member.sum(0), 1e-300)[:, None]
    return weights @ ((x - centres[labels]) ** 2).sum(1), labels


def kmeans(x, clusters, random, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    return min((lloyd(x, weights, clusters, random) for _ in range(STARTS)), key=lambda run: run[0])[1]


# k-means-based consensus clustering


def kcc(gain, worth, weight):
    def method(parts, clusters, random):
        z, weights = np.hstack(parts), [weight(part.mean(0)) for part in parts]
        blocks = np.split(np.arange(z.shape[1]), np.cumsum([part.shape[1] for part in parts])[:-1])

        def run():
            means, labels = plus_plus(z, np.ones(len(z)), clusters, random), None
            for _ in range(ROUNDS):
                scores = z @ np.hstack([w * gain(means[:, block]) for block, w in zip(blocks, weights)]).T
                before, labels = labels, scores.argmax(1)
                for empty in set(range(clusters)) - set(labels):
                    labels[scores.max(1).argmin()] = empty
                if before is not None and (before == labels).all():
                    break
                member = (labels[:, None] == np.arange(clusters)).astype(float)
                means = member.T @ z / np.maximum(member.sum(0), 1)[:, None]
            shares = np.bincount(labels, minlength=clusters) / len(z)
            return sum(w * (shares @ worth(means[:, block])) for block, w in zip(blocks, weights)), labels

        return max((run() for _ in range(STARTS)), key=lambda run: run[0])[1]

    return method


KCC_H = kcc(
    lambda means: np.log2(np.maximum(means, 1e-9)),
    lambda means: -np.apply_along_axis(entropy, 1, means),
    lambda shares: 1 / entropy(shares),
)
KCC_COS = kcc(unit_rows, lambda means: np.linalg.norm(means, axis=1), lambda shares: 1.0)


def sec(parts, clusters, random):
    z = np.hstack(parts)
    degrees = z @ z.sum(0)
    return kmeans(z / degrees[:, None], clusters, random, degrees)


# Cuts of graphs and trees


def leading(matrix, count):
    return np.linalg.eigh(matrix)[1][:, -count:]


def lwgp(parts, clusters, random, normalised=False):
    z = np.hstack(parts)
    shares = (z.T @ z) / z.sum(0)[:, None]
    uncertain = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(1)
    if normalised:
        uncertain /= np.concatenate([np.full(part.shape[1], np.log2(part.shape[1])) for part in parts])
    edges = z * np.exp(-uncertain / (THETA * len(parts)))
    walk = edges / edges.sum(1, keepdims=True)
    graph = edges.T @ walk
    root = graph.sum(1) ** -0.5
    vectors = leading(root[:, None] * graph * root, clusters)
    return kmeans(unit_rows(walk @ (root[:, None] * vectors)), clusters, random)


def normalised_lwgp(parts, clusters, random):
    return lwgp(parts, clusters, random, normalised=True)


def walked(z):
    """Cosines of the walks from all base clusters, and 1 on the diagonal."""
    both, sizes = z.T @ z, z.sum(0)
    jaccard = both / (sizes[:, None] + sizes - both)
    np.fill_diagonal(jaccard, 0)
    step = jaccard / np.maximum(jaccard.sum(1, keepdims=True), 1e-300)
    power, inner = np.eye(len(step)), np.zeros_like(step)
    for _ in range(STEPS):
        power = power @ step
        inner += power @ power.T
    length = np.maximum(np.sqrt(np.diag(inner)), 1e-300)
    similar = inner / length[:, None] / length
    np.fill_diagonal(similar, 1)
    return similar


def ecpcs_mc(parts, clusters, random):
    z = np.hstack(parts)
    similar = walked(z)
    root = similar.sum(1) ** -0.5
    meta = kmeans(unit_rows(leading(root[:, None] * similar * root, clusters)), clusters, random)
    member = meta[:, None] == np.arange(clusters)
    return (z @ member / np.maximum(member.sum(0), 1)).argmax(1)


def ecpcs_hc(parts, clusters, random):
    clusters_alike, similar, start = walked(np.hstack(parts)), 0, 0
    for part in parts:
        own = slice(start, start := start + part.shape[1])
        similar = similar + part @ clusters_alike[own, own] @ part.T / len(parts)
    return fcluster(average(squareform(np.maximum(1 - similar, 0), checks=False)), clusters, "maxclust")


# Soft means


def soft_mean(parts, clusters, random):
    """Base clusters go to the column that they have most of; begins with the cut of lwgp."""
    rows, before = one_hot(lwgp(parts, clusters, random)), None
    for _ in range(ROUNDS):
        matched = [part @ np.eye(rows.shape[1])[(rows.T @ part).argmax(0)] for part in parts]
        rows = sum(matched) / len(parts)
        loss = sum(((rows - part) ** 2).sum() for part in matched)
        if before is not None and before - loss <= 1.5e-8 * before:
            break
        before = loss
    return rows.argmax(1)


METHODS = {
    "kcc-normalised-h": KCC_H,
    "kcc-cos": KCC_COS,
    "sec": sec,
    "lwgp": lwgp,
    "normalised-lwgp": normalised_lwgp,
    "ecpcs-mc": ecpcs_mc,
    "ecpcs-hc": ecpcs_hc,
    "soft-mean": soft_mean,
}


def main(folder, pool, method):
    data = loadmat(f"{folder}/{pool}.mat")
    members, truth = data["members"], data["gt"].ravel()
    ours, plain = [], []
    for words in (line.split() for line in sys.stdin if line.startswith("draw")):
        parts = [one_hot(members[:, int(base)]) for base in words[words.index("bases") + 1 :]]
        random = np.random.default_rng(int(words[1]))
        ours.append(float(words[3]))
        plain.append(nmi(METHODS[method](parts, len(set(truth)), random), truth))

    def mean(values):
        return f"{np.mean(values):+.4f} ± {np.std(values, ddof=1) / len(values)**0.5:.4f}"

    print("first six draws, plain:", " ".join(f"{value:.3f}" for value in plain[:6]))
    ours, plain = np.array(ours), np.array(plain)
    print(f"{pool} {method}: NMI plain {mean(plain)[1:]}, ours {mean(ours)[1:]}, ours − plain {mean(ours - plain)} over {len(ours)} draws")


if __name__ == "__main__":
    main(*sys.argv[1:])
