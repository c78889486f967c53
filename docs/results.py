"""The benchmark's last run, and the benchmark's own functions that read it."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from report import number  # noqa: E402
from summary import best_peer, checks, copies, geometric_mean, group, load, ms, versus  # noqa: E402

__all__ = ["REPORT", "best_peer", "checks", "copies", "geometric_mean", "group", "ms", "number", "versus"]

REPORT = load(BENCHMARKS / "results" / "benchmark.json")
