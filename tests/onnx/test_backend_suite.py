"""ONNX's own backend tests of every operator of dmlops.onnx, on Vulkan and on the host, equal to the bit."""

import dmlops.onnx
import onnx.backend.test
import pytest
import support
from node_tests import LEFT_OUT, left_out, models

MODELS = models()
OUT = left_out(MODELS)
RUN = set(MODELS).difference(*OUT.values())


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
    assert OUT[pattern]
    for name in OUT[pattern]:
        assert not dmlops.onnx.backend.is_compatible(MODELS[name]), name
        with pytest.raises(dmlops.onnx.UnsupportedNodeError, match="opset"):
            dmlops.onnx.backend.prepare(MODELS[name])
