"""onnxruntime's CPU provider, by a model of one node that is built in memory."""

import numpy as np

from .peer import Peer, Unsupported


class OnnxRuntime(Peer):
    name = "onnxruntime"
    distributions = ("onnxruntime", "onnxruntime-gpu")

    def __init__(self, threads, device=None):
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 4

    def _session(self, node, inputs, constants=()):
        """The model of `node`, whose inputs are the arrays of `inputs` and `constants` by name."""
        helper = self.onnx.helper
        declared = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in inputs.items()
        ]
        kind = declared[0].type.tensor_type.elem_type
        graph = helper.make_graph(
            [node],
            "cell",
            declared,
            [helper.make_tensor_value_info(name, kind, None) for name in node.output],
            [self.onnx.numpy_helper.from_array(np.array(value), name) for name, value in constants],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = self.runtime.InferenceSession(model.SerializeToString(), self.options, providers=["CPUExecutionProvider"])
        if len(node.output) > 1:
            return lambda: session.run(None, inputs)
        return lambda: session.run(None, inputs)[0]

    def _node(self, kind, inputs, outputs=("y",), **attributes):
        return self.onnx.helper.make_node(kind, inputs, outputs, **attributes)

    def depth_to_space(self, operator, x):
        if operator.layout != "NCHW":
            raise Unsupported("ONNX has the shuffles in NCHW only")
        node = self._node("DepthToSpace", ["x"], blocksize=operator.block, mode=operator.order)
        return self._session(node, {"x": x})

    def space_to_depth(self, operator, x):
        if (operator.layout, operator.order) != ("NCHW", "DCR"):
            raise Unsupported("ONNX has SpaceToDepth in NCHW and DCR only")
        return self._session(self._node("SpaceToDepth", ["x"], blocksize=operator.block), {"x": x})

    def reverse(self, operator, x):
        node = self._node("ReverseSequence", ["x", "lengths"], batch_axis=0, time_axis=1)
        return self._session(node, {"x": x, "lengths": operator.lengths(x.shape)})

    def transpose(self, operator, x):
        return self._session(self._node("Transpose", ["x"], perm=operator.axes), {"x": x})

    def padding(self, operator, x):
        pads = np.array(operator.pairs(x.ndim)).T.reshape(-1)
        node = self._node("Pad", ["x", "pads", "value"], mode=operator.numpy_mode)
        return self._session(node, {"x": x}, (("pads", pads), ("value", np.array(operator.value, x.dtype))))

    def tile(self, operator, x):
        return self._session(self._node("Tile", ["x", "repeats"]), {"x": x}, (("repeats", operator.repeats(x.ndim)),))

    def upsample(self, operator, x):
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        scales = np.array([1, 1, operator.scale, operator.scale], np.float32)
        return self._session(self._node("Resize", ["x", "", "scales"], **how), {"x": x}, (("scales", scales),))

    def join(self, operator, x):
        inputs = {f"x{k}": part for k, part in enumerate(x)}
        return self._session(self._node("Concat", list(inputs), axis=operator.axis), inputs)

    def split(self, operator, x):
        node = self._node("Split", ["x", "sizes"], ("y0", "y1"), axis=operator.axis)
        return self._session(node, {"x": x}, (("sizes", operator.sizes(x)),))

    def gather(self, operator, x):
        return self._session(self._node("Gather", ["x", "indices"]), {"x": x, "indices": operator.indices(x.shape)})

    def take_along_axis(self, operator, x):
        node = self._node("GatherElements", ["x", "indices"], axis=1)
        return self._session(node, {"x": x, "indices": operator.indices(x.shape)})

    def scatter_nd(self, operator, x):
        indices = operator.indices(x.shape)[:, None]
        node = self._node("ScatterND", ["x", "indices", "updates"])
        return self._session(node, {"x": x, "indices": indices, "updates": x[: len(indices)]})

    def resize_nearest(self, operator, x):
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        node = self._node("Resize", ["x", "", "", "sizes"], **how)
        return self._session(node, {"x": x}, (("sizes", [*x.shape[:2], *operator.sizes]),))

    def slice(self, operator, x):
        axes = [axis for axis, part in enumerate(operator.full(x.ndim)) if part != slice(None)]
        ranges = [range(*operator.full(x.ndim)[axis].indices(x.shape[axis])) for axis in axes]
        constants = (
            ("starts", [r.start for r in ranges]),
            ("ends", [r.stop if r.stop >= 0 else -(2**62) for r in ranges]),
            ("axes", axes),
            ("steps", [r.step for r in ranges]),
        )
        node = self._node("Slice", ["x", *(name for name, _ in constants)])
        return self._session(node, {"x": x}, constants)
