"""Write the sources of the site: pages as they stand in the repository, and those that are computed.

    python docs/assemble.py build/docs-source

A page that stands in the repository may link to other files of it. Links to files that are pages of the site lead to the page;
a link to any other file becomes the file's name. The examples of the pages are run: a wrong one ends it.
"""

import doctest
import os
import re
import shutil
import sys
from pathlib import Path

import coming_from_page
import operator_pages
import recipes_page
import reference_pages
from computed import COMPUTED

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.append(str(ROOT / "tools"))

import publishing  # noqa: E402

OPERATORS = DOCS / "operators.md"  # the page of all, which gets the tables and links of the site
# Pages that stand elsewhere in the repository, by their place on the site. All of docs/*.md are pages too.
ELSEWHERE = {
    "architecture.md": ROOT / "ARCHITECTURE.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "changelog.md": ROOT / "CHANGELOG.md",
    "benchmark.md": ROOT / "benchmarks" / "results" / "README.md",
    "drivers.md": ROOT / "benchmarks" / "results" / "drivers.md",
    "gpu.md": ROOT / "benchmarks" / "results" / "gpu.md",
    **{f"tour/{path.name}": path for path in sorted((ROOT / "examples").glob("*.ipynb"))},
}
# Pages of the site that are computed, by the files that they are made from: in the repository, links lead to these.
MADE_FROM = {
    ROOT / "dmlops" / "__init__.py": "api.md",
    ROOT / "dmlops" / "recipes" / "__init__.py": "api.md",
    ROOT / "dmlops" / "reference.py": "api.md",
    OPERATORS: "operators/index.md",
    DOCS / "recipes.py": "preprocessing.md",
}
COMMENT = re.compile(r"<!-- computed: (\w+) -->")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def main(folder):
    if folder.exists():
        shutil.rmtree(folder)
    texts = {path: str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))} | {OPERATORS: MADE_FROM[OPERATORS]}
    pages = {place: path for path, place in texts.items()} | ELSEWHERE
    places = {source: place for place, source in pages.items()} | MADE_FROM
    for place, source in pages.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            run_examples(source)
            text = with_links_of_the_site(source, place, places, folder)
            target.write_text(COMMENT.sub(lambda match: COMPUTED[match[1]](folder), text))
        else:
            shutil.copy(source, target)
    for module in (operator_pages, coming_from_page, recipes_page, reference_pages):
        module.write(folder)


def run_examples(page):
    """Run what stands behind prompts; the cells of notebooks are run by Sphinx."""
    if doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed:
        raise SystemExit(f"{page}: its examples do not print what it says")


def with_links_of_the_site(source, place, places, folder):
    """The text of the page `source`, which gets to `place`, with each link to a file of the repository mended."""

    def mended(match):
        picture, text, target, heading = match[1], match[2], match[3], match[4] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        path = Path(os.path.normpath(source.parent / target))
        if path in places:
            return f"{picture}[{text}]({os.path.relpath(places[path], Path(place).parent)}{heading})"
        if picture:
            pictures = folder / "pictures"
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, pictures)
            return f"![{text}]({os.path.relpath('pictures', Path(place).parent)}/{path.name})"
        return f"`{text.strip('`')}`"

    text = publishing.as_published(source.read_text(), publishing.address())
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(mended, part) for part in parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
