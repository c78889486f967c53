"""What the documentation says is what happens: doctests, the README's examples, signatures, links."""

import ast
import doctest
import inspect
import re

import dmlops
import dmlops._core
import dmlops.reference
import pytest

import strategies
from support import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DOCUMENTS = sorted(ROOT.glob("*.md"))


def test_docstrings(vulkan):
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=FLAGS)
    tests = [test for name in [*dmlops.__all__, "slice"] for test in finder.find(getattr(dmlops, name), name) if test.examples]
    assert len(tests) >= 5
    for test in [*finder.find(dmlops), *tests]:
        runner.run(test)
    assert runner.failures == 0


def test_readme_examples(vulkan):
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted >= 5 and result.failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text()
    headings = {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).strip().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif not target.startswith(("http://", "https://", "mailto:")):
            assert (path.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("operator", strategies.OPERATORS)
def test_the_twins_have_the_same_signature(operator):
    ours = inspect.signature(getattr(dmlops, operator))
    twin = inspect.signature(getattr(dmlops.reference, operator))

    def plain(signature):
        return [(p.name, p.kind, p.default) for p in signature.parameters.values() if p.name not in ("out", "device")]

    assert plain(ours) == plain(twin)
    assert [p.name for p in ours.parameters.values()][-2:] == ["out", "device"]


def test_the_stub_says_what_there_is():
    stub = ast.parse((ROOT / "dmlops" / "_core.pyi").read_text())
    said = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    there = {name: thing for name, thing in vars(dmlops._core).items() if callable(thing) and not name.startswith("__")}
    assert said == set(there)
    public = {name for name in there if not name.startswith("_")}
    assert public <= set(dmlops.__all__) and all(inspect.isclass(there[name]) for name in public)


def test_all():
    assert "slice" not in dmlops.__all__ and callable(dmlops.slice)
    for name in dmlops.__all__:
        assert hasattr(dmlops, name), name
    for name in ("reverse_subsequences", "depth_to_space", "space_to_depth", "slice_from_key", "window", "devices", "NoDeviceError"):
        assert name in dmlops.__all__


def test_everything_public_is_documented():
    for name in [*dmlops.__all__, "slice"]:
        thing = getattr(dmlops, name)
        if callable(thing):
            assert inspect.getdoc(thing), name


def test_version():
    import importlib.metadata

    assert dmlops.__version__ == importlib.metadata.version("dmlops")
    assert f"## {dmlops.__version__}" in (ROOT / "CHANGELOG.md").read_text()
