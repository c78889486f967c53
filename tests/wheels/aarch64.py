"""The wheel for aarch64 under qemu, on Debian's lavapipe. `make soak` runs it.

Needs aarch64 in binfmt_misc, on Debian by ``apt-get install qemu-user-static binfmt-support``.
"""

import shutil
from pathlib import Path

import pytest
from systems import System, Unavailable

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

TRIXIE = System("trixie", "numpy", packages="libvulkan1 mesa-vulkan-drivers", arch="arm64")
PROGRAM = Path(__file__).with_name("operators.py")


def test_aarch64():
    if not Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
        pytest.skip("needs qemu-user-static and binfmt-support")
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
