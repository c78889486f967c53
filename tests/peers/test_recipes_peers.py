"""`dmlops.recipes` against what its projects compute, restated with cv2, NumPy and Pillow themselves (`recipe_twins.py`).

As a program it records what these give, for `make test`, which has none of them: python tests/peers/test_recipes_peers.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recipe_cases
import recipe_twins


def theirs(case):
    return getattr(recipe_twins, case.name)(case.photos(), **case.options)


def differing(case):
    found, expected = case.made(), theirs(case)
    return [number for number, pair in enumerate(zip(found, expected, strict=True)) if not equal(*pair)]


def equal(found, expected):
    if isinstance(expected, list) and isinstance(expected[0], np.ndarray):
        return len(found) == len(expected) and all(map(equal, found, expected))
    found, expected = np.asarray(found), np.asarray(expected)
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.parametrize("case", list(recipe_cases.cases()), ids=str)
def test_recipes_equal_the_projects_code(case):
    assert not differing(case)


@pytest.mark.parametrize("name", sorted(recipe_cases.recipes.__all__))
def test_recipes_equal_the_projects_code_by_default(name):
    for sizes in ([(480, 640)], [(1080, 1920), (1080, 1920)], [(700, 500), (333, 640)]):
        assert not differing(recipe_cases.Case(name, sizes, {}))


def test_recipes_equal_the_projects_code_for_random_sizes_and_arguments():
    cases = list(recipe_cases.drawn(400, "recipes"))
    assert {case.name for case in cases} == set(recipe_cases.recipes.__all__)
    assert not [str(case) for case in cases if differing(case)]


def test_what_is_recorded_is_what_the_projects_code_gives():
    assert recipe_cases.recorded() == {str(case): recipe_cases.digested(theirs(case)) for case in recipe_cases.cases()}


if __name__ == "__main__":
    digests = {str(case): recipe_cases.digested(theirs(case)) for case in recipe_cases.cases()}
    recipe_cases.DIGESTS.write_text(json.dumps(digests, indent=0) + "\n")
