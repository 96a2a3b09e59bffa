"""The command line that the wheel brings is the program: the same bytes, exit codes and answers to signals."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LABELS = b"a,b,c\nx,1,p\nx,1,p\ny,2,q\ny,2,q\ny,2,p\n"


@pytest.fixture(scope="module")
def programs(binary) -> list[str]:
    """What cargo built, and what the wheel brought."""
    script = shutil.which("partita", path=str(Path(sys.executable).parent))
    assert script is not None, "the wheel has the command line"
    return [binary, script]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--version", 0),
        ("methods --json", 0),
        ("run --help", 0),
        ("consensus - -k 2", 0),
        ("consensus no-such-file.csv -k 2", 2),
        ("consensus - -k two", 2),
        ("no-such-command", 2),
        ("", 2),
    ],
)
def test_same_output_and_code(programs, tmp_path, words, code):
    done = [subprocess.run([program, *words.split()], input=LABELS, capture_output=True, cwd=tmp_path, check=False) for program in programs]
    first, second = done
    assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
    assert first.returncode == code and first.stdout + first.stderr


def test_same_files(programs, datasets, tmp_path):
    made = []
    for place, program in zip(("one", "two"), programs, strict=True):
        (tmp_path / place).mkdir()
        words = [program, "run", datasets / "iris.csv", "--truth", "label", "-k", "3", "-o", "out"]
        subprocess.run(words, cwd=tmp_path / place, capture_output=True, check=True)
        made.append({name: (tmp_path / place / "out" / name).read_bytes() for name in ("labels.csv", "ensemble.npz")})
    assert made[0] == made[1]


def test_reader_that_goes_away(programs):
    for program in programs:
        child = subprocess.Popen([program, "methods", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.close()
        assert (child.stderr.read(), child.wait(timeout=60)) == (b"", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("ignored", [False, True])
def test_interrupts(programs, tmp_path, ignored):
    table = tmp_path / "table.csv"
    table.write_text("x,y,z\n" + "".join(f"{i % 97},{i * i % 89},{i * 7 % 83}\n" for i in range(6_000)))
    for at, program in enumerate(programs):
        words = [program, "generate", table, "--base", "kmeans:1600", "--base-k", "60", "-o", tmp_path / f"{at}.npz"]
        arrange = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None
        child = subprocess.Popen(words, stderr=subprocess.PIPE, preexec_fn=arrange)
        time.sleep(1.5)
        assert child.poll() is None, "there is something to interrupt"
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=120)[1]
        # Two programs that are interrupted may have come to different places.
        assert (child.returncode, b"interrupted" in said) == ((0, False) if ignored else (130, True)), said
