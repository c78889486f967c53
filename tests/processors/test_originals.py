"""Every class that ``dmlops.preprocessing`` has, against the class itself."""

import dmlops
import numpy as np
import originals
import pytest
from dmlops.processors.comparing import as_arrays, difference
from dmlops.processors.configuration import census
from dmlops.processors.rows import REFUSED, ROWS

import processor_cases as cases

EVERY_ROW = pytest.mark.parametrize("name, backend", cases.rows())


def preprocessor(name, backend, keys):
    return dmlops.preprocessing(cases.source(name, keys), backend=backend, video=cases.is_video(name))


def differences(found, expected):
    assert set(found) == set(expected)
    texts = {name: difference(as_arrays(found[name]), as_arrays(expected[name])) for name in expected}
    return {name: text for name, text in texts.items() if text}


def outcome(function, *arguments):
    """The results, or the exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


@pytest.mark.parametrize(
    "name, backend, sizes",
    [(*row, sizes) for row in cases.rows() for sizes in cases.drawn(cases.SIZES, len(cases.SIZES), " ".join(row))],
)
def test_every_class_equals_its_original(name, backend, sizes):
    photos = cases.photos(name, cases.SIZES[sizes])
    if photos is None:
        pytest.skip("an array of one pixel has its channels first")
    expected = outcome(originals.run, name, backend, {}, photos)
    found = outcome(preprocessor(name, backend, {}), photos)
    if isinstance(found, dmlops.UnsupportedError) and sizes == "1x1":
        return
    if isinstance(expected, Exception):  # the original fails: for a picture of one pixel, and a bug of one class
        assert sizes == "1x1" or isinstance(found, Exception)
        return
    assert not differences(found, expected)


@EVERY_ROW
def test_changed_keys_have_the_same_effect_or_are_refused_by_name(name, backend):
    photos = cases.photos(name, [(60, 80), (90, 50)])
    every = list(cases.changed(name))
    keys_of_today, equal = cases.drawn(every, 8, name + backend), 0
    for keys in keys_of_today:
        expected = outcome(originals.run, name, backend, keys, photos)
        found = outcome(lambda keys=keys: preprocessor(name, backend, keys)(photos))
        if isinstance(found, dmlops.UnsupportedError):
            assert found.class_name == name and found.reason
        elif not isinstance(expected, Exception):
            assert not isinstance(found, Exception), (keys, found)
            assert not differences(found, expected), keys
            equal += 1
    assert equal or len(keys_of_today) < len(every)


def test_the_census_is_that_of_the_installed_transformers():
    """Where this fails it names what is new, gone or changed; see tests/processors/originals.py census."""
    installed, known = originals.names(), census()["classes"]
    found = originals.classes(installed & set(known))
    changed = {name: {key for key in known[name] if found[name][key] != known[name][key]} for name in found}
    differences = {
        "new": sorted(installed - set(known)),
        "gone": sorted(set(known) - installed),
        "changed": {name: sorted(keys) for name, keys in changed.items() if keys},
    }
    assert differences == {"new": [], "gone": [], "changed": {}}
    assert originals.transformers.__version__ == census()["transformers"]
    assert set(ROWS) | set(REFUSED) == set(known) and not set(ROWS) & set(REFUSED)


def test_the_models_of_the_census():
    auto = originals.importlib.import_module("transformers.models.auto.image_processing_auto")
    videos = originals.importlib.import_module("transformers.models.auto.video_processing_auto")
    mappings = auto.IMAGE_PROCESSOR_MAPPING_NAMES, videos.VIDEO_PROCESSOR_MAPPING_NAMES
    for known, mapping in zip((census()["images"], census()["videos"]), mappings, strict=True):
        names = {}
        for model, classes in mapping.items():
            name = (classes or {}).get("torchvision") or ((classes or {}).get("pil") or "").removesuffix("Pil")
            names |= {model: name} if name else {}
        assert names == known


def test_what_make_test_compares_with_is_the_originals_own():
    random = np.random.default_rng(0)
    recorded = cases.recorded()
    for name, backend in random.permutation(cases.rows())[:12]:
        photos = cases.photos(name, cases.SIZES["mixed"])
        assert recorded[f"{name} {backend} mixed"] == cases.digest(originals.run(name, backend, {}, photos))
