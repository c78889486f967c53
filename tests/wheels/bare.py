"""The wheels of dist/ on bare systems: no compiler, no Vulkan, no headers.

`make check-wheels` runs what dmlops can do there by itself, on the host; `make check-companion` builds its companion, and runs
all of this. Its name keeps it out of the suite. Nothing here touches ``sys.path`` or the environment of this process.
"""

import shutil
from pathlib import Path

import pytest
from support import PIP_INSTALL
from systems import DIST, ROOT_USER, System, Unavailable

pytestmark = pytest.mark.timeout(1200)

COMPANION = [path.name for path in DIST.glob("dmlops_lavapipe-*_x86_64.whl")]
WITHOUT = "dist/ has no wheel of dmlops-lavapipe: `make check-companion` builds it, or says why it cannot"
needs_companion = pytest.mark.skipif(not COMPANION, reason=WITHOUT)
# What a user installs, and the variables with which the operators then run: without a driver, on the host.
WANTED = ["dmlops", "dmlops-lavapipe"] if COMPANION else ["dmlops"]
DEVICE = {} if COMPANION else {"DMLOPS_DEVICE": "host"}

BOOKWORM = System("bookworm", "numpy==1.26.* numba" if COMPANION else "numpy==1.26.*")
TRIXIE = System("trixie", "numpy tensorflow-cpu")
NEWEST = System("sid", "numpy")
COMPILER = System("bookworm", "numpy setuptools>=77", packages="gcc libc6-dev python3-dev")
PROGRAM = Path(__file__).with_name("operators.py")


def prepared(system):
    try:
        system.prepare()
    except Unavailable as error:
        pytest.skip(str(error))
    shutil.copy(PROGRAM, system.folder)
    return system


def check(system, *modules, **options):
    """What the operators do, in a process that uses these modules in this order."""
    printed = system.python(f"/operators.py {' '.join(modules)}", **DEVICE, **options)
    lines = [line for line in printed.splitlines() if line.startswith(("first call", "equal to NumPy"))]
    print(f"\n{system.suite}:", *lines, sep="\n    ")
    assert lines[-1].startswith("equal to NumPy")


def packages(system, **options):
    return {line.split("==")[0] for line in system.python("-m pip list --format freeze", **options).split()} - {
        "pip",
        "setuptools",
    }


@pytest.fixture(scope="module")
def bookworm():
    """As root, as in a container, with the oldest NumPy."""
    system = prepared(BOOKWORM)
    system.install(*WANTED, "numpy==1.26.*", user=ROOT_USER)
    return system


@pytest.fixture(scope="module")
def trixie():
    """As a user who may not become root, with a driver."""
    system = prepared(TRIXIE)
    system.install("dmlops[cpu]")
    assert packages(system) == {"dmlops", "dmlops-lavapipe", "numpy"}
    return system


def is_bare(system):
    assert not system.run("command -v gcc cc clang glslc make", check=False)
    assert not system.run("find / -xdev -name 'libvulkan*' -not -path '*/dmlops_lavapipe/*' 2>&1 | grep -v denied", check=False)


def test_the_oldest_system_is_bare(bookworm):
    is_bare(bookworm)


def test_selftest(bookworm):
    printed = bookworm.python("-m dmlops selftest", user=ROOT_USER)
    missing = f"the Vulkan loader is not installed; {PIP_INSTALL} dmlops[cpu]"
    assert ("llvmpipe" if COMPANION else missing) in printed, printed
    assert "ok    host: slice" in printed and "FAIL" not in printed, printed


@needs_companion
def test_a_user_s_system(trixie):
    is_bare(trixie)
    printed = trixie.python("-m dmlops selftest")
    assert "llvmpipe" in printed and "FAIL" not in printed, printed


def test_oldest_numpy_as_root(bookworm):
    check(bookworm, "dmlops", user=ROOT_USER)


@needs_companion
def test_as_a_user(trixie):
    check(trixie, "dmlops")


@needs_companion
def test_home_that_cannot_be_written(trixie):
    environment = {"HOME": "/opt"}
    printed = trixie.run("touch /opt/file 2>&1; /home/user/env/bin/python /operators.py dmlops", home="/opt", **environment)
    assert "Permission denied" in printed and "equal to NumPy" in printed, printed


@needs_companion
@pytest.mark.parametrize("modules", [("numba", "dmlops"), ("dmlops", "numba", "dmlops")], ids="-".join)
def test_beside_numba(bookworm, modules):
    bookworm.add("numba", user=ROOT_USER)
    check(bookworm, *modules, user=ROOT_USER)


@needs_companion
@pytest.mark.parametrize("modules", [("tensorflow", "dmlops"), ("dmlops", "tensorflow", "dmlops")], ids="-".join)
def test_beside_tensorflow(trixie, modules):
    trixie.add("tensorflow-cpu")
    check(trixie, *modules)


def test_newest_system():
    """As a user who may not become root."""
    system = prepared(NEWEST)
    system.install("dmlops[cpu]" if COMPANION else "dmlops")
    assert packages(system) == {*WANTED, "numpy"}
    check(system, "dmlops")


@needs_companion
def test_sdist_with_a_compiler_alone():
    """By Debian's compiler; tools/wheels.py also builds it without a header of the system's, by another."""
    system = prepared(COMPILER)
    (sdist,) = DIST.glob("dmlops-*.tar.gz")
    assert not system.run("command -v glslc; ls /usr/include | grep -iE 'vulkan|volk'", check=False)
    system.install(f"/dist/{sdist.name}", "dmlops-lavapipe")
    check(system, "dmlops")
