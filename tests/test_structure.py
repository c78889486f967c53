"""What keeps the house a house: who may include whom, and what the packages carry."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import dmlops
import dmlops._core
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
    """A source distribution, made from a copy that holds nothing built."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = folder / "copy"
    skip = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "*.so", "__pycache__", "tests", "shared")
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
    needed |= {"examples/requirements.txt", "tools/system-packages.sh", "benchmarks/results/cells.svg"}  # of the Makefile and README
    needed |= {"dmlops/py.typed", "LICENSE", "README.md", "pyproject.toml", "setup.py"}
    assert needed <= names, sorted(needed - names)
    assert not [name for name in names if name.endswith((".so", ".spv", ".o"))]


def carries_what_it_needs(names):
    """Of the files of an installed package or a wheel."""
    assert {"dmlops/__init__.py", "dmlops/__init__.pyi", "dmlops/reference.pyi", "dmlops/_core.pyi", "dmlops/py.typed", "dmlops/reference.py"} <= names
    assert any(re.fullmatch(r"dmlops/_core[.\w-]*\.so", name) for name in names)
    assert not [name for name in names if name.startswith(("csrc", "shaders", "tests"))]


def test_the_installed_package_carries_what_it_needs():
    carries_what_it_needs({str(path) for path in importlib.metadata.files("dmlops")})


@pytest.mark.check
def test_the_sdist_builds(sdist, tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", tmp_path]
    subprocess.run([*pip, sdist], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    carries_what_it_needs(set(zipfile.ZipFile(wheel).namelist()))


def test_the_tests_use_the_installed_package():
    """Of this environment, although the checkout has a built package too."""
    for module in (dmlops, dmlops._core):
        assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
    said = run_python("import dmlops._core; print(dmlops.__file__, dmlops._core.__file__, sep='\\n')").stdout
    assert said.split("\n")[:2] == [dmlops.__file__, dmlops._core.__file__]


def test_the_checkout_can_be_used_in_place():
    """Python started in it finds its folder dmlops/ first: with the extension that is installed in .venv, no older or other one."""
    if pathlib.Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("only .venv's extension stands beside the sources")
    done = run_python("import dmlops; dmlops.slice([1, 2], [0], [2], device='host'); print(dmlops._core.__file__)", cwd=ROOT)
    here = pathlib.Path(done.stdout.strip())
    assert here.parent == ROOT / "dmlops"
    assert here.read_bytes() == pathlib.Path(dmlops._core.__file__).read_bytes()


def test_nothing_generated_is_tracked():
    """Shaders and headers made by the build stay out of the source folders."""
    for folder in ("csrc", "shaders"):
        assert not [path for path in (ROOT / folder).rglob("*") if path.suffix in (".spv", ".o", ".so")]
