"""What keeps the house a house: who may include or import whom, and what the packages carry."""

import ast
import email
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import dmlops
from dmlops import _core
import pytest

from support import ROOT, publishing, run_python

pytestmark = pytest.mark.driverless

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
# What a room includes beside itself.
ROOMS = {
    "base": [],
    "plan": ["base"],
    "ops": ["base", "plan"],
    "resampling": ["base", "plan"],
    "device": ["base", "plan"],
    "host": ["base", "plan", "resampling", "device"],
    "kernels": ["base", "plan", "resampling", "host"],
    "vk": ["base", "plan", "resampling", "device", "host", "kernels"],
    "py": ["base", "plan", "ops", "resampling", "device", "host", "kernels", "vk"],
}
SOURCES = sorted(path for suffix in ("*.c", "*.h") for path in (ROOT / "csrc").rglob(suffix))
EVERY_SOURCE = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "csrc")))


def room(path):
    return path.relative_to(ROOT / "csrc").parts[0]


def may_include(room):
    return [*ROOMS[room], room]


def includes(path):
    return INCLUDE.findall(path.read_text())


def included_headers(path):
    return {ROOT / "csrc" / name for _, name in includes(path)} & set(SOURCES)


def declared(header):
    """The functions that a header declares or defines."""
    return set(re.findall(r"^[A-Za-z][\w *]*?\b(dml_\w+)\(", header.read_text(), re.MULTILINE))


def circles(graph):
    """The sets of two nodes and more that all reach each other."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            new = graph[left.pop()] - seen
            seen |= new
            left += new
        return seen

    reach = {node: reached(node) for node in graph}
    found = {frozenset(other for other in reach[node] if node in reach[other]) for node in graph}
    return [set(circle) for circle in found if len(circle) > 1]


def test_there_are_sources():
    assert {room(path) for path in SOURCES} == set(ROOMS)


@EVERY_SOURCE
def test_includes_stay_within_lower_rooms(path):
    for bracket, name in includes(path):
        first = pathlib.PurePosixPath(name).parts[0]
        if bracket == '"' and first in ROOMS:
            assert first in may_include(room(path)), f"{room(path)} must not include {name}"
            assert (ROOT / "csrc" / name).exists(), f"{name} does not exist"
        assert ".." not in name, f"{name} hides where it points"
        if name == "Python.h" or first == "numpy":
            assert room(path) == "py", f"only csrc/py may include {name}"
        if first == "vulkan":
            assert room(path) == "vk", f"only csrc/vk may include {name}"


def test_the_rule_would_catch_a_breach():
    assert INCLUDE.findall('#include <Python.h>\n  # include "vk/vk.h"\n') == [("<", "Python.h"), ('"', "vk/vk.h")]
    assert may_include("plan") == ["base", "plan"]
    assert all(below in list(ROOMS)[:k] for k, rooms in enumerate(ROOMS.values()) for below in rooms)


def test_base_names_are_unique():
    names = [path.name for path in SOURCES]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    folders = {}
    for path in SOURCES:
        folders.setdefault(path.stem, set()).add(path.parent)
    assert all(len(places) == 1 for places in folders.values()), "a header lies beside the source that it belongs to"


@EVERY_SOURCE
def test_each_source_begins_with_the_header_that_declares_it(path):
    """Sources may share one: all operators do."""
    if path.suffix == ".c":
        assert (ROOT / "csrc" / includes(path)[0][1]).parent == path.parent
        assert declared(path) <= {name for header in SOURCES if header.suffix == ".h" for name in declared(header)}


def test_each_shader_is_a_kernels():
    """What the copy command moves has none."""
    assert sorted(_core._kernels()) == sorted(["copy", *(path.stem for path in (ROOT / "shaders").glob("*.comp"))])


def test_headers_do_not_include_each_other_in_circles():
    assert circles({path: included_headers(path) for path in SOURCES}) == []


def test_sources_do_not_call_each_other_in_circles():
    """A source calls another one where it names, outside comments, a function that the other defines."""
    headers = {name: path.stem for path in SOURCES if path.suffix == ".h" for name in declared(path)}
    home = headers | {name: path.stem for path in SOURCES if path.suffix == ".c" for name in declared(path)}
    graph = {path.stem: set() for path in SOURCES}
    for path in SOURCES:
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        named = set(re.findall(r"\b(dml_\w+)[(,)]", code)) & home.keys() - declared(path)
        graph[path.stem] |= {home[name] for name in named} - {path.stem}
    assert graph["create_context"] >= {"kernels", "queue"}
    assert circles(graph) == []


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "dmlops").rglob("*.py")
}
# For the types of twins, which are those of the operators above them.
NAMED_FROM_BELOW = {"dmlops.reference": {"dmlops.operators"}}


def imported(tree, modules, for_types=False):
    """The modules that a module's code imports, wherever it does: True beside those that only a type checker imports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, for_types) for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules or (node.module in modules and inner != "dmlops._core"):
                    yield inner if inner in modules else node.module, for_types
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imported(ast.Module(node.body, []), modules, True)
            yield from imported(ast.Module(node.orelse, []), modules, for_types)
        else:
            yield from imported(node, modules, for_types)


