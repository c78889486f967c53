"""ONNX's own backend tests of every operator of dmlops.onnx, on Vulkan and on the host, equal to the bit."""

import re
import warnings

import dmlops.onnx
import onnx.backend.test
import pytest
import support
from dmlops.onnx.operator_table import OPERATORS
from onnx.backend.test.loader import load_model_tests

# Tests whose graphs consist of operators of the table and that are left out, and why.
LEFT_OUT = {
    r"test_cast(like_.*_expanded)?": "Cast of data computes; only shapes are cast",
    r"test_resize_.*(linear|cubic|tf_crop_and_resize)": "these modes interpolate or extrapolate",
    r"test_identity_(sequence|opt)$": "a sequence or an optional is no tensor",
}


def models():
    """The models of the suite whose graphs consist of our operators, by the name of their test."""
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            model = case.model or onnx.load(f"{case.model_dir}/model.onnx")
            if model.graph.node and all(node.op_type in OPERATORS for node in model.graph.node):
                yield case.name, model


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX computes its cases here, overflows and all
    MODELS = dict(models())
RUN = {name for name in MODELS if not any(re.match(pattern, name) for pattern in LEFT_OUT)}


def suite(device_name):
    """ONNX's test classes, for a backend that has one device whatever ONNX asks for, with nothing but our tests in them."""

    class OneDevice(dmlops.onnx.backend.Backend):
        @classmethod
        def prepare(cls, model, device=None, **kwargs):
            return super().prepare(model, device_name(), **kwargs)

    exact = {name: {"rtol": 0, "atol": 0} for name in RUN}
    for name, case in onnx.backend.test.BackendTest(OneDevice, __name__, exact).test_cases.items():
        for attribute in [entry for entry in vars(case) if entry.startswith("test_")]:
            if attribute.removesuffix("_cpu") not in RUN:
                delattr(case, attribute)
        if any(entry.startswith("test_") for entry in vars(case)):
            yield name, case


globals().update({f"Vulkan{name}": pytest.mark.usefixtures("vulkan")(case) for name, case in suite(support.vulkan_device)})
globals().update({f"Host{name}": case for name, case in suite(lambda: "host")})


def test_all_of_them_run():
    ran = {name.removesuffix("_cpu") for key, case in globals().items() if key.startswith("VulkanOnnx") for name in vars(case)}
    assert len(RUN) > 130 and RUN <= ran


@pytest.mark.parametrize("pattern", LEFT_OUT)
def test_what_is_left_out_is_refused(pattern):
    left_out = [name for name in MODELS if re.match(pattern, name)]
    assert left_out
    for name in left_out:
        assert not dmlops.onnx.backend.is_compatible(MODELS[name]), name
        with pytest.raises(dmlops.onnx.UnsupportedNodeError, match="opset"):
            dmlops.onnx.backend.prepare(MODELS[name])
