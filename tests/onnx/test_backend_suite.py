"""ONNX's own backend tests of every operator of dmlops.onnx, on Vulkan and on the host."""

import re

import dmlops.onnx
import onnx.backend.test
import pytest
from dmlops.onnx.operator_table import OPERATORS
from onnx.backend.test.loader import load_model_tests

# Tests whose graphs consist of listed operators and that are left out, and why.
LEFT_OUT = {
    r"test_cast(like)?_": "Cast of data computes; only shapes are cast",
    r"test_resize_.*(linear|cubic|tf_crop_and_resize)": "interpolates",
    r"test_identity_(sequence|opt)": "sequences and optionals are no tensors",
}


class OnHost(dmlops.onnx.backend.Backend):
    @classmethod
    def prepare(cls, model, device=None, **kwargs):
        return super().prepare(model, "host", **kwargs)


def cases(kinds=("node", "simple", "pytorch-converted", "pytorch-operator")):
    """The suite's tests whose graphs consist of our operators."""
    for kind in kinds:
        for case in load_model_tests(kind=kind):
            model = case.model or onnx.load(f"{case.model_dir}/model.onnx")
            if all(node.op_type in OPERATORS for node in model.graph.node) and model.graph.node:
                yield case, model


NAMES = {case.name: model for case, model in cases()}
RUN = [name for name in NAMES if not any(re.match(pattern, name) for pattern in LEFT_OUT)]


def suite(backend):
    return onnx.backend.test.BackendTest(backend, __name__).include("^(" + "|".join(RUN) + ")_cpu$")


def test_cases(suite, prefix):
    return {prefix + name: case for name, case in suite.test_cases.items() if "Real" not in name}


test_cases.__test__ = False
