"""The benchmark: which driver it measures, that it goes on where it has ended, and that its headline says what was measured."""

import argparse
import copy
import sys
import types

import pytest

import support

BENCHMARKS = support.ROOT / "benchmarks"
MODULES = ("environment", "report", "run", "summary", "contest", "peers", "probes", "timing")


@pytest.fixture
def bench(monkeypatch):
    """The benchmark's modules, which nothing else sees."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    before = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    import environment
    import report
    import run
    import summary

    for variable in environment.DRIVER_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    yield types.SimpleNamespace(environment=environment, report=report, run=run, summary=summary)
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def last(bench):
    return bench.summary.load(BENCHMARKS / "results" / "benchmark.json")


def test_the_driver_is_the_companions_then_the_systems(bench, monkeypatch, tmp_path):
    environment = bench.environment
    system, manifest = tmp_path / "lvp_icd.x86_64.json", tmp_path / "companion.json"
    system.touch()
    monkeypatch.setattr(environment, "DRIVER_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(environment.importlib.metadata, "version", lambda name: {environment.COMPANION: "25.0"}[name])
    monkeypatch.setitem(sys.modules, "dmlops_lavapipe", types.SimpleNamespace(manifest_path=lambda: manifest))

    def chosen(**options):
        for variable in environment.DRIVER_VARIABLES:
            monkeypatch.delenv(variable, raising=False)
        held = environment._choose_driver(options.get("device"), options.get("companion", True))
        return held, environment.os.environ.get("VK_DRIVER_FILES"), environment.driver_package()

    assert chosen() == (True, str(manifest), "dmlops-lavapipe 25.0")
    assert chosen(companion=False) == (True, str(system), "the system's driver")
    assert chosen(device="nvidia") == (False, None, "")
    monkeypatch.setitem(sys.modules, "dmlops_lavapipe", None)
    assert chosen() == (True, str(system), "the system's driver")
    system.unlink()
    assert chosen() == (False, None, "")


class Bar(list):
    """tqdm's, silent."""

    def __init__(self, work, **_):
        super().__init__(work)

    def write(self, line):
        pass

    set_description = write


def test_a_run_goes_on_where_it_has_ended(bench, last, monkeypatch, tmp_path):
    """Cells and probes are measured once each, in whichever part; another driver's are refused."""
    import contest
    import peers
    import probes

    measured, unfinished, clock = [], tmp_path / "unfinished.json", iter(range(1000))
    records = {record["name"]: record for record in last["cells"][:3]}

    def measures(name):
        measured.append(name)
        return records.get(name, {"call_us": 1.0})

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(peers, "load", lambda *_, **__: peers.Peers())
    monkeypatch.setattr(contest, "run", lambda cell, *_: measures(cell.name))
    monkeypatch.setattr(probes, "run", lambda name, *_: measures(name))
    monkeypatch.setattr(bench.run, "driver", lambda device: (driver, "cpu"))
    monkeypatch.setattr(bench.run.time, "monotonic", lambda: 20 * next(clock))
    monkeypatch.setattr(peers, "describe", lambda contenders: last["peers"])
    cells, driver = [argparse.Namespace(name=name) for name in records], "one"

    def run(**given):
        options = argparse.Namespace(**({"quick": False, "rounds": 3, "device": None, "resume": True, "minutes": None} | given))
        return bench.run.measure(options, cells, ["small-call"], True, unfinished)

    report, whole = run(minutes=0.5)
    assert not whole and [one["name"] for one in report["cells"]] == measured == list(records)[:2]
    driver = "another"
    with pytest.raises(SystemExit, match="another driver: one, not another"):
        run()
    driver = "one"
    report, whole = run()
    assert whole and measured == [*records, "small-call"] and report["seconds"] == 80
    assert [one["name"] for one in report["cells"]] == list(records) and report["probes"] == {"small-call": {"call_us": 1.0}}
    assert bench.summary.load(unfinished)["cells"] == report["cells"]
    run(resume=False)
    assert measured == 2 * [*records, "small-call"]


def test_the_systems_driver_stands_beside(bench, last, tmp_path):
    """Times on it are compared with the same peers: twice the time is half the ratio."""
    cells = {record["name"]: {"dmlops": 2 * record["results"]["dmlops"]["ms"]} for record in last["cells"]}
    both = last | {"system_driver": {"driver": "the other", "cells": cells}}
    lines = bench.report.operators(both)
    alone = {key: value for key, value in last.items() if key != "system_driver"}
    assert not any(bench.report.SYSTEM in line for line in bench.report.operators(alone))
    head, _, *rows = (line.split(" | ") for line in lines[: lines.index("")])
    assert len(rows) == 3 and head[1:] == ['`device="auto"`', "a CPU driver", f"a CPU driver, {bench.report.SYSTEM} |"]
    for row in rows:
        own, other = (float(cell.strip("* |").partition(";")[0].strip("*")) for cell in row[2:])
        assert other == pytest.approx(own / 2, abs=0.006)
    assert "the other" in bench.report.environment_line(both)


def test_the_headline_has_processors_and_recipes(bench, last, tmp_path):
    """What the scripts add with --into, by whom they are compared with, and those that are slower."""
    file = tmp_path / "benchmark.json"
    bench.summary.save(last, file)
    rows = [("a", "Pillow", 1.0, 4.0), ("b", "Pillow", 2.0, 2.0), ("c", "torchvision", 4.0, 2.0)]
    named = [{"name": name, "picture": "p", "by": by, "ms": ms, "other_ms": other} for name, by, ms, other in rows]
    for name in bench.summary.ADDED:
        bench.summary.add(file, name, copy.deepcopy(named))
    found = bench.report.headline(bench.summary.load(file)).removeprefix(bench.report.headline(last))
    figures = "**2.00 times as long** on Pillow, faster in 0 of 2 cases; **0.50 times as long** on torchvision, faster in 1 of"
    assert found.count(figures) == 2 and "transformers" in found and "dmlops.recipes" in found
