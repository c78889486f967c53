"""A session that runs the leading part of a model on a device, and the rest in onnxruntime."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto

from dmlops import DeviceArray
from dmlops.onnx.graph import Program
from dmlops.onnx.metadata import ModelMetadata, arguments, metadata
from dmlops.onnx.splitting import split

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]

    from dmlops._annotations import AnyArray, Array, DeviceLike

__all__ = ["Session"]


# Where onnxruntime looks for the external data of a model that it is given as bytes.
FOLDER = "session.model_external_initializers_file_folder_path"


class Session:
    """Run a model as ``onnxruntime.InferenceSession`` does, the leading part that only moves data on a device.

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
            raise ImportError('dmlops.onnx.Session needs the package onnxruntime: pip install "dmlops[onnx]"') from error
        options = sess_options or onnxruntime.SessionOptions()
        model, folder = _load(path_or_bytes)
        folder = folder or _folder_of(options)
        moved, rest = split(model)
        self.moved = [node.op_type for node in moved.graph.node if node.op_type != "Constant"] if moved else []
        self._count = len(rest.graph.node) if rest else 0
        self._program = self.rest = None
        if moved:
            onnx.load_external_data_for_model(moved, folder)
            self._program = Program(moved, device)
        if rest:
            source = rest.SerializeToString() if moved else path_or_bytes
            with _folder_set(options, folder) if moved else contextlib.nullcontext():
                self.rest = onnxruntime.InferenceSession(source, options, providers, provider_options, **kwargs)
        self._options = self.rest.get_session_options() if self.rest else options
        self._metadata = metadata(model)
        initializers = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in initializers]
        described = self.rest.get_inputs() + self.rest.get_outputs() if self.rest else []
        self._inputs, self._outputs = (arguments(values, described) for values in (inputs, model.graph.output))
        self._read = [value.name for value in self.rest.get_inputs()] if self.rest else []
        folded = {tensor.name for tensor in moved.graph.initializer} if moved else set()
        replaceable = self.rest.get_overridable_initializers() if self.rest else []
        self._replaceable = [value for value in replaceable if value.name not in folded]

    def __repr__(self) -> str:
        if not self.moved:
            return "<dmlops.onnx.Session: no leading part moves data, all nodes in onnxruntime>"
        operators = ", ".join(dict.fromkeys(self.moved))
        return f"<dmlops.onnx.Session: {_nodes(len(self.moved))} on a device ({operators}), {self._count} in onnxruntime>"

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
        return self._options

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
        if missing := [value.name for value in self._inputs if value.name not in input_feed]:
            raise ValueError(f"inputs {missing} are missing from input_feed")
        replaceable = [value.name for value in self._replaceable]
        known = [*(value.name for value in self._inputs), *replaceable]
        if unknown := [name for name in input_feed if name not in known]:
            raise ValueError(f"input_feed has {unknown}; the inputs are {known}")
        outputs = [output.name for output in self._outputs]
        if unknown := [name for name in names if name not in outputs]:
            raise ValueError(f"output_names has {unknown}; the outputs are {outputs}")
        values = self._program.run(input_feed) if self._program else {}
        results: dict[str, Any] = {name: np.asarray(values[name]) for name in names if name in values}
        others = [name for name in names if name not in values]
        if others and self.rest:
            read = [*self._read, *(name for name in replaceable if name in input_feed)]
            feed = {name: _on_host(values[name] if name in values else input_feed[name]) for name in read}
            results.update(zip(others, self.rest.run(others, feed, run_options), strict=True))
        return [results[name] for name in names]


def _load(source: str | os.PathLike[str] | bytes) -> tuple[ModelProto, str]:
    """A model without its external data, and the folder where that is."""
    try:
        if isinstance(source, bytes):
            return onnx.load_model_from_string(source), ""
        if not isinstance(source, (str, os.PathLike)):
            kind = type(source).__name__
            raise TypeError(f"path_or_bytes must be a path, or bytes as model.SerializeToString() returns them, not {kind}")
        return onnx.load(source, load_external_data=False), os.path.dirname(os.path.abspath(source))
    except DecodeError as error:
        name = "path_or_bytes" if isinstance(source, bytes) else os.fspath(source)
        raise ValueError(f"{name} is no ONNX model: {error}") from error


def _folder_of(options: onnxruntime.SessionOptions) -> str:
    try:
        folder: str = options.get_session_config_entry(FOLDER)
    except RuntimeError:  # it is not set
        return ""
    return folder


@contextlib.contextmanager
def _folder_set(options: onnxruntime.SessionOptions, folder: str) -> Iterator[None]:
    """While a session is made: the options may be used for models of other folders, too."""
    before = _folder_of(options)
    options.add_session_config_entry(FOLDER, folder)
    try:
        yield
    finally:
        options.add_session_config_entry(FOLDER, before)


def _on_host(value: AnyArray) -> Array:
    """An array for onnxruntime. It shares the device's memory where the host sees that and the elements are contiguous."""
    if isinstance(value, DeviceArray):
        try:
            shared: Array = np.from_dlpack(value, device="cpu", copy=False)
        except (BufferError, TypeError, RuntimeError, ValueError):
            return value.numpy()
        return shared if shared.flags.c_contiguous else value.numpy()
    return value


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
