"""OpenVINO's CPU plugin, by a model of one operator; the result is written into a new array each time."""

import numpy as np

from .peer import Peer, Unsupported

MODES = {"DCR": "blocks_first", "CRD": "depth_first"}


class OpenVino(Peer):
    name = "OpenVINO"
    distributions = ("openvino",)

    def __init__(self, threads, device=None):
        import openvino
        from openvino import opset13

        self.openvino, self.ops = openvino, opset13
        self.core = openvino.Core()
        self.config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}

    def _model(self, build, *arrays):
        parameters = [self.ops.parameter(array.shape, array.dtype.type) for array in arrays]
        model = self.openvino.Model(build(*parameters).outputs(), parameters, "cell")
        compiled = self.core.compile_model(model, "CPU", self.config)
        request, dtype = compiled.create_infer_request(), arrays[0].dtype
        shapes = [tuple(output.shape) for output in compiled.outputs]

        def call():
            results = [np.empty(shape, dtype) for shape in shapes]
            for index, result in enumerate(results):
                request.set_output_tensor(index, self.openvino.Tensor(result, shared_memory=True))
            request.infer(arrays, share_inputs=True, share_outputs=True)
            return results if len(results) > 1 else results[0]

        return call

    def _shuffle(self, op, operator, x):
        if operator.layout != "NCHW":
            raise Unsupported("OpenVINO has the shuffles in NCHW only")
        return self._model(lambda p: op(p, MODES[operator.order], operator.block), x)

    def depth_to_space(self, operator, x):
        return self._shuffle(self.ops.depth_to_space, operator, x)

    def space_to_depth(self, operator, x):
        return self._shuffle(self.ops.space_to_depth, operator, x)

    def reverse(self, operator, x):
        lengths = operator.lengths(x.shape).astype(np.int32)
        return self._model(lambda p, q: self.ops.reverse_sequence(p, q, 0, 1), x, lengths)

    def transpose(self, operator, x):
        return self._model(lambda p: self.ops.transpose(p, np.array(operator.axes)), x)

    def padding(self, operator, x):
        before, after = map(np.array, zip(*operator.pairs(x.ndim)))
        return self._model(lambda p: self.ops.pad(p, before, after, operator.numpy_mode, np.array(operator.value, x.dtype)), x)

    def tile(self, operator, x):
        return self._model(lambda p: self.ops.tile(p, np.array(operator.repeats(x.ndim))), x)

    def upsample(self, operator, x):
        how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        scales, axes = np.full(2, operator.scale, np.float32), np.array([2, 3])
        return self._model(lambda p: self.ops.interpolate(p, scales, "nearest", "scales", axes=axes, **how), x)

    def join(self, operator, x):
        return self._model(lambda *parameters: self.ops.concat(parameters, operator.axis), *x)

    def split(self, operator, x):
        return self._model(lambda p: self.ops.variadic_split(p, operator.axis, np.array(operator.sizes(x))), x)

    def slice(self, operator, x):
        ranges = [range(*part.indices(size)) for part, size in zip(operator.full(x.ndim), x.shape)]
        starts = [r.start for r in ranges]
        stops = [r.stop if r.stop >= 0 else -(2**31) for r in ranges]
        steps = [r.step for r in ranges]
        return self._model(lambda p: self.ops.slice(p, *map(np.array, (starts, stops, steps))), x)
