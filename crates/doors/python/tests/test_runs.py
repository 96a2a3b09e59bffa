"""Many runs beside each other: modes of an ensemble, and runs in common columns, as the command line finds them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from conftest import rows_of


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def two_answers():
    """Sixty objects that half of the base clusterings split one way and half another, each with errors."""
    rng = np.random.default_rng(2)
    columns = []
    for run in range(16):
        truth = np.arange(60) // 20 if run < 10 else np.arange(60) % 3
        wrong = rng.random(60) < 0.08
        columns.append(rng.permutation(3)[np.where(wrong, rng.integers(0, 3, 60), truth)])
    labels = np.stack(columns, axis=1)
    labels[3, 5] = -1
    return pt.Ensemble(labels, objects=[f"o{at}" for at in range(60)])


@pytest.fixture(scope="module")
def modes(two_answers):
    return pt.modes(two_answers)


@pytest.fixture(scope="module")
def shares():
    """Five runs of two, three and four clusters of the same objects, their columns in any order."""
    rng = np.random.default_rng(5)
    runs = {}
    for at, k in enumerate([2, 3, 3, 3, 4]):
        planted = np.full((40, k), 0.06)
        planted[np.arange(40), np.arange(40) * k // 40] = 1
        planted *= rng.uniform(0.9, 1.1, planted.shape)
        runs[f"k{k}-{at}"] = (planted / planted.sum(axis=1, keepdims=True)).round(6)[:, rng.permutation(k)]
    return runs


@pytest.fixture(scope="module")
def aligned(shares):
    return pt.align(shares)


def write_shares(folder: Path, shares) -> list[Path]:
    paths = []
    for name, table in shares.items():
        paths.append(folder / f"{name}.Q")
        paths[-1].write_text("".join(" ".join(repr(float(cell)) for cell in row) + "\n" for row in table))
    return paths


def test_modes_are_those_of_the_command_line(two_answers, modes, command, tmp_path):
    two_answers.save(tmp_path / "e.npz")
    said = json.loads(command("modes", tmp_path / "e.npz", "-o", tmp_path / "theirs", "--json"))
    read = pt.modes(pt.read_ensemble(tmp_path / "e.npz"))
    assert read.record_ == said
    read.save_run(tmp_path / "ours")
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")
    # An ensemble that no file holds differs in nothing but the name of its file.
    assert {**modes.record_, "input": None} == {**said, "input": None}
    written = [[int(row["mode1"]), int(row["mode2"])] for row in rows_of(tmp_path / "theirs" / "objects.csv")]
    assert written == modes.labels_.tolist()


def test_modes_have_attributes(two_answers, modes):
    assert modes.n_modes == len(modes) == 2 and modes[0] is modes.modes_[0]
    assert [mode.share for mode in modes.modes_] == [10 / 16, 6 / 16]
    assert modes[0].members == [f"base{at}" for at in range(10)] and modes[0].sizes.sum() == 60
    assert np.allclose(modes[1].probabilities.sum(axis=1), 1) and modes[1].probabilities.shape == (60, 3)
    assert np.array_equal(modes[1].probabilities.argmax(axis=1), modes[1].labels)
    assert pt.metrics.adjusted_rand(modes[1].labels, np.arange(60) % 3) > 0.9
    assert modes.disagreement_.shape == (60,) and 0 <= modes.disagreement_.min() <= modes.disagreement_.max() <= 1
    assert modes.description_length_ == modes.record_["description_length"] > 0
    assert modes.ensemble_ == two_answers and "2 answers" in repr(modes) and "0.625" in repr(modes[0])
    assert "2 answers" in modes._repr_html_() and "<td>2</td>" in modes._repr_html_()


def test_frames_of_modes(modes):
    pytest.importorskip("pandas")
    frame = modes.to_frame()
    assert list(frame.columns) == ["mode1", "mode2", "disagreement"] and frame.index[3] == "o3"


def test_one_answer_is_one_mode(ensemble, labels):
    found = pt.modes(labels, n_jobs=1)
    assert found.n_modes == 1 and not found.disagreement_.any() and "one answer" in repr(found)
    assert np.array_equal(found.labels_, pt.modes(ensemble, n_jobs=2).labels_)


def test_modes_go_through_pickles(modes, tmp_path):
    copy = pickle.loads(pickle.dumps(modes))
    assert np.array_equal(copy.labels_, modes.labels_) and copy.record_ == modes.record_ and repr(copy) == repr(modes)
    with pytest.raises(pt.InputError, match="pickle"):
        copy.save_run(tmp_path / "out")


def test_alignments_are_those_of_the_command_line(shares, aligned, command, tmp_path):
    paths = write_shares(tmp_path, shares)
    said = json.loads(command("align", *paths, "-o", tmp_path / "theirs", "--json"))
    read = pt.align(paths)
    assert read.record_ == said
    read.save_run(tmp_path / "ours")
    theirs = files_of(tmp_path / "theirs")
    assert files_of(tmp_path / "ours") == theirs and len(theirs) == 10
    assert aligned.record_ == said
    aligned.save_run(tmp_path / "held")
    assert files_of(tmp_path / "held") == theirs
    assert aligned.picture(tmp_path / "bars.svg") == (tmp_path / "theirs" / "memberships.svg").read_text() == (tmp_path / "bars.svg").read_text()


def test_populations(shares, command, tmp_path):
    paths, words = write_shares(tmp_path, shares), [f"pop{at % 3}" for at in range(40)]
    (tmp_path / "samples.csv").write_text("sample,pop\n" + "".join(f"s{at},{word}\n" for at, word in enumerate(words)))
    command("align", *paths, "--populations", f"{tmp_path / 'samples.csv'}:pop", "-o", tmp_path / "theirs")
    picture = (tmp_path / "theirs" / "memberships.svg").read_text()
    assert pt.align(paths, populations=(tmp_path / "samples.csv", "pop")).picture() == picture
    held = pt.align(shares, populations=words)
    assert held.picture() == picture and held.populations == words
    with pytest.raises(pt.InputError, match="39 populations for 40 objects"):
        pt.align(shares, populations=words[:39])


def test_labels_are_runs(labels, ensemble, command, tmp_path):
    ensemble.save(tmp_path / "e.npz")
    said = json.loads(command("align", tmp_path / "e.npz", "--similarity", 0.6, "-o", tmp_path / "theirs", "--json"))
    for runs in (ensemble, labels, tmp_path / "e.npz", {f"base{at}": column for at, column in enumerate(labels.T)}):
        assert pt.align(runs, similarity=0.6).record_ == said
    found = pt.align(ensemble, similarity=0.6)
    agree = [np.array_equal(found.aligned_[0].argmax(axis=1), run.argmax(axis=1)) for run in found.aligned_]
    assert agree[0] and (found.aligned_[0] == found.aligned_[3]).mean() > 0.8


def test_alignments_have_attributes(shares, aligned):
    assert aligned.names == list(shares) and len(aligned) == 5 and aligned.n_colours_ == 4
    assert [len(colours) for colours in aligned.colours_] == [2, 3, 3, 3, 4]
    assert [mode.n_clusters for mode in aligned.modes_] == [4, 3, 2] and aligned.modes_[0].parent is None
    assert aligned.modes_[1].representative in list(shares)[1:4] and aligned.modes_[1].share == 1
    assert aligned.mode_of_.tolist() == [2, 1, 1, 1, 0]
    assert aligned.cost_.shape == (5,) and np.allclose(aligned.similarity_, 1 - np.sqrt(aligned.cost_))
    # Alike columns have one place now.
    assert np.abs(aligned.aligned_[1] - aligned.aligned_[2]).max() < 0.05
    for name, table, colours in zip(aligned.names, aligned.aligned_, aligned.colours_):
        assert np.allclose(table, shares[name][:, np.argsort(colours)], atol=1e-6)
    assert "K = 3: 1 mode of 3 runs" in repr(aligned) and "<svg" in aligned._repr_html_()
    copy = pickle.loads(pickle.dumps(aligned))
    assert copy.record_ == aligned.record_ and np.array_equal(copy.aligned_[4], aligned.aligned_[4])
    with pytest.raises(pt.InputError, match="pickle"):
        copy.ensemble()


def test_frames_of_runs(shares):
    pd = pytest.importorskip("pandas")
    names = [f"s{at}" for at in range(40)]
    found = pt.align({name: pd.DataFrame(table, index=names) for name, table in shares.items()})
    assert found.object_names == names
    run = found.run("k2-0")
    assert list(run.index) == names and len(run.columns) == 2 and set(run.columns) < {"c0", "c1", "c2", "c3"}
    assert list(found.to_frame().columns) == ["clusters", "mode", "cost", "similarity"]
    with pytest.raises(pt.InputError, match="no run 'k9'"):
        found.run("k9")


def test_aligned_runs_have_a_consensus(shares, aligned, command, tmp_path):
    paths = write_shares(tmp_path, shares)
    command("align", *paths, "-o", tmp_path / "theirs", "--ensemble", tmp_path / "runs.npz")
    assert aligned.ensemble() == pt.read_ensemble(tmp_path / "runs.npz")
    found = pt.consensus(aligned.ensemble(), 3, "soft-mean")
    assert pt.metrics.adjusted_rand(found.labels_, np.arange(40) * 3 // 40) > 0.9


def test_objects_that_a_run_does_not_know(shares):
    table = shares["k3-1"].copy()
    table[0] = np.nan
    found = pt.align([table, shares["k3-2"]], names=["gap", "whole"])
    assert not found.aligned_[0][0].any() and found.names == ["gap", "whole"]


@pytest.mark.parametrize(
    ("runs", "keywords", "said"),
    [
        ([], {}, "no runs"),
        ([np.eye(3), np.eye(4)], {}, "'run0' has 3 objects, 'run1' has 4"),
        ([np.full((2, 2), 0.7)], {}, "sum to 1.4"),
        ({"a": np.zeros((2, 2, 2))}, {}, "run 'a' has the shape"),
        ([np.array([["a", "b"]])], {}, "the type <U1"),
        (7, {}, "type int"),
        ("absent.Q", {}, "absent.Q"),
        ("a.Q", {"names": ["a"]}, "leave out"),
        ("a.Q", {"populations": ["x"]}, "a file"),
        ([np.eye(3)] * 2, {"similarity": 2}, "similarity=2"),
        ([np.eye(3)] * 2, {"similarity": True}, "similarity=True"),
        ([np.eye(3)] * 2, {"names": ["one"]}, "1 names for 2 runs"),
        ([np.eye(3)] * 2, {"objects": ["o"]}, "for 3"),
        ([np.eye(3)] * 2, {"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_what_cannot_be_aligned(runs, keywords, said):
    with pytest.raises(pt.InputError) as error:
        pt.align(runs, **keywords)
    assert said in str(error.value) and "\n" not in str(error.value)
