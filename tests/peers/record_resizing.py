"""Writes tests/golden/resizing.jsonl: cases of resizing, and digests of what the libraries make of them.

    python tests/peers/record_resizing.py LIBRARY VERSION COUNT PYTHONPATH...

adds COUNT cases by the library of that version, which is imported from the folders of PYTHONPATH, if there are some.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
import resizing_cases  # noqa: E402

RECORDED = TESTS / "golden" / "resizing.jsonl"


def digests(library, cases, python=sys.executable, folders=()):
    """The library's version, and a digest for each case."""
    given = "".join(f"{json.dumps(case)}\n" for case in cases)
    command = [python, str(TESTS / "peers" / "resizing_child.py"), library]
    path = {"PYTHONPATH": os.pathsep.join(map(str, folders))} if folders else {}
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | path)
    version, *rest = done.stdout.splitlines()
    return version, rest


def main(library, version, count, *folders):
    source = random.Random(f"{library} {version}")
    filters = [name for name in resizing_cases.FILTERS if version >= "13" or not name.startswith("mks")]
    options = {"filters": filters} if library == "pillow" else {}
    cases = [resizing_cases.DRAW[library](source, 90, **options) | {"seed": source.randrange(10**6)} for _ in range(int(count))]
    said, found = digests(library, cases, os.environ.get("PEERS_PYTHON", sys.executable), folders)
    if not said.startswith(version):
        sys.exit(f"{library} {said} was found, not {version}")
    with RECORDED.open("a") as file:
        for case, digest in zip(cases, found, strict=True):
            print(json.dumps({"library": library, "version": version, **case, "digest": digest}), file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
