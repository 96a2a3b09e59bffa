"""The code in the documents and the examples runs."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, run_python

NOTEBOOK = ROOT / "docs/guide/from-python.ipynb"
EXAMPLES = sorted((ROOT / "crates/doors/python/examples").glob("*.py"))


def python_of(path):
    return "\n".join(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))


DOCUMENTS = ["README.md", "crates/doors/python/README.md", "docs/guide/files-from-python.md"]
DOCUMENTS += [f"docs/guide/from-{name}.md" for name in ("python", "scanpy", "scikit-learn", "bertopic", "clumpak-pong")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents(document, tmp_path):
    for name in ("sklearn", "matplotlib", "anndata"):
        pytest.importorskip(name)
    code = python_of(ROOT / document).replace('"target/', f'"{tmp_path}/')
    assert "import partita as pt" in code
    run_python("-c", code, cwd=ROOT)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example):
    pytest.importorskip("sklearn")
    run_python(example, cwd=ROOT)


def test_the_notebook(monkeypatch):
    """It runs from top to bottom, and the repository keeps no outputs of it."""
    # Its pictures are shown below their cells.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    exporters = pytest.importorskip("nbconvert.exporters")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells and not any(cell.outputs or cell.execution_count for cell in cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output for cell in cells for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "error" or output.get("name") == "stderr"]
    kinds = [kind for output in shown for kind in output.get("data", {})]
    assert kinds.count("image/png") >= 4 and kinds.count("text/html") >= 6
    page, _ = exporters.HTMLExporter().from_notebook_node(notebook)
    assert "<svg" in page and page.count("data:image/png") >= 4
