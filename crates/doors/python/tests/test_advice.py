"""Errors name options in the words of the door: every text of the sources is looked at."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import partita as pt
from conftest import ROOT

CRATES = ROOT / "crates"
FLAG = re.compile(r"--[a-z]+[a-z-]*")

#: Command lines that are shown as such.
COMMANDS = {
    "base/core/src/advice.rs": {"--no-"},
    "product/partita/src/known_as.rs": {"--base", "--co-association", "--figures", "--graph"},
    "product/report/src/record.rs": {"--from"},
}

#: What only the command line asks for, so that no error in Python names it.
OF_THE_COMMAND_LINE = {"annealed", "held_out_share", "stream", "soft", "relations", "draws", "similarity", "tree", "model", "distances"}

#: Public functions, and methods of public classes.
CALLS = [
    call
    for owner in (pt, pt.metrics, pt.anndata, pt.Ensemble, pt.Model, pt.ConsensusResult, pt.ConsensusClustering, pt.LabelConsensus)
    for name, call in inspect.getmembers(owner)
    if (inspect.isfunction(call) or inspect.ismethod(call)) and not name.startswith("_")
]


def texts_of_rust(path: Path) -> list[str]:
    """String literals outside comments and unit tests."""
    source = path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod ")[0]
    source = re.sub(r"^\s*//.*$", "", source, flags=re.M)
    return re.findall(r'"((?:[^"\\]|\\.)*)"', source, flags=re.S)


def sources() -> list[Path]:
    """What the extension module is made of, without its own crate, examples and tests."""
    layers = ("base", "blocks", "input", "methods", "product")
    found = [path for layer in layers for path in (CRATES / layer).glob("*/src/**/*.rs")]
    return [path for path in found if "tests" not in path.parts]


def test_no_text_of_the_sources_has_a_flag():
    """`option("skip")` of partita-core is spelled by each door."""
    wrong = {
        f"{path.relative_to(CRATES)}: {text}"
        for path in sources()
        for text in texts_of_rust(path)
        if set(FLAG.findall(text)) - COMMANDS.get(str(path.relative_to(CRATES)), set())
    }
    assert not wrong, "\n".join(sorted(wrong))
    for path in (CRATES / "doors/python/src").glob("*.rs"):
        assert not [text for text in texts_of_rust(path) if FLAG.search(text)], path


def test_every_option_that_a_text_names_is_a_keyword():
    named = set()
    for path in sources():
        source = path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod ")[0]
        for option, other in re.findall(r'^[^/\n]*?\boption\("([a-z-]+)"\)(?:\s*\.called\("([A-Za-z-]+)"\))?', source, flags=re.M):
            named.add((other or option).replace("-", "_"))
    assert {"skip", "n_clusters", "object_weights"} <= named
    keywords = {name for call in CALLS for name in inspect.signature(call).parameters}
    assert named - OF_THE_COMMAND_LINE <= keywords


def test_no_text_of_the_package_has_a_flag():
    for path in Path(pt.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
        documents = {ast.get_docstring(node, clean=False) for node in documented}
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        assert not [text for text in texts if FLAG.search(text) and text not in documents], path


@pytest.mark.parametrize(
    ("content", "keywords", "said"),
    [
        ("x,kind\n1,a\n2,b\n3,a\n", {"encode": "none"}, "leave the column out (skip=['kind']), or make columns of its words (encode='one-hot')"),
        ("x,kind\n1,a\n2,b\n3,a\n", {"encode": "one-hot", "max_categories": 1}, "more than max_categories=1; leave it out (skip=['kind'])"),
        ("x,y\n1,\n2,3\n4,4\n", {"impute": "none"}, "take the mean of the column (impute='mean')"),
        ("x,y\n1,2\n2,3\n4,4\n", {"encoding": "klingon"}, "encoding='klingon' is not an encoding"),
    ],
)
def test_errors_name_keywords(content, keywords, said, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(pt.InputError) as error:
        pt.read_table(path, **keywords)
    assert said in str(error.value) and "--" not in str(error.value)
