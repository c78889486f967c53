"""The wheels for aarch64 under qemu, on Debian's lavapipe and on the companion's. `make soak` runs it.

Needs aarch64 in binfmt_misc, on Debian by ``apt-get install qemu-user-static binfmt-support``.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from systems import System, Unavailable

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

BOOKWORM = System("bookworm", "numpy", arch="arm64")  # without Vulkan
TRIXIE = System("trixie", "numpy", packages="libvulkan1 mesa-vulkan-drivers", arch="arm64")
PROGRAM = Path(__file__).with_name("operators.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def emulator():
    if not Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
        pytest.skip("needs qemu-user-static and binfmt-support")


def test_kernels_for_resizing(tmp_path):
    """Of NEON, beside plain C: the emulator's processor has dot products."""
    python = ROOT / ".venv-wheels" / "bin" / "python"
    if not python.exists():
        pytest.skip("needs the compiler of .venv-wheels, which `make wheels` installs")
    names = "cache counters idle interrupt lock machine pages parallel pool processor status thread usable_memory".split()
    sources = [ROOT / "csrc" / "base" / f"{name}.c" for name in names]
    rooms = "plan", "ops", "resampling", "device", "host", "kernels"
    sources += [path for room in rooms for path in (ROOT / "csrc" / room).glob("*.c")]
    flags = ["-target", "aarch64-linux-musl", "-static", "-std=gnu11", "-O2", "-ffp-contract=off"]
    includes = [f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'shaders'}"]
    program = tmp_path / "resize_kernels"
    own = ROOT / "tests" / "core" / "resize_kernels.c"
    subprocess.run([python, "-m", "ziglang", "cc", *flags, *includes, *sources, own, "-lm", "-o", program], check=True)
    done = subprocess.run([program, "1000"], capture_output=True, text=True, check=True)
    assert done.stdout == "neon plain : 1000 images, 0 wrong\n"


def test_aarch64():
    try:
        TRIXIE.prepare()
    except Unavailable as error:
        pytest.skip(str(error))
    shutil.copy(PROGRAM, TRIXIE.folder)
    TRIXIE.install("dmlops")
    assert TRIXIE.run("uname -m").strip() == "aarch64"
    printed = TRIXIE.python("-m dmlops selftest")
    assert "llvmpipe" in printed and "FAIL" not in printed, printed
    assert "equal to NumPy" in TRIXIE.python("/operators.py dmlops")


def test_the_companion():
    if not list((ROOT / "dist").glob("dmlops_lavapipe-*_aarch64.whl")):
        pytest.skip("dist/ has no wheel of dmlops-lavapipe for aarch64: python companion/build.py aarch64")
    try:
        BOOKWORM.prepare()
    except Unavailable as error:
        pytest.skip(str(error))
    BOOKWORM.install("dmlops[cpu]")
    assert "the driver of dmlops-lavapipe" in BOOKWORM.python("-m dmlops")
    printed = BOOKWORM.python("-m dmlops selftest")
    assert "llvmpipe" in printed and "FAIL" not in printed, printed
