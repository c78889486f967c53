"""What keeps the house a house: who may include whom, and what the packages carry."""

import importlib.metadata
import pathlib
import re
import shutil
import tarfile

import pytest

from support import ROOT, run_python

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# An include may point right, never left.
MAY_INCLUDE = {"py": {"py", "vk", "core"}, "vk": {"vk", "core"}, "core": {"core"}}
SOURCES = sorted(path for suffix in ("*.c", "*.h") for path in (ROOT / "csrc").rglob(suffix))


def room(path):
    return path.relative_to(ROOT / "csrc").parts[0]


def includes(path):
    return INCLUDE.findall(path.read_text())


def test_there_are_sources():
    assert {room(path) for path in SOURCES} == set(MAY_INCLUDE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "csrc")))
def test_includes_point_right(path):
    for bracket, name in includes(path):
        if bracket == '"' and (path.parent / name).exists() and "/" not in name:
            continue  # a neighbour in the same room
        first = pathlib.PurePosixPath(name).parts[0]
        if bracket == '"' and first in MAY_INCLUDE:
            assert first in MAY_INCLUDE[room(path)], f"{room(path)} must not include {name}"
            assert (ROOT / "csrc" / name).exists(), f"{name} does not exist"
        assert ".." not in name, f"{name} hides where it points"
        if name == "Python.h" or first == "numpy":
            assert room(path) == "py", f"only csrc/py may include {name}"
        if first in ("volk.h", "vulkan"):
            assert room(path) == "vk", f"only csrc/vk may include {name}"


def test_the_rule_would_catch_a_breach():
    assert INCLUDE.findall('#include <Python.h>\n  # include "vk/vk.h"\n') == [("<", "Python.h"), ('"', "vk/vk.h")]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The names in a source distribution, made from a copy that holds nothing built."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = folder / "copy"
    skip = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "*.so", "__pycache__", "tests", "shared")
    shutil.copytree(ROOT, copy, ignore=skip)
    run_python("from setuptools import build_meta; build_meta.build_sdist('..')", cwd=copy)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        return {name.partition("/")[2] for name in tar.getnames()}


def test_the_sdist_is_complete(sdist):
    needed = {str(path.relative_to(ROOT)) for path in SOURCES}
    needed |= {str(path.relative_to(ROOT)) for path in (ROOT / "shaders").rglob("*") if path.is_file()}
    needed |= {str(path.relative_to(ROOT)) for path in (ROOT / "dmlops").glob("*.py*") if path.suffix in (".py", ".pyi")}
    needed |= {"examples/requirements.txt", "tools/system-packages.sh", "benchmarks/results/cells.svg", "benchmarks/results/README.md"}  # of the Makefile and README
    needed |= {"dmlops/py.typed", "LICENSE", "README.md", "pyproject.toml", "setup.py"}
    assert needed <= sdist, sorted(needed - sdist)
    assert not [name for name in sdist if name.endswith((".so", ".spv", ".o"))]


def test_the_installed_package_carries_what_it_needs():
    names = {str(path) for path in importlib.metadata.files("dmlops")}
    assert {"dmlops/__init__.py", "dmlops/_core.pyi", "dmlops/py.typed", "dmlops/reference.py"} <= names
    assert any(re.fullmatch(r"dmlops/_core[.\w-]*\.so", name) for name in names)
    assert not [name for name in names if name.startswith(("csrc", "shaders", "tests"))]


def test_nothing_generated_is_tracked():
    """Shaders and headers made by the build stay out of the source folders."""
    for folder in ("csrc", "shaders"):
        assert not [path for path in (ROOT / folder).rglob("*") if path.suffix in (".spv", ".o", ".so")]
