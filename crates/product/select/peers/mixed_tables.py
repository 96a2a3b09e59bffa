"""Tables of numbers and words as people have them: 2 to 8 planted groups, a fifth to four fifths of the columns words, up to 30 % gaps, in half of the
columns more often in some groups, pages of columns that some leave out, rare words, columns that say nothing.

`python mixed_tables.py FOLDER SEED COUNT` writes NAME.csv (with a header, gaps empty) and NAME.groups. `python mixed_tables.py FOLDER` scores
what others do with them, the number of groups known: k-prototypes (kmodes), PAM of Gower's distance (kmedoids), k-means of the first components of FAMD;
and what `partita run`, given by the variable PARTITA, finds with the number known and without.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd


def table(random: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    groups, columns = int(random.integers(2, 9)), int(random.integers(5, 17))
    rows = max(int(random.choice([150, 300, 600, 1200])), 40 * groups)
    sizes = random.dirichlet(np.full(groups, 4.0)) + 0.3 / groups
    of = random.choice(groups, rows, p=sizes / sizes.sum())
    words = round(random.uniform(0.2, 0.8) * columns)
    says_nothing = random.random(columns) < random.choice([0.0, 0.3])
    says_nothing[[0, -1]] = False
    apart = random.uniform(1.5, 3.0)
    made = {}
    for at in range(columns):
        group = random.permutation(groups)[of] if not says_nothing[at] else random.integers(0, groups, rows)
        if at < columns - words:
            values = random.normal(0, apart, groups)[group] + random.normal(0, 1, rows)
            values = np.exp(values / 2) if random.random() < 0.25 else values
            made[f"x{at}"] = np.round(values * 10 ** random.uniform(-1, 3), 2).astype(object)
        else:
            levels, sure = int(random.integers(2, 7)), random.uniform(0.6, 0.9)
            likely = random.integers(0, levels, groups)[group]
            level = np.where(random.random(rows) < sure, likely, random.integers(0, levels, rows))
            value = np.array([f"word{chr(97 + own)}" for own in level], dtype=object)
            rare = random.random(rows) < random.choice([0.0, 0.02])
            value[rare] = random.choice(["seldom", "other", "rare"], rare.sum())
            made[f"w{at}"] = value
    share = random.choice([0.0, 0.1, 0.2, 0.3])
    for column in made.values():
        by_group = random.random() < 0.5
        gap = np.minimum(random.uniform(0, 2 * share, groups), 0.9)[of] if by_group else share
        column[random.random(rows) < gap] = None
    frame = pd.DataFrame(made)
    if share and random.random() < 0.3:
        page = frame.columns[random.integers(0, columns // 2) :][: columns // 2]
        frame.loc[random.random(rows) < share, page] = None
    known = frame.notna().any(axis=1).to_numpy()
    return frame[known], of[known]


def one_hot(words: pd.DataFrame) -> np.ndarray:
    return pd.get_dummies(words, dtype=float).to_numpy()


def k_prototypes(numbers: pd.DataFrame, words: pd.DataFrame, groups: int) -> np.ndarray:
    from kmodes.kprototypes import KPrototypes

    scaled = ((numbers - numbers.mean()) / numbers.std(ddof=0)).fillna(0.0).to_numpy(dtype=float)
    filled = words.apply(lambda column: column.fillna(column.mode()[0])).to_numpy(dtype=object)
    both = np.concatenate([scaled.astype(object), filled], axis=1)
    places = list(range(scaled.shape[1], both.shape[1]))
    return KPrototypes(groups, n_init=5, random_state=0).fit_predict(both, categorical=places)


def gower_pam(numbers: pd.DataFrame, words: pd.DataFrame, groups: int) -> np.ndarray:
    import kmedoids

    sums, counts = 0.0, 0.0
    for column in numbers:
        values = numbers[column].to_numpy(dtype=float)
        values = values / (np.nanmax(values) - np.nanmin(values))
        apart = np.abs(values[:, None] - values)
        sums, counts = sums + np.nan_to_num(apart), counts + ~np.isnan(apart)
    for column in words:
        codes = pd.factorize(words[column])[0]
        known = (codes >= 0)[:, None] & (codes >= 0)
        sums, counts = sums + (known & (codes[:, None] != codes)), counts + known
    return np.asarray(kmedoids.fasterpam(sums / np.maximum(counts, 1), groups, random_state=0, n_cpu=1).labels)


def famd(numbers: pd.DataFrame, words: pd.DataFrame, groups: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    scaled = ((numbers - numbers.mean()) / numbers.std(ddof=0)).fillna(0.0).to_numpy(dtype=float)
    shown = one_hot(words)
    shown = (shown - shown.mean(axis=0)) / np.sqrt(shown.mean(axis=0))
    both = np.concatenate([scaled, shown], axis=1)
    left, values, _ = np.linalg.svd(both - both.mean(axis=0), full_matrices=False)
    kept = min(5, len(values))
    return KMeans(groups, n_init=10, random_state=0).fit_predict(left[:, :kept] * values[:kept])


def partita(path: Path, groups: int | None) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["PARTITA"], "run", str(path), "-o", f"{folder}/out", "--quiet"]
        subprocess.run(command + ([] if groups is None else ["-k", str(groups)]), check=True, capture_output=True)
        return pd.read_csv(f"{folder}/out/labels.csv").iloc[:, 1].to_numpy()


def scores(folder: Path) -> None:
    from sklearn.metrics import adjusted_rand_score

    rows = []
    for path in sorted(folder.glob("*.csv")):
        read, of = pd.read_csv(path), np.loadtxt(path.with_suffix(".groups"), dtype=int)
        numbers, words = read.select_dtypes("number"), read.select_dtypes(exclude="number")
        groups = len(np.unique(of))
        found = {peer.__name__: peer(numbers, words, groups) for peer in (k_prototypes, gower_pam, famd)}
        found |= {"known": partita(path, groups), "open": partita(path, None)}
        row = {name: round(adjusted_rand_score(of, labels), 3) for name, labels in found.items()}
        rows.append(row | {"groups": groups, "found": len(np.unique(found["open"]))})
        print(path.stem, json.dumps(rows[-1]), flush=True)
    all_rows = pd.DataFrame(rows)
    print(all_rows.mean(numeric_only=True).round(3).to_string())
    print("within one of the number of groups:", ((all_rows.groups - all_rows.found).abs() <= 1).mean().round(3))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        scores(Path(sys.argv[1]))
    else:
        folder, random = Path(sys.argv[1]), np.random.default_rng(int(sys.argv[2]))
        folder.mkdir(parents=True, exist_ok=True)
        for at in range(int(sys.argv[3])):
            made, of = table(random)
            made.to_csv(folder / f"t{at:03d}.csv", index=False)
            np.savetxt(folder / f"t{at:03d}.groups", of, fmt="%d")
