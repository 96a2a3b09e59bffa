"""Tables whose values repeat: answers from 1 to 3, 5 or 7, with a factor behind them too, yes and no, counts, rare counts of objects that differ
in how much they count, rounded numbers, numbers beside yes and no.

`python repeated_values.py FOLDER SEED COUNT` writes CSV files without a header, the cluster in the last column; every fourth table of a kind has one
cluster. Objects 60 to 800, columns 3 to 14, clusters 2 to 6. `cargo xtask bench shapes -- tables FOLDER` scores the choice on them.
"""

import sys
from pathlib import Path

import numpy as np

KINDS = ["of-3", "of-5", "of-7", "yes-no", "few-yes-no", "counts", "rounded", "mixed", "factor", "rare-counts"]


def table(kind: str, clusters: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    objects = max(int(random.choice([60, 100, 200, 300, 500, 800])), 20 * clusters)
    columns = int(random.integers(3, 7) if kind == "few-yes-no" else random.integers(4, 15))
    sizes = random.dirichlet(np.full(clusters, 4.0)) + 0.3 / clusters
    of = random.choice(clusters, objects, p=sizes / sizes.sum())
    noise = random.normal(0, 1, (objects, columns))

    def answers(width: int, likely: list[float]) -> np.ndarray:
        shares = random.choice(likely, (clusters, width)) if clusters > 1 else random.uniform(0.1, 0.9, (1, width))
        return random.random((objects, width)) < shares[of]

    if kind.startswith("of-"):
        most = int(kind[3:])
        means = random.uniform(0, most - 1, (clusters, columns))
        values = 1 + np.clip(np.round(means[of] + random.uniform(0.12, 0.22) * most * noise), 0, most - 1)
    elif kind.endswith("yes-no"):
        values = answers(columns, [0.1, 0.9])
    elif kind == "counts":
        values = random.poisson(random.gamma(1, 8, (clusters, columns))[of])
    elif kind == "rare-counts":
        values = random.poisson(random.gamma(0.5, 2.5, (clusters, columns))[of] * random.gamma(2, 0.5, (objects, 1)))
    elif kind == "factor":
        one = random.normal(0, 1, (objects, 1)) * random.uniform(0.3, 1.2, columns)
        values = np.clip(np.round(3 + random.normal(0, 1.3, (clusters, columns))[of] + one + 0.6 * noise), 1, 5)
    elif kind == "rounded":
        values = np.round(random.normal(0, 2.2, (clusters, columns))[of] + noise)
    else:
        values = np.hstack([random.normal(0, 2.5, (clusters, columns))[of] + noise, answers(4, [0.15, 0.5, 0.85])])
    return np.asarray(values, float), of


def main() -> None:
    folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(count):
        random, kind = np.random.default_rng([seed, at]), KINDS[at % len(KINDS)]
        one = at // len(KINDS) % 4 == 3
        values, of = table(kind, 1 if one else int(random.integers(2, 7)), random)
        values = values[:, values.std(axis=0) > 0]
        rows = (",".join(f"{value:g}" for value in [*row, cluster]) for row, cluster in zip(values, of, strict=True))
        name = f"{at:04}_{kind}{'-one' if one else ''}.csv"
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
