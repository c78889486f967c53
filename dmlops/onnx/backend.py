"""ONNX's backend interface for models whose nodes only move data.

The functions are those of ``onnx.backend.base.Backend``. `device` is whatever dmlops accepts as a device: ONNX's ``"CPU"`` is
the first usable device of that type. The default is ``dmlops.default_device()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.backend.base
import onnx.checker
import onnx.defs
from onnx import ModelProto, NodeProto, helper

import dmlops
from dmlops.onnx.graph import Graph
from dmlops.onnx.program import Program

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, DeviceLike

__all__ = ["Backend", "BackendRep", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]


class BackendRep(onnx.backend.base.BackendRep):
    """A model that is ready to run; ``prepare`` makes one."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def run(self, inputs: Any, *, download: bool = True, **kwargs: Any) -> tuple[AnyArray, ...]:
        """Run the model.

        Parameters
        ----------
        inputs : array_like, sequence of array_like, or dict
            The model's inputs, in its order or by name. Device arrays are used where they are.
        download : bool, optional
            False: return device arrays as soon as the work is queued. Default: wait, and return NumPy arrays.
        **kwargs
            Ignored, as the interface has it.

        Returns
        -------
        tuple of numpy.ndarray or DeviceArray
            The model's outputs. NumPy arrays are new; device arrays may be views of inputs that are device arrays. Outputs that
            are shapes are NumPy arrays in any case.
        """
        names = list(self._program.inputs)
        if not isinstance(inputs, Mapping):
            inputs = dict(zip(names, _one_each(inputs, names, "model"), strict=True))
        if missing := [name for name in names if name not in inputs]:
            raise ValueError(f"inputs {missing} are missing")
        if unknown := [name for name in inputs if name not in names]:
            raise ValueError(f"the model has the inputs {names}, not {unknown}")
        results = self._program.run(inputs).values()
        return tuple(np.asarray(result) for result in results) if download else tuple(results)


class Backend(onnx.backend.base.Backend):
    """ONNX's ``Backend``, whose methods are also functions of this module."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: DeviceLike | None = None, **kwargs: Any) -> bool:
        """Tell whether every node of a model can be run."""
        return not Graph(model).problems

    @classmethod
    def prepare(cls, model: ModelProto, device: DeviceLike | None = None, **kwargs: Any) -> BackendRep:
        """Make a model ready to run.

        What depends on constants, or on shapes that the model declares, is computed now.

        Parameters
        ----------
        model : onnx.ModelProto
            A model whose nodes only move data.
        device : int, str or Device, optional
            The device to run on; ``dmlops.devices`` lists what is accepted. Default: ``dmlops.default_device()``.
        **kwargs
            Ignored, as the interface has it.

        Returns
        -------
        BackendRep
            Its method ``run`` runs the model.

        Raises
        ------
        UnsupportedNodeError
            A node is no movement of data; the message names it, its operator and its opset.
        onnx.checker.ValidationError
            The model is no valid ONNX.
        ValueError
            There is no such device.

        Examples
        --------
        >>> import dmlops.onnx, numpy as np
        >>> from onnx import parser
        >>> model = parser.parse_model('''
        ...     <ir_version: 10, opset_import: ["": 21]>
        ...     turn (float[H, W] x) => (float[W, H] y) { y = Transpose (x) }''')
        >>> dmlops.onnx.backend.prepare(model).run([np.eye(2, 3, dtype="f4")])
        (array([[1., 0.],
               [0., 1.],
               [0., 0.]], dtype=float32),)
        """
        if isinstance(model, ModelProto):  # Graph refuses other types
            onnx.checker.check_model(model)
        return BackendRep(Program(model, device))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: DeviceLike | None = None, **kwargs: Any) -> tuple[AnyArray, ...]:
        """Run a model once: ``prepare(model, device).run(inputs)``."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: DeviceLike | None = None,
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[AnyArray, ...]:
        """Run one node.

        Parameters
        ----------
        node : onnx.NodeProto
            A node of a supported operator.
        inputs : sequence of array_like
            Its inputs, without those that the node leaves out; one array stands for a sequence of one.
        device : int, str or Device, optional
            As for ``prepare``.
        outputs_info : sequence, optional
            Ignored, as are other keywords.
        opset_version : int, optional
            The version of the operator. Default: the newest that the package onnx knows.

        Returns
        -------
        tuple of numpy.ndarray
            The node's outputs.
        """
        opset: Any = kwargs.get("opset_version") or onnx.defs.onnx_opset_version()
        super().run_node(node, inputs, opset_version=opset)  # checks the node
        names = [name for name in node.input if name]
        given = _one_each(inputs, names, "node")
        given = [value if isinstance(value, dmlops.DeviceArray) else np.asarray(value) for value in given]
        arrays = dict(zip(names, given, strict=True))
        values = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in arrays.items()
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
        model = helper.make_model(
            helper.make_graph([node], "node", values, outputs), opset_imports=[helper.make_opsetid("", opset)]
        )
        return BackendRep(Program(model, device)).run(arrays)

    @classmethod
    def supports_device(cls, device: DeviceLike) -> bool:
        """Tell whether dmlops has a usable device of this name, number or type."""
        try:
            dmlops.empty((0,), np.uint8, device=device)
        except (ValueError, dmlops.NoDeviceError):
            return False
        return True


def _one_each(inputs: Any, names: Sequence[str], what: str) -> list[Any]:
    given = list(inputs) if isinstance(inputs, Sequence) else [inputs]
    if len(given) != len(names):
        raise ValueError(f"the {what} has {len(names)} inputs, {names}, not {len(given)}")
    return given


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
