"""Prints which lines of csrc a run of the suite left out, each under the reason that tests/uncovered.txt has for it.

    python tests/uncovered.py REPORT.json        (of gcovr --json)

Fails on a line of uncovered.txt that the code has no more. A line without a reason is printed, and no failure: which of
those that threads and random examples come by varies from run to run.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_reasons(path):
    """A dict from (file, line's text) to the reason."""
    reasons, reason = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            file, _, text = line.strip().partition(": ")
            reasons[file, text] = reason
        elif line and not line.startswith("#"):
            reason = line
    return reasons


def main(report):
    reasons = read_reasons(ROOT / "tests" / "uncovered.txt")
    texts = {file: [line.strip() for line in (ROOT / file).read_text().splitlines()] for file, _ in reasons}
    gone = [f"{file}: {text}" for file, text in reasons if text not in texts[file]]
    left = {}
    for file in json.loads(pathlib.Path(report).read_text())["files"]:
        source = (ROOT / file["file"]).read_text().splitlines()
        for number in sorted({line["line_number"] for line in file["lines"] if line["count"] == 0}):
            text = source[number - 1].strip()
            reason = reasons.get((file["file"], text), "No reason is known")
            left.setdefault(reason, []).append(f"{file['file']}:{number}: {text}")
    for reason, lines in left.items():
        print(reason, *lines, sep="\n    ")
    if gone:
        sys.exit("tests/uncovered.txt has lines that the code has no more:\n    " + "\n    ".join(gone))


main(sys.argv[1])
