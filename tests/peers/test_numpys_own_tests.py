"""NumPy's own tests of what dmlops takes over: each of their calls is made in dmlops, too, and gives the same or is refused."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
# Modules with the fewest calls that are compared in them, of fused functions and of device arrays, with NumPy 2.4; what they
# test is moved, looked at, or mapped by both.
MODULES = {
    "lib.tests.test_arraypad": 500,
    "lib.tests.test_shape_base": 200,
    "lib.tests.test_stride_tricks": 50,
    "lib.tests.test_function_base": 500,
    "lib.tests.test_arraysetops": 100,
    "lib.tests.test_index_tricks": 50,
    "lib.tests.test_twodim_base": 30,
    "_core.tests.test_indexing": 250,
    "_core.tests.test_shape_base": 100,
    "_core.tests.test_item_selection": 200,
    "_core.tests.test_numeric": 400,
    "_core.tests.test_multiarray": 100,
    "_core.tests.test_half": 100,
    "_core.tests.test_umath": 2000,
    "_core.tests.test_ufunc": 2000,
    "_core.tests.test_regression": 100,
    "_core.tests.test_nep50_promotions": 5,
    "_core.tests.test_scalarmath": 200,
}
# Lists of 2**31 arrays; 2 GiB that are written to; arrays that are resized where nobody else may refer to them.
# A fused function gives plain arrays for those of a subclass, which test_output_ellipsis asks about.
LEFT_OUT = "not huge and not large and not TestResize and not test_output_ellipsis"
# Of fourteen thousand tests those of what is moved; most others sort, search, and read text.
OF_MULTIARRAY = " and (TestMethods or TestTake or TestStructured or TestZeroRank or TestSubscripting or TestWhere)"
OF_MULTIARRAY += " and not sort and not partition and not dot and not choose and not sum"


@pytest.mark.parametrize("module", MODULES)
def test_numpys_own_tests(module, tmp_path):
    name = f"numpy.{module}"
    if not importlib.util.find_spec("numpy.lib.tests") or not importlib.util.find_spec(name):
        pytest.skip(f"this NumPy, {np.__version__}, has no {name}")
    report = tmp_path / "report.json"
    environment = dict(os.environ, NUMPY_ADAPTER_REPORT=str(report), PYTHONPATH=str(FOLDER), DMLOPS_DEVICE="host")
    environment.pop("PYTEST_ADDOPTS", None)
    options = ["-q", "-p", "numpy_adapter", "-p", "no:cacheprovider", "-p", "no:randomly", "-k"]
    options += [LEFT_OUT + OF_MULTIARRAY * name.endswith("multiarray"), "--pyargs", name]
    command = [sys.executable, "-m", "pytest", *options]
    run = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, timeout=1150)
    assert run.returncode in (0, 1), run.stdout[-2000:]  # some of NumPy's tests fail where a call has one frame more
    found = json.loads(report.read_text())
    print(module, "compared:", found["compared"])
    for reason, count in sorted(found["refused"].items(), key=lambda item: -item[1]):
        print(f"  refused {count} times: {reason}")
    assert not found["different"], json.dumps(found["different"], indent=1)
    assert min(found["compared"].get(how, 0) for how in ("fuse", "device")) >= MODULES[module], found["compared"]
