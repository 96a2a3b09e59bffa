"""The code in the documents and the examples runs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT

EXAMPLES = sorted((ROOT / "crates/partita-python/examples").glob("*.py"))


def python_of(path):
    return "\n".join(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))


@pytest.mark.parametrize("document", ["README.md", "docs/guide/from-python.md", "crates/partita-python/README.md"])
def test_documents(document, tmp_path):
    for name in ("sklearn", "matplotlib", "anndata"):
        pytest.importorskip(name)
    code = python_of(ROOT / document).replace('"target/', f'"{tmp_path}/')
    assert "import partita as pt" in code
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example):
    pytest.importorskip("sklearn")
    done = subprocess.run([sys.executable, example], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
