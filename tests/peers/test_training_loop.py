"""docs/training.md is a script, which prints what the page says."""

import re

from support import ROOT, run_python

PAGE = (ROOT / "docs" / "training.md").read_text()


def test_the_page_prints_what_it_says(tmp_path):
    script = tmp_path / "training.py"  # a file, since spawned workers import it
    script.write_text("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)))
    beside, below = r"  # (?P<beside>.*)", r"(?P<below>(?:\n +# .*)+)"
    expected = []
    for match in re.finditer(rf"print\(.*\)(?:{beside}|{below})", PAGE):
        expected += [match["beside"]] if match["beside"] else re.findall("# (.*)", match["below"])
    assert len(expected) == PAGE.count("print(") + 1 >= 10  # the loop over the ways to start workers prints twice
    assert run_python(None, args=(script,)).stdout.splitlines() == expected
