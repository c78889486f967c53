"""A model's graph, ready to run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

import dmlops
from dmlops import DeviceArray
from dmlops.fusion.fused import Fused
from dmlops.onnx.graph import Graph
from dmlops.onnx.inference import Shape, contradicts, is_plain
from dmlops.onnx.node import FROM_SHAPES, Node, data_of, is_data
from dmlops.onnx.operator_table import OPERATORS, Operator
from dmlops.scalars import kind_of

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array, DeviceLike

__all__ = ["OtherSizesError", "Program"]


class OtherSizesError(ValueError):
    """A value has not the sizes that were taken for granted."""


class Program:
    """A model made of movements, ready to run on one device.

    What depends on constants and on the declared shapes only is computed here; the rest is run with the actual shapes. The host
    knows every shape without waiting for the device. Where there are maps, all steps are one fused function.

    Each of `sizes` has those of some values, as far as they are taken for granted elsewhere: OtherSizesError is raised at the
    first value that has others.
    """

    def __init__(
        self,
        model: ModelProto,
        device: DeviceLike | None = None,
        operators: Mapping[str, Operator] = OPERATORS,
        mapped: bool = False,
        sizes: Iterable[Mapping[str, Shape]] = (),
    ) -> None:
        graph = Graph(model, operators, mapped)
        graph.raise_problem()
        self._graph, self._device, self._sizes = graph, device, list(sizes)
        if device is not None:
            self._upload(np.zeros(0, np.uint8))  # raises if there is no such device
        self._expected = {
            name: (helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type), graph.shape(name))
            for name, kind in graph.inputs.items()
            if is_plain(kind)
        }
        self._constants: dict[str, Array] = {k: numpy_helper.to_array(v) for k, v in graph.initializers.items()}
        self._steps = [node for node in graph.nodes if not self._fold(node)]
        self._read = {name for node in self._steps for name in node.inputs}.union(graph.outputs)
        # Constants that are moved as data.
        moved = {name for node in self._steps if not graph.on_host(node) for name in data_of(node)}
        self._moved = moved & set(self._constants)
        self._uploaded: dict[str, DeviceArray] = {}
        self._process = 0
        last = {name: k for k, node in enumerate(self._steps) for name in node.inputs if name not in graph.outputs}
        self._dead = [[name for name in set(node.inputs) if last.get(name) == k] for k, node in enumerate(self._steps)]
        self._fused = Fused(self._outputs, automatic=False, counted_as="onnx") if graph.maps else None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared model cannot be pickled: pass on the model, and prepare it again")

    @property
    def inputs(self) -> Iterable[str]:
        return self._graph.inputs.keys()

    def run(self, inputs: Mapping[str, Any]) -> dict[str, AnyArray]:
        """Queue the model's work; return its outputs: device arrays, or new NumPy arrays if the host has computed them.

        A fused function returns new NumPy arrays where all inputs are NumPy arrays.
        """
        given = {name: self._checked(name, inputs[name]) for name in self._expected}
        if self._fused:
            read = {name: array for name, array in given.items() if name in self._read}
            if any(isinstance(array, DeviceArray) for array in read.values()):
                read = {name: self._upload(array) for name, array in read.items()}
            results: dict[str, AnyArray] = self._fused(read, device=self._device)
            return results
        if self._process != os.getpid():  # the first run, or a fork: device arrays stay in their process
            self._uploaded = {name: self._upload(self._constants[name]) for name in self._moved}
            self._process = os.getpid()
        values: dict[str, AnyArray] = {
            name: np.asarray(array) if name in self._graph.demanded else self._upload(array)
            for name, array in given.items()
            if name in self._read
        }
        outputs = self._outputs(values)
        return {name: value if isinstance(value, DeviceArray) else value.copy() for name, value in outputs.items()}

    def _outputs(self, given: dict[str, Any]) -> dict[str, Any]:
        """The outputs for the values of inputs, which may be traced arrays."""
        values = dict(given)
        for node, dead in zip(self._steps, self._dead, strict=True):
            self._step(node, values)
            for name in dead:
                values.pop(name, None)
        return {name: values[name] if name in values else self._constants[name] for name in self._graph.outputs}

    def _checked(self, name: str, value: Any) -> AnyArray:
        dtype, shape = self._expected[name]
        try:
            array: AnyArray = value if isinstance(value, DeviceArray) else np.asarray(value)
            if not hasattr(value, "dtype") and kind_of(array.dtype) <= kind_of(dtype):  # a list of numbers
                array = np.asarray(value, dtype)
        except (TypeError, ValueError, OverflowError) as error:
            error.add_note(f"in input {name!r}")
            raise
        if array.dtype != dtype:
            raise TypeError(f"input {name!r} must be of dtype {dtype}, not {array.dtype}")
        if shape is not None and contradicts(array.shape, shape):
            sizes = self._graph.inputs[name].tensor_type.shape.dim
            names = [size.dim_param or "any" if known is None else str(known) for known, size in zip(shape, sizes, strict=True)]
            raise ValueError(f"input {name!r} must have the shape [{', '.join(names)}], not {list(array.shape)}")
        return array

    def _upload(self, array: AnyArray) -> DeviceArray:
        return dmlops.asarray(array, device=self._device)

    def _fold(self, node: Node) -> bool:
        """Run a node whose operands are known now, and keep the results as constants."""
        if node.operator in FROM_SHAPES:
            shape, kind = self._graph.shape(node.inputs[0]), self._graph.type_of(node.inputs[0])
            if shape is None or None in shape or (kind == TensorProto.UNDEFINED and node.operator == "EyeLike"):
                return False
            like = np.zeros((), helper.tensor_dtype_to_np_dtype(kind or TensorProto.UINT8))
            operands: list[Any] = [np.broadcast_to(like, [size or 0 for size in shape])]
        elif all(name in self._constants for name in node.inputs if name):
            operands = [self._constants.get(name) for name in node.inputs]
        else:
            return False
        self._constants.update(zip(node.outputs, self._results(node, operands), strict=True))
        return True

    def _step(self, node: Node, values: dict[str, AnyArray]) -> None:
        on_host = self._graph.on_host(node) or self._fused
        operands: list[AnyArray | None] = []
        for k, name in enumerate(node.inputs):
            operand = values.get(name, self._constants.get(name))
            if not on_host and is_data(node, k) and not isinstance(operand, DeviceArray) and operand is not None:
                operand = self._uploaded[name] if name in self._uploaded else self._upload(operand)
            operands.append(operand)
        for name, result in zip(node.outputs, self._results(node, operands), strict=True):
            if any(name in known and contradicts(result.shape, known[name]) for known in self._sizes):
                raise OtherSizesError(f"{name!r} has the shape {result.shape}, which was not expected")
            values[name] = result

    def _results(self, node: Node, operands: list[Any]) -> tuple[Any, ...]:
        try:
            if self._graph.is_map(node):
                return (self._graph.maps[node.outputs[0]](operands[0]),)
            return self._graph.run(node, operands)
        except Exception as error:
            error.add_note(f"in {node}")
            raise
