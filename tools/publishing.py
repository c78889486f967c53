"""What depends on whether the project is published. The setting is in pyproject.toml, and absent until then:

    [project.urls]
    Repository = "https://github.com/NAME/dmlops"

With it, documents and messages install the packages from an index instead of the checkout's folder dist/, and the wheel's
description links to the files of the repository. setup.py and docs/assemble.py read it here.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FROM_THE_CHECKOUT = "pip install --find-links dist"  # what `make wheels` has built
FOR_NOW = "on no index yet"  # in paragraphs that are left out once the packages are on one
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def address():
    """Of the repository; empty until there is one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project.get("urls", {}).get("Repository", "").rstrip("/")


def pip_install(address):
    """What messages say in front of a package's name."""
    return "pip install" if address else f"make wheels && {FROM_THE_CHECKOUT}"


def as_published(text, address):
    """A document in Markdown, which says how to install from the checkout, as it is to read."""
    if not address:
        return text
    paragraphs = [paragraph for paragraph in text.split("\n\n") if FOR_NOW not in paragraph]
    return "\n\n".join(paragraphs).replace(FROM_THE_CHECKOUT, "pip install")


def description(readme, address):
    """The README as a wheel shows it, far from its files: links lead to the repository, or are names of files."""

    def linked(match):
        picture, text, path = match.groups()
        if not address:
            return "" if picture else f"{text} (`{path}`)"
        return f"{picture}[{text}]({address}/{'raw' if picture else 'blob'}/HEAD/{path})"

    text = re.sub(r"<!--.*?-->\n", "", as_published(readme, address))
    return re.sub(r"\n{3,}", "\n\n", LINK.sub(linked, text))
