"""ONNX's own backend tests of the operators of dmlops.onnx: which there are, and which are left out. The site lists them.

Those are of models that consist of these operators, and of others that compute of shapes and constants only.
"""

import re
import warnings

import dmlops.onnx
import onnx
from dmlops.onnx.operator_table import OPERATORS
from onnx.backend.test.loader import load_model_tests

# Tests whose graphs consist of operators of the table and that are left out, and why.
LEFT_OUT = {
    r"test_cast(like_.*_expanded)?": "Cast of data computes; only shapes are cast",
    r"test_resize_.*(linear|cubic|tf_crop_and_resize)": "Resize in these modes interpolates or extrapolates",
    r"test_scatter(nd_(add|multiply|max|min)|_elements_with_(duplicate|reduction))": "Scatters with a reduction compute",
    r"test_identity_(sequence|opt)$": "Identity of a sequence or an optional, which is no tensor",
}


def models():
    """The models of the suite whose graphs consist of our operators, by the name of their test."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ONNX computes its cases here, overflows and all
        for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
            for case in load_model_tests(kind=kind):
                model = case.model or onnx.load(f"{case.model_dir}/model.onnx")
                ours = all(node.op_type in OPERATORS for node in model.graph.node)
                if model.graph.node and (ours or dmlops.onnx.backend.is_compatible(model)):
                    found[case.name] = model
    return found


def left_out(names):
    """The names of the tests that are left out, by the pattern that they match."""
    return {pattern: [name for name in names if re.match(pattern, name)] for pattern in LEFT_OUT}
