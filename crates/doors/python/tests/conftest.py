"""What the tests share: data sets, the command line, ensembles."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import partita as pt

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="session")
def datasets() -> Path:
    folder = ROOT / "datasets"
    assert folder.is_dir(), "the tests run in a clone"
    return folder


@pytest.fixture(scope="session")
def binary() -> str:
    """The command line: PARTITA_BINARY, or what cargo built."""
    found = os.environ.get("PARTITA_BINARY") or shutil.which("partita")
    if found is None:
        built = [ROOT / "target" / profile / "partita" for profile in ("debug", "release")]
        found = next((str(path) for path in built if path.exists()), None)
    if found is None:
        assert "CI" not in os.environ, "PARTITA_BINARY must name the command line where the checks run"
        pytest.skip("the command line is not built")
    return found


@pytest.fixture(scope="session")
def command(binary):
    def run(*arguments: object) -> str:
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def run_python(*arguments: object, cwd: Path | None = None, code: int = 0) -> str:
    """What an interpreter of its own prints, which must end with this code."""
    words = [sys.executable, *map(str, arguments)]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def read_table(path: Path) -> tuple[list[str], np.ndarray, list[str]]:
    """Names of the features, the numbers, the classes."""
    with open(path, newline="", encoding="utf-8") as file:
        heading, *rows = csv.reader(file)
    at = heading.index("label")
    features = [column for column in range(len(heading)) if column != at]
    values = np.array([[float(row[column]) for column in features] for row in rows])
    return [heading[column] for column in features], values, [row[at] for row in rows]


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names of its columns."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column_of(path: Path, name: str) -> list[float]:
    return [float(row[name]) for row in rows_of(path)]


def labels_of(path: Path) -> list[int]:
    return [int(row["label"]) for row in rows_of(path)]


def numbers_of(path: Path) -> list[list[float]]:
    """All columns but the first, which names the objects."""
    return [[float(cell) for cell in list(row.values())[1:]] for row in rows_of(path)]


#: What differs between two runs of the same methods, or needs true classes.
SPENT = {"seconds", "cpu_seconds", "peak_bytes", "phases", "scores"}


def own_of(record: dict) -> list[dict]:
    """What a record says of each method, without what the run cost."""
    return [{name: value for name, value in method.items() if name not in SPENT} for method in record["methods"]]


@pytest.fixture(scope="session")
def labels() -> np.ndarray:
    """Three clusters of 30 objects, seen by eight base clusterings that each err at some."""
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1, 2], 30)
    matrix = np.tile(truth[:, None], (1, 8))
    for column in matrix.T:
        wrong = rng.choice(90, 9, replace=False)
        column[wrong] = rng.integers(0, 3, 9)
        column[:] = rng.permutation(3)[column]
    return matrix


@pytest.fixture(scope="session")
def truth() -> np.ndarray:
    return np.repeat([0, 1, 2], 30)


@pytest.fixture(scope="session")
def ensemble(labels) -> pt.Ensemble:
    return pt.Ensemble(labels)


@pytest.fixture(scope="session")
def ensemble_file(ensemble, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("ensemble") / "e.npz"
    ensemble.save(path)
    return path


@pytest.fixture(scope="session")
def result(ensemble) -> pt.ConsensusResult:
    return pt.consensus(ensemble, 3)


@pytest.fixture(scope="session")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 6]])
    return np.concatenate([centre + rng.normal(size=(40, 3)) for centre in centres])