def graph_of(modules):
    """Who imports whom, but for what the package itself imports on first use, and names for type checkers."""
    graph = {}
    for name, path in modules.items():
        late = modules if name == "dmlops" else NAMED_FROM_BELOW.get(name, ())
        found = imported(ast.parse(path.read_text()), modules)
        graph[name] = {one for one, for_types in found if not (for_types and one in late)} - {name}
    return graph


def test_modules_do_not_import_each_other_in_circles():
    """Also in functions, and for types: whoever is below knows nothing of what is above."""
    graph = graph_of(MODULES)
    assert graph["dmlops.fusion.fused"] >= {"dmlops.fusion.compiler", "dmlops.dask.fused", "dmlops.fusion.proof"}
    assert graph["dmlops.operators.sampling"] >= {"dmlops.fusion.fused", "dmlops.operators.tracking"}
    assert circles(graph) == []


@pytest.mark.parametrize("name", ["cached_property", "catch_warnings"])
def test_names_that_are_not_for_threads(name):
    """In Python 3.11 all objects share a lock, which a forked child would find held; filters of threads replace each other."""
    used = [path for path in MODULES.values() if re.search(rf"\b{name}\(|@.*\b{name}\b", path.read_text())]
    assert used == []


def test_no_import_is_relative():
    """Those of the test above are found by their full names."""
    relative = [
        (name, node.lineno)
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_imports_would_be_found():
    tree = ast.parse("import a\nif TYPE_CHECKING:\n from a import b\ndef f():\n try:\n  from a.c import d\n except E: import x")
    assert list(imported(tree, {"a", "a.b", "a.c"})) == [("a", False), ("a.b", True), ("a.c", False)]


def test_a_part_of_the_context_is_named_only_by_the_file_that_owns_it():
    header = (ROOT / "csrc" / "vk" / "context.h").read_text()
    parts = re.findall(r"^    \} (\w+);$", header, re.MULTILINE)
    assert {"quiesce", "queue", "allocation_pool"} <= set(parts)
    for path in SOURCES:
        named = set(re.findall(rf"\bcontext->({'|'.join(parts)})\.", path.read_text()))
        assert named <= {path.stem}, f"{path.name} names what belongs to {named}.c"


@EVERY_SOURCE
def test_files_are_short_enough_to_read(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= 300
    assert max(map(len, lines)) <= 128


def test_lines_fit_128_columns():
    """Those of Python, of shaders, and of documents but for tables and pictures."""
    folders = ("benchmarks", "companion", "dmlops", "docs", "examples", "tests", "tools")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py*") if path.suffix in (".py", ".pyi")]
    paths += [*(ROOT / "docs").rglob("*.md"), *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING"))]
    for path in [*paths, *(ROOT / "shaders").iterdir()]:
        lines = enumerate(path.read_text().splitlines(), 1)
        assert [number for number, line in lines if len(line) > 128 and not line.startswith(("| ", "!["))] == [], path


def functions(text):
    """The name and the number of lines of each function: from its first line to the brace that ends it."""
    first = None
    for number, line in enumerate(text.splitlines()):
        if re.match(r"[A-Za-z_].*\w\(", line):
            first = number, re.search(r"(\w+)\(", line)[1]
        elif line == "}" and first:
            yield first[1], number - first[0] + 1
            first = None


@EVERY_SOURCE
def test_functions_are_short_enough_to_read(path):
    assert [(name, lines) for name, lines in functions(path.read_text()) if lines > 50] == []


def test_a_long_function_would_be_found():
    assert list(functions("int f(int a,\n      int b)\n{\n    return a;\n}\n")) == [("f", 5)]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """A source distribution, made from a copy that holds nothing built."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = folder / "copy"
    unfinished = "dmlops-*"  # of another source distribution that is made just now
    skip = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "*.so", "__pycache__", "tests", "shared", unfinished)
    shutil.copytree(ROOT, copy, ignore=skip)
    run_python("from setuptools import build_meta; build_meta.build_sdist('..')", cwd=copy)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def test_the_sdist_is_complete(sdist):
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    needed = {str(path.relative_to(ROOT)) for path in SOURCES}
    needed |= {str(path.relative_to(ROOT)) for path in (ROOT / "shaders").rglob("*") if path.is_file()}
    needed |= {str(path.relative_to(ROOT)) for path in (ROOT / "dmlops").glob("*.py*") if path.suffix in (".py", ".pyi")}
    needed |= {
        "examples/requirements.txt",
        "tools/system-packages.sh",
        "benchmarks/results/cells.svg",
        "benchmarks/results/README.md",
    }  # of the Makefile and README
    needed |= {"dmlops/py.typed", "LICENSE", "README.md", "pyproject.toml", "setup.py"}
    needed |= {"companion/build.py", "vendored/include/vulkan/vulkan.h", "vendored/include/vulkan/LICENSE.txt"}
    needed |= {f"vendored/shaders/{path.stem}.spv.h" for path in (ROOT / "shaders").glob("*.comp")}
    assert needed <= names, sorted(needed - names)
    assert not [name for name in names if name.endswith((".so", ".spv", ".o"))]


def carries_what_it_needs(names):
    """Of the files of an installed package or a wheel."""
    assert {"dmlops/__init__.py", "dmlops/_core.pyi", "dmlops/py.typed", "dmlops/reference.py"} <= names
    assert {"dmlops/dask/blocks.py", "dmlops/directml/tables.py", "dmlops/onnx/backend.py"} <= names
    assert any(re.fullmatch(r"dmlops/_core[.\w-]*\.so", name) for name in names)
    assert not [name for name in names if name.startswith(("csrc", "shaders", "tests"))]


def test_the_installed_package_carries_what_it_needs():
    carries_what_it_needs({str(path) for path in importlib.metadata.files("dmlops")})


def test_the_sdist_asks_for_the_compiler_that_it_is_to_use(sdist, tmp_path):
    with tarfile.open(sdist) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has it since 3.11.4
        tar.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    variables = {"DMLOPS_COMPILE_SHADERS": "1", "GLSLC": "/nonexistent", "VULKAN_SDK": None}
    done = run_python("", args=("setup.py", "-q", "build_ext"), cwd=folder, env=variables, check=False)
    assert done.returncode and "dmlops: glslc" in done.stderr


def described(text):
    """The targets of pictures, of links, and what is a comment, in a wheel's description."""
    return (
        re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text),
        re.findall(r"(?<!!)\[[^\]]*\]\(([^)]+)\)", text),
        re.findall("<!--", text),
    )


def test_the_description_reads_well_without_an_address(sdist):
    """Far from the files: no picture, no link that leads nowhere; the names of files are there."""
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        (info,) = (name for name in tar.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", name))
        text = email.message_from_bytes(tar.extractfile(info).read()).get_payload(decode=True).decode()
    readme = (ROOT / "README.md").read_text()
    assert text.strip() == publishing.description(readme, publishing.address()).strip()
    alone = publishing.description(readme, "")
    assert described(alone) == ([], [], [])
    files = set(re.findall(r" \(`([\w./]+\.\w+)`\)", alone))
    assert len(files) >= 10 and files <= names


def test_the_description_links_to_the_address():
    address = "https://example.org/someone/dmlops"
    text = publishing.description((ROOT / "README.md").read_text(), address)
    pictures, links, comments = described(text)
    assert len(pictures) >= 1 and len(links) >= 10 and comments == []
    for way, targets in (("raw", pictures), ("blob", links)):
        for target in targets:
            prefix = f"{address}/{way}/HEAD/"
            assert target.startswith(prefix) and (ROOT / target.removeprefix(prefix)).is_file(), target


@pytest.mark.check
@pytest.mark.parametrize("variables", [{"GLSLC": "/nonexistent"}, {"DMLOPS_COMPILE_SHADERS": "1"}], ids=str)
def test_the_sdist_builds(sdist, tmp_path, variables):
    """Without a shader compiler, and with one on request."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", tmp_path]
    unoptimised = {"DMLOPS_CFLAGS": "-O0"}  # it is not to be used
    subprocess.run([*pip, sdist], check=True, env={**os.environ, **variables, **unoptimised})
    (wheel,) = tmp_path.glob("*.whl")
    carries_what_it_needs(set(zipfile.ZipFile(wheel).namelist()))


def test_the_tests_use_the_installed_package():
    """Of this environment, although the checkout has a built package too."""
    for module in (dmlops, dmlops._core):
        assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
    said = run_python("import dmlops._core; print(dmlops.__file__, dmlops._core.__file__, sep='\\n')").stdout
    assert said.split("\n")[:2] == [dmlops.__file__, _core.__file__]


def test_the_checkout_can_be_used_in_place():
    """Python started in it finds its folder dmlops/ first, with the extension that is installed in .venv and no other one."""
    if pathlib.Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("only .venv's extension stands beside the sources")
    done = run_python("import dmlops; dmlops.slice([1, 2], [0], [2], device='host'); print(dmlops._core.__file__)", cwd=ROOT)
    here = pathlib.Path(done.stdout.strip())
    assert here.parent == ROOT / "dmlops"
    assert here.read_bytes() == pathlib.Path(_core.__file__).read_bytes()


def test_a_folder_without_the_extension_says_what_to_do(tmp_path):
    shutil.copytree(ROOT / "dmlops", tmp_path / "dmlops", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    with pytest.raises(AssertionError, match="run `make demo`"):
        run_python("import dmlops", cwd=tmp_path)


def test_nothing_generated_is_tracked():
    """Shaders and headers made by the build stay out of the source folders."""
    for folder in ("csrc", "shaders"):
        assert not [path for path in (ROOT / folder).rglob("*") if path.suffix in (".spv", ".o", ".so")]
