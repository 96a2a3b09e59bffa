"""What the tests share: data sets, the command line, ensembles."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
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


def read_table(path: Path) -> tuple[list[str], np.ndarray, list[str]]:
    """Names of the features, the numbers, the classes."""
    with open(path, newline="", encoding="utf-8") as file:
        heading, *rows = csv.reader(file)
    at = heading.index("label")
    features = [column for column in range(len(heading)) if column != at]
    values = np.array([[float(row[column]) for column in features] for row in rows])
    return [heading[column] for column in features], values, [row[at] for row in rows]


@pytest.fixture(scope="session")
def iris(datasets):
    return read_table(datasets / "iris.csv")


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
def result(ensemble) -> pt.ConsensusResult:
    return pt.consensus(ensemble, 3)


@pytest.fixture(scope="session")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 6]])
    return np.concatenate([centre + rng.normal(size=(40, 3)) for centre in centres])
