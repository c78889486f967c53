"""Prints which lines of csrc a run of the suite did not execute, each under the reason that the source gives for it.

    python tests/uncovered.py REPORT.json        (of gcovr --json)

A comment with the word "uncovered", a colon and a reason stands for its own line, or, alone on a line, for the next one;
and for the lines after it that are indented further. A comment that stands for no code fails. A line without a reason is
printed and does not fail, nor does a reason whose lines were all executed: threads and random examples reach other lines in
each run. How many lines must be executed is gcovr's to check.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"/\* uncovered: (.*?) \*/")


def indentation(line):
    return len(line) - len(line.lstrip())


def read_reasons(lines):
    """A dict from the number of a line to the number of its mark and the reason."""
    reasons = {}
    for number, line in enumerate(lines, 1):
        if mark := MARK.search(line):
            first = number + (line.strip() == mark[0])
            depth = indentation(lines[first - 1])
            reasons[first] = number, mark[1]
            for inner in range(first + 1, len(lines) + 1):
                if lines[inner - 1].strip() and indentation(lines[inner - 1]) <= depth:
                    break
                reasons[inner] = number, mark[1]
    return reasons


def main(report):
    left, empty = {}, []
    for file in json.loads(pathlib.Path(report).read_text())["files"]:
        source = (ROOT / file["file"]).read_text().splitlines()
        reasons = read_reasons(source)
        marks = {mark for mark, _ in reasons.values()}
        idle = {reasons[line["line_number"]][0] for line in file["lines"] if line["line_number"] in reasons}
        empty += [f"{file['file']}:{number}" for number in sorted(marks - idle)]
        for number in sorted({line["line_number"] for line in file["lines"] if line["count"] == 0}):
            mark, reason = reasons.get(number, (None, "No reason is known"))
            idle.discard(mark)
            left.setdefault(reason, []).append(f"{file['file']}:{number}: {source[number - 1].strip()}")
        for number in sorted(idle):
            left.setdefault("Executed this time, although marked", []).append(
                f"{file['file']}:{number}: {source[number - 1].strip()}"
            )
    for reason, lines in left.items():
        print(reason, *lines, sep="\n    ")
    if empty:
        sys.exit("Marked as uncovered, and no code: " + ", ".join(empty))


if __name__ == "__main__":
    main(sys.argv[1])
