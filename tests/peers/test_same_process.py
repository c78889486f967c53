"""Libraries with a compiler, or threads, of their own, in one process with dmlops: imported before its first call or after it.

Each runs something of its own after a call of dmlops, and dmlops compiles kernels after that. Both sides' results are right,
and the process ends with status 0.
"""

import importlib.util

import pytest

import support

# The name of the module, and what it runs on `a`, an array of 32 x 48 floats: `result` is then np.maximum(a, 2) @ a.T.
NEIGHBOURS = {
    "tensorflow": """
compiled = tensorflow.function(lambda a: tensorflow.maximum(a, 2.0) @ tensorflow.transpose(a), jit_compile=True)
result = compiled(tensorflow.constant(a)).numpy()
""",
    "torch": """
tensor = torch.from_numpy(a)
traced = torch.jit.trace(lambda tensor: torch.maximum(tensor, torch.tensor(2.0)) @ tensor.T, tensor)
result = traced(tensor).numpy()
""",
    "onnxruntime": """
from onnx import helper
nodes = [helper.make_node("Max", ["a", "two"], ["b"]), helper.make_node("Transpose", ["a"], ["c"])]
nodes.append(helper.make_node("MatMul", ["b", "c"], ["d"]))
value = lambda name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), None)
graph = helper.make_graph(nodes, "graph", [value("a"), value("two")], [value("d")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
result = session.run(None, {"a": a, "two": np.float32([2])})[0]
""",
    "openvino": """
from openvino import opset13
parameter = opset13.parameter(a.shape, np.float32)
product = opset13.matmul(opset13.maximum(parameter, np.float32(2)), parameter, False, True)
result = openvino.compile_model(openvino.Model([product], [parameter]), "CPU")(a)[0]
""",
    "numba": """
@numba.njit
def product(a):
    result = np.zeros((len(a), len(a)), np.float32)
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(a.shape[1]):
                result[i, j] += max(a[i, k], 2) * a[j, k]
    return result
result = product(a)
""",
    "jax": """
import jax.numpy
result = np.asarray(jax.jit(lambda a: jax.numpy.maximum(a, 2) @ a.T)(a))
""",
}

# Kernels of all kinds, for each element size anew.
USE = """
import dmlops, numpy as np
a = np.random.default_rng(0).integers(0, 5, (32, 48)).astype(np.float32)
def use(dtype):
    x = np.arange(4 * 9 * 64 * 50).astype(dtype).reshape(4, 9 * 64, 50)
    assert np.array_equal(dmlops.slice(x, [0, 0, 0], x.shape, [1, -1, -1]), x[:, ::-1, ::-1])
    assert np.array_equal(dmlops.slice(x, [0, 0, 1], [4, 576, 49], [1, 1, 3]), x[:, :, 1::3])
    assert np.array_equal(dmlops.slice(x, [0, 5, 3], [4, 565, 17]), x[:, 5:570, 3:20])
    assert np.array_equal(dmlops.reverse_subsequences(x, [576, 0, 576, 1], 1, batch_axis=0)[::2], x[::2, ::-1])
    image = x.reshape(4, 64, 18, 25)
    blocks = image.reshape(4, 4, 4, 4, 18, 25).transpose(0, 3, 4, 1, 5, 2).reshape(4, 4, 72, 100)
    assert np.array_equal(dmlops.depth_to_space(image, 4), blocks)
    assert np.array_equal(dmlops.space_to_depth(blocks, 4), image)
def check(result):
    assert np.array_equal(result, np.maximum(a, 2) @ a.T)
"""
# Kernels in a cache would need no compiler.
ENVIRONMENT = {"MESA_SHADER_CACHE_DISABLE": "true", "TF_CPP_MIN_LOG_LEVEL": "3"}


def run(code):
    done = support.run_python(code, env=ENVIRONMENT)
    assert done.stdout.endswith("both are right\n")


def script(names, first):
    imports = "".join(f"import {name}\n" for name in names)
    begin = USE + "use('float32')\n"
    work = "".join(f"{NEIGHBOURS[name]}\ncheck(result)\nuse('uint8')\n" for name in names)
    return (imports + begin if first == "neighbour" else begin + imports) + work + "print('both are right')\n"


@pytest.mark.parametrize("first", ["neighbour", "dmlops"])
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_in_one_process(name, first, vulkan):
    if not importlib.util.find_spec(name):
        pytest.skip(f"there is no {name} for this interpreter")
    run(script([name], first))


@pytest.mark.parametrize("first", ["neighbour", "dmlops"])
def test_all_in_one_process(first, vulkan):
    run(script([name for name in NEIGHBOURS if importlib.util.find_spec(name)], first))
