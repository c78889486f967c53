"""Loads and stores of every width, in and out of bounds, by active and inactive lanes: access.c on the driver in the wheel."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TYPES = {  # components, and bytes of each
    "uint8_t": (1, 1),
    "uint16_t": (1, 2),
    "uint": (1, 4),
    "uint64_t": (1, 8),
    "u8vec4": (4, 1),
    "u16vec4": (4, 2),
    "uvec2": (2, 4),
    "uvec3": (3, 4),
    "uvec4": (4, 4),
    "u64vec4": (4, 8),
}
VARIANTS = ["BRANCH", "LOOP", "SHARED", "ARRAY", "PARTS"]


@pytest.fixture(scope="session")
def access(tmp_path_factory):
    program = tmp_path_factory.mktemp("access") / "access"
    for tool in ("gcc", "glslc"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, HERE / "access.c", "-ldl"], check=True)
    return program


CASES = [(t, v) for t, (components, _) in TYPES.items() for v in VARIANTS if v != "PARTS" or components == 4]


@pytest.mark.parametrize("element, variant", CASES)
def test_access(access, driver, tmp_path, element, variant):
    components, size = TYPES[element]
    shader = tmp_path / "access.spv"
    definitions = [f"-DT={element}", f"-DVARIANT={variant}"]
    subprocess.run(["glslc", "--target-env=vulkan1.2", "-O", *definitions, "-o", shader, HERE / "access.comp"], check=True)
    for robust in ("0", "1"):
        arguments = [driver, robust, shader, str(components), str(size), str(VARIANTS.index(variant))]
        run = subprocess.run([access, *arguments], stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0, f"robust {robust}: {run.stdout}"
