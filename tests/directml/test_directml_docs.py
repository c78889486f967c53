"""What the documentation says of dmlops.directml: examples, tables, errata, and what each name is."""

import doctest
import importlib
import pkgutil
import re

import pytest

import dmlops
import dmlops.directml as dml
from dmlops.directml import operator_names, tables
from support import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [f"dmlops.directml.{module.name}" for module in pkgutil.iter_modules(dml.__path__)]
PAGE = ROOT / "docs" / "directml.md"


@pytest.fixture(scope="module")
def renderer():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        return importlib.import_module("directml_tables")


def test_docstrings(vulkan):
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=FLAGS)
    for name in ["dmlops.directml", *MODULES]:
        for test in finder.find(importlib.import_module(name)):
            runner.run(test)
    assert runner.tries >= 15 and runner.failures == 0


def test_the_page_s_examples(vulkan):
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=FLAGS)
    assert result.attempted >= 10 and result.failed == 0


def test_the_page_s_model(tmp_path):
    """The JSON on the page prints what the page says."""
    text = PAGE.read_text()
    (tmp_path / "crop.json").write_text(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    said = []
    dml.run(dml.load(tmp_path / "crop.json"), device="host", write=said.append)
    assert said[-1] in text


def test_the_page_has_the_tables_of_the_data(renderer):
    """`python docs/directml_tables.py` writes them."""
    text = PAGE.read_text()
    assert renderer.with_tables(text) == text
    for name in tables.SUPPORT:
        assert f"[`{name}`]({tables.PAGES[name]})" in text
    assert text.count("| [DML_") + text.count("| [d") == len(renderer.ERRATA)


def test_one_table_has_all_operators():
    """Of each what runs it, or what it computes; none twice."""
    part = PAGE.read_text().partition("<!-- operators: docs/directml_tables.py -->")[2].partition("<!-- operators: end -->")[0]
    names = re.findall(r"`([A-Z0-9_]+)`", part)
    others = [name for names in operator_names.COMPUTE.values() for name in names]
    assert sorted(names) == sorted([*tables.SUPPORT, *others]) and len(set(names)) == len(names)
    yes = re.findall(r"^\| `([A-Z0-9_]+)` \| yes \|", part, re.MULTILINE)
    assert yes == list(tables.SUPPORT)
    for function in re.findall(r"`dmlops\.(\w+)`", part):
        assert callable(getattr(dmlops, function))


def test_a_change_of_the_data_would_be_noticed(renderer, monkeypatch):
    monkeypatch.setitem(tables.SUPPORT["TILE"], "6_4", tables.Support((1, 9), tables.ALL_TYPES))
    text = PAGE.read_text()
    assert renderer.with_tables(text) != text


def test_errata_are_about_known_pages(renderer):
    known = {*tables.PAGES.values(), *(address for name, address in vars(tables).items() if name.endswith("_PAGE"))}
    known.add(tables.WIN32 + "ne-directml-dml_padding_mode")
    for entry in renderer.ERRATA:
        assert entry.page in known
        assert all((entry.place, entry.says, entry.right, entry.why)) and entry.says != entry.right


def test_every_name_is_there_and_described():
    for name in dml.__all__:
        assert getattr(dml, name).__doc__, name
    for name in tables.SUPPORT:
        assert f"{name}_OPERATOR_DESC" in dml.__all__
