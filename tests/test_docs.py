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
from support import ROOT, publishing

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PLACES = ("*.md", "docs/**/*.md", "benchmarks/results/*.md", "companion/*.md")
DOCUMENTS = sorted(path for place in PLACES for path in ROOT.glob(place))
SENTENCE = (
    "Prepares images and arrays for models in few passes on any CPU or GPU, "
    "with the bits of NumPy, Pillow, OpenCV or torchvision."
)


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


def test_recipes(vulkan):
    pytest.importorskip("einops")
    result = doctest.testfile(str(ROOT / "docs" / "recipes.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted >= 30 and result.failed == 0


def test_the_first_pages_are_short():
    for page, lines in (("README.md", 120), ("ARCHITECTURE.md", 100)):
        assert len((ROOT / page).read_text().splitlines()) <= lines, page
    assert (ROOT / "docs" / "demo.webp").stat().st_size < 400_000


def test_what_it_is_is_said_once(capsys):
    """The first page, the site's, the package's summary, its docstring and the command's help have one sentence."""
    import importlib.metadata

    from dmlops.__main__ import main

    with pytest.raises(SystemExit):
        main(["--help"])
    first_lines = [(ROOT / page).read_text().split("\n\n")[1] for page in ("README.md", "docs/index.md")]
    summary = importlib.metadata.metadata("dmlops")["Summary"]
    assert {*first_lines, summary, dmlops.__doc__.splitlines()[0]} == {SENTENCE}
    assert SENTENCE in " ".join(capsys.readouterr().out.split())


def test_figures_of_the_first_page_stand_on_the_pages_that_it_links_to():
    rows = re.findall(r"^\|.*\(docs/(\w+\.md)[^|]*\| ([\d. to]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) >= 2
    for page, figures in rows:
        text = (ROOT / "docs" / page).read_text()
        for figure in re.findall(r"[\d.]+", figures):
            assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", text), (page, figure)


def test_generated_parts_are_those_of_the_last_benchmark(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import report
    import summary

    last = summary.load(ROOT / "benchmarks" / "results" / "benchmark.json")
    for path, section in report.sections(last, ROOT / "benchmarks" / "results" / "README.md", ROOT).items():
        assert section in path.read_text(), path


def anchors(path):
    """Of the headings of a page, as GitHub and the site name them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    """To a file of the repository, and where a heading is named, to one that it has."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            name, _, heading = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            assert file.exists(), target
            assert not heading or heading in anchors(file), target


def test_coming_from_is_what_its_rows_say(monkeypatch):
    """`python docs/coming_from_page.py` writes the page that stands in the repository."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    import coming_from_page

    assert (ROOT / "docs" / "coming_from.md").read_text() == coming_from_page.page("\n".join)
    for library in coming_from_page.LIBRARIES:
        assert f"## {library.name}\n" in coming_from_page.page("\n".join)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_blocks_are_python(path):
    """Blocks with prompts are doctests, and those of the site are executed; others must at least be Python."""
    for block in re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL):
        if not block.startswith(">>>"):
            ast.parse(block)


def test_no_package_is_to_be_installed_from_where_it_is_not():
    """Documents name the checkout's wheels; once the packages are on an index, tools/publishing.py leaves that out."""
    sources = [path for folder in ("csrc", "dmlops", "docs", "examples") for path in (ROOT / folder).rglob("*")]
    sources = [path for path in sources if path.suffix in (".c", ".ipynb", ".py")]
    for path in [*DOCUMENTS, *sources, ROOT / "companion" / "README.md"]:
        for advice in re.findall(r"pip install[^`\n]*\bdmlops\b", path.read_text()):
            assert advice.startswith(publishing.FROM_THE_CHECKOUT), (path, advice)
    first_page = (ROOT / "README.md").read_text()
    for text in (first_page, (ROOT / "docs" / "install.md").read_text(), (ROOT / "docs" / "index.md").read_text()):
        assert publishing.FOR_NOW in publishing.as_published(text, "")
        published = publishing.as_published(text, "https://example.org/dmlops")
        assert 'pip install "dmlops[cpu]"' in published and not re.search("--find-links|on no index", published)


def test_every_environment_variable_is_on_its_page():
    page = (ROOT / "docs" / "environment.md").read_text()
    sources = [*(ROOT / "csrc").rglob("*.c"), *(ROOT / "dmlops").rglob("*.py"), ROOT / "setup.py"]
    text = "".join(path.read_text() for path in sources)
    read = set(re.findall(r"""(?:getenv\(|environ\.get\(|environ\[)["'](\w+)""", text)) | set(
        re.findall(r"\bDMLOPS_[A-Z]+\b", text)
    )
    assert {"DMLOPS_DEVICE", "DMLOPS_CACHE"} <= read
    assert sorted(name for name in read if f"`{name}`" not in page and name != "HOME") == []


def test_every_operator_has_a_page():
    table = (ROOT / "docs" / "operator_table.py").read_text()
    readme = (ROOT / "README.md").read_text()
    page = (ROOT / "docs" / "operators.md").read_text()
    for name in [*strategies.OPERATORS, *strategies.GATHERS, *strategies.SCATTERS]:
        assert f'        "{name}",\n' in table, name
        for text in (readme, page):
            assert f"`{name}(" in text or f"`{name}`" in text, name


@pytest.mark.parametrize("operator", strategies.FUNCTIONS)
def test_the_twins_have_the_same_signature(operator):
    ours = inspect.signature(getattr(dmlops, operator))
    twin = inspect.signature(getattr(dmlops.reference, operator))

    def plain(signature):
        return [(p.name, p.kind, p.default) for p in signature.parameters.values() if p.name not in ("out", "device")]

    assert plain(ours) == plain(twin)
    assert [p.name for p in ours.parameters.values()][-3:] == ["out", "device", "progress"]


def test_the_stub_says_what_there_is():
    stub = ast.parse((ROOT / "dmlops" / "_core.pyi").read_text())
    said = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    there = {name: thing for name, thing in vars(dmlops._core).items() if callable(thing) and name[:2] != "__"}
    assert said == set(there)
    public = {name for name in there if not name.startswith("_")}
    assert public <= set(dmlops.__all__) and all(inspect.isclass(there[name]) for name in public)


def test_all():
    assert "slice" not in dmlops.__all__ and callable(dmlops.slice)
    for name in dmlops.__all__:
        assert hasattr(dmlops, name), name
    names = {"reverse_subsequences", "depth_to_space", "space_to_depth", "slice_from_key", "window", "devices", "NoDeviceError"}
    assert names <= set(dmlops.__all__)


def test_dir_has_what_is_public():
    import dmlops.directml

    listed = set(dir(dmlops))
    assert {*dmlops.__all__, "slice", "__version__", "directml"} <= listed
    assert {name for name in listed if name[:2] != "__"} <= {*dmlops.__all__, "slice", "dask", "directml", "onnx"}


def test_everything_public_is_documented():
    for name in [*dmlops.__all__, "slice"]:
        thing = getattr(dmlops, name)
        if callable(thing):
            assert inspect.getdoc(thing), name


@pytest.mark.parametrize("name", [name for name in [*dmlops.__all__, "slice"] if inspect.isfunction(getattr(dmlops, name))])
def test_the_documented_parameters_are_those_of_the_signature(name):
    function = getattr(dmlops, name)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", inspect.getdoc(function), re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^\**(\w[\w, ]*) : ", section[1], re.MULTILINE) if section else []
    if name != "window":  # which refers to slice_from_key
        assert [parameter for line in lines for parameter in line.split(", ")] == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", [name for name in [*dmlops.__all__, "slice"] if inspect.isfunction(getattr(dmlops, name))])
def test_every_parameter_result_and_error_is_documented_by_a_text(name):
    """Also those whose text stands once for several operators."""
    text = inspect.getdoc(getattr(dmlops, name))
    for section in re.findall(r"^(?:Parameters|Returns|Raises)\n-+\n(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL):
        entries = re.findall(r"^(\S.*)(\n +\S)?", section, re.MULTILINE)
        assert [head for head, described in entries if not described] == []


def test_version():
    import importlib.metadata

    assert dmlops.__version__ == importlib.metadata.version("dmlops")
    assert f"## {dmlops.__version__}" in (ROOT / "CHANGELOG.md").read_text()
