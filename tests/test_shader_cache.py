"""Mesa's cache of kernels: it is used where there is a place for it, and nothing is said where there is none."""

import os

import dmlops
import pytest

import support

pytestmark = [
    pytest.mark.posix,
    pytest.mark.skipif(bool(support.VALIDATION), reason="the validation layer writes into the home folder itself"),
]

@pytest.fixture
def mesa(vulkan):
    """A driver of Mesa's."""
    if "llvmpipe" not in dmlops.devices()[vulkan].name:
        pytest.skip("the driver is not Mesa's")


CALL = """
import os, sys
import dmlops, numpy as np
before = dict(os.environ)
if os.getuid() == 0 and sys.argv[1:] == ["as_nobody"]:
    os.setgid(65534)
    os.setuid(65534)
assert dmlops.transpose(np.zeros((20, 30), np.uint8), device=0).shape == (30, 20)
assert os.environ == before
print(os.system('test -n "$MESA_SHADER_CACHE_DISABLE"') != 0 and "kept")
"""
NOTHING_SET = dict.fromkeys(
    [f"MESA_{name}" for name in ("SHADER_CACHE_DISABLE", "GLSL_CACHE_DISABLE", "SHADER_CACHE_DIR", "GLSL_CACHE_DIR")]
)


def called(*args, **env):
    """What Mesa says, and whether it has been left to its cache."""
    environment = {**NOTHING_SET, "XDG_CACHE_HOME": None, "HOME": None, **env}
    done = support.run_python("", env=environment, args=("-c", CALL, *args))
    said = [line for line in done.stderr.splitlines() if not line.startswith("profiling:")]  # nobody may not count lines
    return "\n".join(said), "kept" in done.stdout


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": "/nonexistent"},
        {"HOME": "/nonexistent/of/nobody"},
        {"HOME": "/"},
        {"HOME": ""},
        {},  # the system's list of users has it
        {"HOME": "/", "XDG_CACHE_HOME": "/nonexistent"},
        {"XDG_CACHE_HOME": ""},
    ],
)
def test_a_user_without_a_home(vulkan, env):
    assert os.getuid() == 0 or not os.access("/", os.W_OK)
    if os.getuid() != 0 and "HOME" not in env and "XDG_CACHE_HOME" not in env:
        pytest.skip("this user has a home")
    assert called("as_nobody", **env) == ("", False)


def test_a_file_in_the_place(vulkan, tmp_path):
    (tmp_path / "file").touch()
    assert called(HOME=str(tmp_path / "file")) == ("", False)
    assert called(XDG_CACHE_HOME=str(tmp_path / "file")) == ("", False)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    assert called(XDG_CACHE_HOME=str(tmp_path / "dangling")) == ("", False)


@pytest.mark.parametrize("made", [{"HOME": "new"}, {"HOME": "."}, {"XDG_CACHE_HOME": "new"}, {"XDG_CACHE_HOME": "."}])
def test_a_place(mesa, tmp_path, made):
    """Mesa makes a folder that is missing, and keeps its cache there."""
    assert called(**{name: str(tmp_path / folder) for name, folder in made.items()}) == ("", True)
    assert any(file.is_file() for file in tmp_path.rglob("mesa_shader_cache*/**/*"))


def test_what_the_user_sets_is_left_alone(mesa, tmp_path):
    (tmp_path / "file").touch()
    home = {"HOME": str(tmp_path / "file")}
    said, kept = called(**home, MESA_SHADER_CACHE_DIR=str(tmp_path / "file" / "below"))
    assert "shader cache" in said and kept
    assert called(**home, MESA_SHADER_CACHE_DIR=str(tmp_path / "cache")) == ("", True)
    said, kept = called(**home, MESA_SHADER_CACHE_DISABLE="false")
    assert "shader cache" in said
