"""Fuzzes with atheris for so many seconds: `python tests/fuzz/run.py SECONDS`. What it finds is left in build/fuzz; kept as a
file in tests/fuzz/corpus it becomes a test."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import atheris  # noqa: E402

import support  # noqa: E402

support.select_driver()
with atheris.instrument_imports(include=["dmlops", "fuzz"]):
    import fuzz

found = support.ROOT / "build" / "fuzz"
found.mkdir(parents=True, exist_ok=True)
options = [f"-max_total_time={int(sys.argv[1])}", "-max_len=256", "-timeout=60", "-print_final_stats=1", "-verbosity=0"]
atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={found}/", str(found), str(HERE / "corpus")], fuzz.one)
atheris.Fuzz()
