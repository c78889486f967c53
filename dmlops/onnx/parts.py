"""What a Session runs: a model's leading part as a Program, the rest, or all of it, in a session of onnxruntime."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto
from onnx.external_data_helper import uses_external_data

from dmlops.onnx.graph import Graph
from dmlops.onnx.onnxruntime_rules import ONNXRUNTIME
from dmlops.onnx.program import Program
from dmlops.onnx.splitting import cut, tensors

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]

    from dmlops._annotations import DeviceLike

__all__ = ["FOLDER", "Parts", "Source"]

# Where onnxruntime looks for the external data of a model that it is given as bytes.
FOLDER = "session.model_external_initializers_file_folder_path"


@dataclasses.dataclass(frozen=True)
class Parts:
    """A leading part that moves data, and the rest.

    Attributes
    ----------
    moved : onnx.ModelProto
        The leading part.
    program : Program
        What runs it.
    rest : onnxruntime.InferenceSession or None
        What runs the rest, if there is one.
    count : int
        The number of nodes in the rest.
    described : list
        What onnxruntime says of inputs and outputs of either part.
    """

    moved: ModelProto
    program: Program
    rest: Any
    count: int
    described: list[Any]


@dataclasses.dataclass(frozen=True)
class Source:
    """A model, and the arguments for onnxruntime's session of it. `options` are the caller's if `shared`."""

    path_or_bytes: str | os.PathLike[str] | bytes
    options: onnxruntime.SessionOptions
    shared: bool
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def load(self) -> ModelProto | None:
        """The model without its external data. None: it is in a format of onnxruntime's own, or is none."""
        source = self.path_or_bytes
        if not isinstance(source, (str, os.PathLike, bytes)):
            kind = type(source).__name__
            raise TypeError(f"path_or_bytes must be a path, or bytes as model.SerializeToString() returns them, not {kind}")
        try:
            if isinstance(source, bytes):
                return onnx.load_model_from_string(source)
            return onnx.load(source, load_external_data=False)
        except DecodeError:
            return None

    def whole(self) -> Any:
        """A session of onnxruntime for the whole model."""
        import onnxruntime

        try:
            return onnxruntime.InferenceSession(self.path_or_bytes, self.options, *self.arguments, **self.keywords)
        except Exception as error:
            if self.load() is None:
                name = "path_or_bytes" if isinstance(self.path_or_bytes, bytes) else os.fspath(self.path_or_bytes)
                raise ValueError(f"{name} is no ONNX model: {error}") from error
            raise

    def parts(self, model: ModelProto, device: DeviceLike | None) -> Parts | None:
        """Both parts of the model, if there is a leading one."""
        graph = Graph(model, ONNXRUNTIME, mapped=True)
        moved, rest = cut(model, graph)
        if moved is None:
            return None
        onnx.load_external_data_for_model(moved, self._folder() or _entry(self.options))
        known = graph.inputs.keys() | graph.initializers
        passed = [value.name for value in rest.graph.input if value.name not in known] if rest else []
        # What onnxruntime takes for granted, here in the rest and in a session of the whole model.
        inferred = {name: shape for name in passed if (shape := graph.shape(name)) is not None}
        sizes = inferred, graph.declared_before_shapes()
        program = Program(moved, device, ONNXRUNTIME, mapped=bool(graph.maps), sizes=sizes)
        checked, session = _checked(moved), self._session(rest) if rest else None
        sessions = [one for one in (checked, session) if one]
        described = [value for one in sessions for value in one.get_inputs()]
        described += [value for one in sessions for value in one.get_outputs()]
        return Parts(moved, program, session, len(rest.graph.node) if rest else 0, described)

    def _folder(self) -> str:
        """Where external data is; empty for a model in memory."""
        return "" if isinstance(self.path_or_bytes, bytes) else os.path.dirname(os.path.abspath(self.path_or_bytes))

    def _session(self, rest: ModelProto) -> Any:
        import onnxruntime

        with self._folder_set(rest):
            return onnxruntime.InferenceSession(rest.SerializeToString(), self.options, *self.arguments, **self.keywords)

    @contextlib.contextmanager
    def _folder_set(self, rest: ModelProto) -> Iterator[None]:
        """Tell onnxruntime where external data is, while a session is made: the options may serve models of other folders.

        onnxruntime writes a warning where an entry is set that is set already; so nothing is set without need.
        """
        folder, before = self._folder(), _entry(self.options)
        if folder in ("", before) or not any(map(uses_external_data, tensors(rest.graph))):
            yield
            return
        self.options.add_session_config_entry(FOLDER, folder)
        try:
            yield
        finally:
            if self.shared:
                self.options.add_session_config_entry(FOLDER, before)


def _entry(options: onnxruntime.SessionOptions) -> str:
    try:
        folder: str = options.get_session_config_entry(FOLDER)
    except RuntimeError:  # it is not set
        return ""
    return folder


def _checked(moved: ModelProto) -> Any:
    """A session of onnxruntime that refuses what is no valid model, and knows types and sizes; None if it lacks a kernel."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        return onnxruntime.InferenceSession(
            moved.SerializeToString(), options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return None
