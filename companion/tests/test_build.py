"""What the build script says when something that it needs is gone."""

import importlib.util
import os
import subprocess
import urllib.error

import pytest

from conftest import ROOT


def script():
    specification = importlib.util.spec_from_file_location("companion_build", ROOT / "companion" / "build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def build(tmp_path, monkeypatch):
    module = script()
    monkeypatch.setattr(module, "BUILD", tmp_path)
    monkeypatch.setattr(module, "apt_mirrors", lambda: {"bookworm": "http://mirror.example/debian"})
    monkeypatch.setattr(module, "own_suite", lambda: "bookworm")
    return module


def test_mirrors_of_the_distribution_only(monkeypatch):
    module = script()
    targets = [
        "Debian\tbookworm\thttp://mirror.example/debian",
        "Docker\tbookworm\thttp://docker.example/debian",
        "Some Vendor\t\thttp://vendor.example/flat",
    ]
    monkeypatch.setattr(module.subprocess, "check_output", lambda command, text: "\n".join(targets))
    assert module.apt_mirrors() == {"bookworm": "http://mirror.example/debian"}


def test_oldest_suite(build, monkeypatch):
    monkeypatch.setattr(build, "exists", lambda url: True)
    assert build.find_suite() == ("http://mirror.example/debian", "bullseye")


def test_mirror_without_the_oldest_suite(build, monkeypatch, capsys):
    monkeypatch.setattr(build, "exists", lambda url: "bullseye" not in url)
    assert build.find_suite() == ("http://mirror.example/debian", "bookworm")
    assert "no bullseye" in capsys.readouterr().out


def test_suite_that_is_not_known(build, monkeypatch):
    monkeypatch.setattr(build, "exists", lambda url: "bullseye" not in url)
    monkeypatch.setattr(build, "own_suite", lambda: "noble")
    monkeypatch.setattr(build, "apt_mirrors", lambda: {"noble": "http://mirror.example/ubuntu"})
    with pytest.raises(build.Unavailable, match="no bullseye.*'noble'"):
        build.find_suite()


def test_no_mirror(build, monkeypatch):
    monkeypatch.setattr(build, "apt_mirrors", dict)
    with pytest.raises(build.Unavailable, match="name no mirror"):
        build.find_suite()


def test_source_that_the_mirror_has_dropped(build, monkeypatch):
    def missing(url):
        raise urllib.error.HTTPError(url, 404, "Not Found", None, None)

    monkeypatch.setattr(build.urllib.request, "urlopen", missing)
    with pytest.raises(build.Unavailable, match=r"does not give mesa_.*\.orig\.tar\.xz"):
        build.fetch_mesa("http://mirror.example/debian")


def test_source_that_is_not_what_it_was(build):
    (build.BUILD / f"mesa_{build.MESA}.orig.tar.xz").write_bytes(b"other")
    with pytest.raises(SystemExit, match="SHA-256"):
        build.fetch_mesa("http://mirror.example/debian")


def test_exit_status_where_it_cannot_be_built(build, monkeypatch, capsys):
    monkeypatch.setattr(build, "LOG", build.BUILD / "build.log")
    monkeypatch.setattr(build.sys, "argv", ["build.py"])
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        build.main()
    assert stopped.value.code == 69 and "debootstrap" in capsys.readouterr().err


def test_a_machine_that_is_not_known(build, monkeypatch, capsys):
    monkeypatch.setattr(build, "LOG", build.BUILD / "build.log")
    monkeypatch.setattr(build.sys, "argv", ["build.py", "riscv64"])
    with pytest.raises(SystemExit) as stopped:
        build.main()
    assert stopped.value.code == 2 and "riscv64" in capsys.readouterr().err


def test_other_machines_have_a_compiler_of_their_own(build):
    for machine in build.MACHINES.values():
        file = ROOT / "companion" / "native" / f"{machine.name}.ini"
        assert file.exists() == machine.crossed
        assert not machine.crossed or f"c = '{machine.compiler}gcc'" in file.read_text()


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_llvm_is_asked_for_the_machine_that_is_built_for(build, tmp_path, name):
    """Mesa asks for the component `native`, which is the machine that builds."""
    asked = tmp_path / "llvm-config-16"
    asked.write_text('#!/bin/sh\nfor word in "$@"; do echo "-l$word"; done; echo -lPolly\n')
    asked.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LLVM": "16", "NATIVE": build.MACHINES[name].llvm}
    command = ["sh", ROOT / "companion" / "native" / "llvm-config", "core", "native"]
    said = subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout
    assert said.split() == ["-lcore", f"-l{build.MACHINES[name].llvm}"]
