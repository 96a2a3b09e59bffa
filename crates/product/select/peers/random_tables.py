"""Tables drawn at random, with and without clusters: `random_tables.py FOLDER SEED COUNT`, then `cargo xtask bench shapes -- tables FOLDER`.

Of six tables two have no clusters, the others have those of the kinds of `KINDS` in turn. One CSV a table without a header, the cluster in the last
column, -1 where an object belongs to none. Needs NumPy.
"""

import sys
from pathlib import Path

import numpy as np

rng = np.random.default_rng(int(sys.argv[2]))


def rotation(d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def sizes(clusters, objects):
    """Equal ones, or such as a Dirichlet distribution draws, of at least ten objects."""
    shares = np.full(clusters, 1 / clusters)
    if rng.random() < 0.5:
        shares = np.maximum(rng.dirichlet(np.full(clusters, rng.choice([1.5, 3, 6]))), 12 / objects)
    return np.maximum((shares / shares.sum() * objects).astype(int), 10)


def centres(clusters, d, apart):
    """Points of a box that are at least so far apart."""
    side = apart * max(1.0, clusters ** (1 / d)) * rng.uniform(0.8, 1.6)
    found = []
    for tried in range(1, 100_000):
        point = rng.uniform(0, side, d)
        if all(np.linalg.norm(point - other) >= apart for other in found):
            found.append(point)
        if len(found) == clusters:
            break
        if tried % 400 == 0:
            side *= 1.1
    return np.array(found)


def joined(parts):
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def gaussians():
    d, clusters = int(rng.choice([2, 2, 2, 3, 4, 5, 6, 8, 10])), int(rng.integers(2, 11))
    middle = centres(clusters, d, rng.uniform(2.5, 7) * np.sqrt(1 + 0.1 * d))
    long, tails, parts = rng.random() < 2 / 3, rng.choice(["normal"] * 3 + ["t", "box", "exponential"]), []
    for centre, size in zip(middle, sizes(clusters, objects())):
        shape = (size, d)
        x = {
            "normal": lambda: rng.normal(size=shape),
            "t": lambda: rng.standard_t(4, size=shape) / 1.4,
            "box": lambda: rng.uniform(-1.7, 1.7, size=shape),
            "exponential": lambda: rng.exponential(size=shape) - 1,
        }[tails]()
        x = x * (np.exp(rng.uniform(-1, 0.6, d)) if long else 1) @ rotation(d).T
        parts.append(centre + x * (np.exp(rng.uniform(-0.7, 0.4)) if rng.random() < 0.5 else 1))
    return joined(parts)


def objects():
    return int(rng.integers(150, 301))


def many_columns():
    d, clusters = int(rng.choice([8, 16, 32, 64])), int(rng.integers(2, 7))
    middle = rng.normal(size=(clusters, d)) * rng.uniform(2.5, 6) / np.sqrt(2 * d)
    if rng.random() < 0.4:
        few = max(2, d // 8)
        middle[:, few:] = 0
        middle *= np.sqrt(d / few)
    spread = lambda: np.exp(rng.uniform(-0.3, 0.3))
    return joined([c + rng.normal(size=(n, d)) * spread() for c, n in zip(middle, sizes(clusters, objects()))])


def overlap():
    d, clusters = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    middle, spread = centres(clusters, d, rng.uniform(2.2, 3.5)), lambda: np.exp(rng.uniform(-0.3, 0.3))
    return joined([c + rng.normal(size=(n, d)) * spread() for c, n in zip(middle, sizes(clusters, objects()))])


def unequal():
    d, all_of_them, small = int(rng.integers(2, 6)), objects(), int(rng.integers(10, 40))
    away = np.r_[rng.uniform(2.8, 5), np.zeros(d - 1)]
    return joined([rng.normal(size=(all_of_them - small, d)), rng.normal(size=(small, d)) * rng.uniform(0.2, 0.6) + away])


def density():
    clusters, scale = int(rng.integers(2, 4)), rng.uniform(0.8, 1.3)
    middle, spread = np.array([[0, 0], [3.0, 0], [0, 3.0]]) * scale, [0.1, 0.5, 1.0]
    of = zip(middle, spread, sizes(clusters, objects()))
    return joined([c + rng.normal(size=(n, 2)) * s * rng.uniform(0.7, 1.2) for c, s, n in of])


def spirals():
    arms, noise, turns, parts = int(rng.integers(2, 6)), rng.uniform(0.02, 0.15), rng.uniform(0.7, 1.6), []
    size = objects() // arms
    for arm in range(arms):
        t = np.sqrt(rng.uniform(0.03, 1, size)) * 2 * np.pi * turns
        angle = t + 2 * np.pi * arm / arms
        parts.append(np.c_[t * np.cos(angle), t * np.sin(angle)] / 2 + rng.normal(size=(size, 2)) * noise)
    return joined(parts)


def curves():
    clusters, kind, noise, parts = int(rng.integers(2, 5)), rng.integers(0, 4), rng.uniform(0.02, 0.12), []
    size = objects() // clusters
    for k in range(clusters):
        t = rng.uniform(0, 1, size)
        a, s = np.pi * (0.1 + 1.3 * t), 4 * np.pi * t
        x = [
            lambda: np.c_[t * 4, np.sin(4 * t) + k * rng.uniform(0.45, 0.7)],
            lambda: np.c_[(1 + k * 0.5) * np.cos(a), (1 + k * 0.5) * np.sin(a)],
            lambda: np.c_[np.cos(s + 2 * np.pi * k / clusters), np.sin(s + 2 * np.pi * k / clusters), s / 3],
            lambda: np.c_[t * 4, np.full(size, k * 0.5), rng.uniform(0, 1.5, size)],
        ][kind]()
        parts.append(x + rng.normal(size=x.shape) * noise)
    return joined(parts)


def background():
    x, labels = [gaussians, curves, spirals, density][rng.integers(0, 4)]()
    noise = rng.uniform(x.min(0), x.max(0), (int(len(x) * rng.uniform(0.1, 0.5)), x.shape[1]))
    return np.vstack([x, noise]), np.r_[labels, np.full(len(noise), -1)]


def none():
    d, n = int(rng.choice([1, 2, 2, 2, 3, 4, 6, 8, 12, 20])), int(rng.integers(100, 301))
    z = rng.normal(size=(n, d))
    x = [
        lambda: z,
        lambda: rng.uniform(size=(n, d)),
        lambda: z * np.exp(rng.uniform(-1.5, 1.5, d)) @ rotation(d),
        lambda: rng.standard_t(5, size=(n, d)),
        lambda: rng.exponential(size=(n, d)),
        lambda: z / np.linalg.norm(z, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** (1 / d),
        lambda: rng.uniform(size=(n, d)) * np.exp(rng.uniform(-1, 1, d)) @ rotation(d),
        lambda: np.exp(z * 0.5),
    ][rng.integers(0, 8)]()
    return x, np.zeros(n, int)


KINDS = [gaussians, many_columns, overlap, unequal, density, spirals, curves, background]

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for number in range(int(sys.argv[3])):
    draw = none if number % 3 == 2 else KINDS[(number - number // 3) % len(KINDS)]
    x, labels = draw()
    order = rng.permutation(len(x))
    rows = (",".join([*(repr(float(v)) for v in x[i]), str(labels[i])]) for i in order)
    (folder / f"{number:04}_{draw.__name__}.csv").write_text("\n".join(rows) + "\n")
