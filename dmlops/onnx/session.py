"""A session that runs the leading part of a model on a device, and the rest in onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import dmlops
from dmlops import DeviceArray
from dmlops.fusion.compiler import NoBytesError
from dmlops.onnx.metadata import ModelMetadata, described, metadata
from dmlops.onnx.parts import Source
from dmlops.onnx.program import OtherSizesError, Program

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]

    from dmlops._annotations import AnyArray, Array, DeviceLike

__all__ = ["Session"]


class Session:
    """Run a model as ``onnxruntime.InferenceSession`` does, the leading part that only moves data on a device.

    Results are those of onnxruntime for the CPU, also where ONNX's text says otherwise. A model that cannot be analysed is left
    to onnxruntime as a whole. What makes floats of bytes before they move belongs to the leading part: Cast, arithmetic with
    constants, Clip and DequantizeLinear, where the bits are onnxruntime's.

    Parameters
    ----------
    path_or_bytes : str, os.PathLike or bytes
        The file of an ONNX model, or the model itself, serialized.
    sess_options, providers, provider_options, **kwargs
        Passed on to onnxruntime.
    device : int, str or Device, optional
        The device for the leading part; ``dmlops.devices`` lists what is accepted. Default: ``dmlops.default_device()``.

    Attributes
    ----------
    moved : list of str
        The operators that run on the device. Empty where no leading part moves data: onnxruntime then runs the model alone.
    rest : onnxruntime.InferenceSession or None
        What runs the rest of the model. None where the whole model only moves data.

    Examples
    --------
    >>> import dmlops.onnx, numpy as np
    >>> from onnx import parser
    >>> model = parser.parse_model('''
    ...     <ir_version: 10, opset_import: ["": 21]>
    ...     net (float[N, H, W, 3] photo) => (float[N, 3, H, W] y) {
    ...         x = Transpose <perm = [0, 3, 1, 2]> (photo)
    ...         y = Relu (x)
    ...     }''')
    >>> session = dmlops.onnx.Session(model.SerializeToString())
    >>> session
    <dmlops.onnx.Session: 1 node on a device (Transpose), 1 in onnxruntime>
    >>> session.run(None, {"photo": np.ones((1, 4, 6, 3), "f4")})[0].shape
    (1, 3, 4, 6)
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: onnxruntime.SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        *,
        device: DeviceLike | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError("dmlops.onnx.Session needs the package onnxruntime: pip install onnxruntime") from error
        if device is not None:
            dmlops.empty((0,), np.uint8, device=device)  # raises if there is no such device
        options = sess_options or onnxruntime.SessionOptions()
        self.moved: list[str] = []
        self._program: Program | None = None
        self._metadata: ModelMetadata
        arguments = providers, provider_options
        if isinstance(path_or_bytes, (str, os.PathLike)):  # onnxruntime may read the file again at a run, in another folder
            path_or_bytes = os.path.abspath(path_or_bytes)
        self._source = Source(path_or_bytes, options, sess_options is not None, arguments, kwargs)
        model = self._source.load()
        try:
            parts = self._source.parts(model, device) if model else None
        except Exception:  # onnxruntime runs all of the model, or says what is wrong with it
            parts = None
        if model is None or parts is None:
            self._take_whole()
            return
        self.moved = [node.op_type for node in parts.moved.graph.node if node.op_type != "Constant"]
        self._program = parts.program
        self.rest, self._count = parts.rest, parts.count
        initializers = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in initializers]
        self._inputs, self._outputs = (described(values, parts.described) for values in (inputs, model.graph.output))
        self._metadata = metadata(model)
        folded = {tensor.name for tensor in parts.moved.graph.initializer}
        replaceable = self.rest.get_overridable_initializers() if self.rest else []
        self._replaceable = [value for value in replaceable if value.name not in folded]

    def _take_whole(self) -> None:
        """Leave all of the model to onnxruntime."""
        self.rest = self._source.whole()
        self.moved, self._program = [], None
        self._inputs, self._outputs = self.rest.get_inputs(), self.rest.get_outputs()
        self._metadata, self._replaceable = self.rest.get_modelmeta(), self.rest.get_overridable_initializers()

    def __repr__(self) -> str:
        if not self.moved:
            return "<dmlops.onnx.Session: no leading part moves data, all nodes in onnxruntime>"
        operators, count = ", ".join(dict.fromkeys(self.moved)), len(self.moved)
        nodes = f"{count} node{'s' * (count != 1)}"
        return f"<dmlops.onnx.Session: {nodes} on a device ({operators}), {self._count} in onnxruntime>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a dmlops.onnx.Session cannot be pickled: pass on the model's path or bytes, and make another session")

    def get_inputs(self) -> list[Any]:
        """Describe the model's inputs: objects with ``name``, ``type`` and ``shape``."""
        return list(self._inputs)

    def get_outputs(self) -> list[Any]:
        """Describe the model's outputs: objects with ``name``, ``type`` and ``shape``."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[Any]:
        """Describe the initializers that `run` can be given other values for."""
        return list(self._replaceable)

    def get_modelmeta(self) -> ModelMetadata:
        """Tell what the model says of itself: the attributes are those of ``onnxruntime.ModelMetadata``."""
        return self._metadata

    def get_providers(self) -> list[str]:
        """List the execution providers of onnxruntime's session; none where the whole model runs on the device."""
        return list(self.rest.get_providers()) if self.rest else []

    def get_provider_options(self) -> dict[str, Any]:
        """Return the options of each execution provider of onnxruntime's session."""
        return dict(self.rest.get_provider_options()) if self.rest else {}

    def get_session_options(self) -> onnxruntime.SessionOptions:
        """Return the options of onnxruntime's session."""
        return self.rest.get_session_options() if self.rest else self._source.options

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> list[Any]:
        """Run the model.

        Parameters
        ----------
        output_names : sequence of str or None
            Which outputs to return; all if None or empty.
        input_feed : dict
            An array for each input, which may be a device array. Initializers that are also inputs may be replaced, except
            those that the leading part reads.
        run_options : onnxruntime.RunOptions, optional
            Passed on to onnxruntime.

        Returns
        -------
        list of numpy.ndarray
            The outputs, in the order of `output_names`.
        """
        if not isinstance(input_feed, Mapping):
            raise TypeError(f"input_feed must be a dict of arrays by the names of inputs, not {type(input_feed).__name__}")
        if isinstance(output_names, str):
            raise TypeError(f"output_names must be a sequence of names, not the name {output_names!r}")
        names = list(output_names or [output.name for output in self._outputs])
        needed = [value.name for value in self._inputs if not value.type.startswith("optional")]
        if missing := [name for name in needed if name not in input_feed]:
            raise ValueError(f"inputs {missing} are missing from input_feed")
        replaceable = [value.name for value in self._replaceable]
        known = [*(value.name for value in self._inputs), *replaceable]
        if unknown := [name for name in input_feed if name not in known]:
            raise ValueError(f"input_feed has {unknown}; the inputs are {known}")
        outputs = [output.name for output in self._outputs]
        if unknown := [name for name in names if name not in outputs]:
            raise ValueError(f"output_names has {unknown}; the outputs are {outputs}")
        program, rest = self._program, self.rest
        try:
            values = program.run(input_feed) if program else {}
        except (OtherSizesError, NoBytesError):
            # Inference follows ONNX's text, and not all models do; what is declared may be out of date. And how many pieces
            # there are depends on sizes.
            self._take_whole()
            return self.run(output_names, input_feed, run_options)
        results: dict[str, Any] = {name: np.asarray(values[name]) for name in names if name in values}
        others = [name for name in names if name not in values]
        if others and rest:
            given = {**input_feed, **values}
            read = [*(value.name for value in rest.get_inputs()), *replaceable]
            feed = {name: _on_host(given[name]) for name in read if name in given}
            results.update(zip(others, rest.run(others, feed, run_options), strict=True))
        return [results[name] for name in names]


def _on_host(value: AnyArray) -> Array:
    """An array for onnxruntime. It shares the device's memory where the host sees that and the elements are contiguous."""
    if isinstance(value, DeviceArray):
        try:
            shared: Array = np.from_dlpack(value, device="cpu", copy=False)
        except (BufferError, TypeError, RuntimeError, ValueError):
            return value.numpy()
        return shared if shared.flags.c_contiguous else value.numpy()
    return value
