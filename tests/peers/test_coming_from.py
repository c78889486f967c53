"""Every row of the documentation's tables "Coming from ..." is true: their expression and ours give the same array."""

import functools
import importlib.util
import sys

import numpy as np
import pytest
from support import ROOT, define_torchvisions_operators

import dmlops

sys.path.append(str(ROOT / "docs"))

import interop  # noqa: E402
from coming_from import LIBRARIES, arrays  # noqa: E402

CASES = [
    pytest.param(library, row, id=f"{library.name.split()[0]}-{row.theirs[:40]}")
    for library in LIBRARIES
    for row in library.rows
]


def node(name, *inputs, **attributes):
    """The outputs of a model of one ONNX node. Inputs but the first are constants."""
    import onnxruntime
    from onnx import helper, numpy_helper

    named = {"scales": np.float32}  # Resize's third input
    floats = [np.asarray(attributes.pop(key), dtype) for key, dtype in named.items() if key in attributes]
    values = [inputs[0], *([None] * len(floats)), *map(np.asarray, (*floats, *inputs[1:]))]
    names = ["" if value is None else f"i{k}" for k, value in enumerate(values)]
    outputs = [f"o{k}" for k in range(len(inputs[1]) if name == "Split" else 1)]
    first = helper.make_tensor_value_info("i0", helper.np_dtype_to_tensor_dtype(inputs[0].dtype), inputs[0].shape)
    constants = [numpy_helper.from_array(value, key) for key, value in list(zip(names, values))[1:] if value is not None]
    results = [helper.make_tensor_value_info(key, first.type.tensor_type.elem_type, None) for key in outputs]
    graph = helper.make_graph([helper.make_node(name, names, outputs, **attributes)], name, [first], results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = session.run(None, {"i0": inputs[0]})
    return results if name == "Split" else results[0]


NODES = ("Concat", "DepthToSpace", "Gather", "GatherElements", "GatherND", "Pad", "Resize", "ReverseSequence", "ScatterND")
NODES += ("Slice", "SpaceToDepth", "Split", "Tile", "Transpose")


def parts(value):
    """Plain arrays, of one array or of several."""
    return [np.asarray(one) for one in (value if isinstance(value, (list, tuple)) else [value])]


@pytest.mark.parametrize(("library", "row"), CASES)
def test_both_columns_give_the_same(device, library, row):
    if library.module and not importlib.util.find_spec(library.module):
        pytest.skip(f"{library.module} is not installed")
    names = {name: functools.partial(node, name) for name in NODES} | arrays() | {"np": np}
    if library.module == "torchvision":
        define_torchvisions_operators()
    if library.module:
        exec(library.setup, names)
    theirs = eval(row.theirs if library.module else row.numpy, names)
    chosen = dmlops.asarray(0, device=device).device
    ours = eval(row.ours, {"np": np, "dmlops": OnDevice(chosen), **arrays()})
    assert len(parts(ours)) == len(parts(theirs))
    for one, other in zip(parts(ours), parts(theirs)):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()


@pytest.mark.parametrize("row", [row for row in interop.ROWS if row.tested], ids=lambda row: row.library)
def test_arrays_go_to_others_and_back(device, row):
    if not importlib.util.find_spec(row.module):
        pytest.skip(f"{row.module} is not installed")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    names = {"np": np, "dmlops": OnDevice(dmlops.asarray(0, device=device).device), "a": dmlops.asarray(x, device=device)}
    exec(row.setup, names)
    names["theirs"] = eval(row.export, names)
    back = eval(row.back, names)
    assert back.device == names["a"].device and np.array_equal(back.numpy(), x)


class OnDevice:
    """dmlops, with every operator called on one device."""

    def __init__(self, device):
        self.device = device

    def fuse(self, function):
        return functools.partial(dmlops.fuse(function), device=self.device)

    def __getattr__(self, name):
        function = getattr(dmlops, name)
        return function if name == "slice_from_key" else lambda *args, **kwargs: function(*args, **kwargs, device=self.device)
