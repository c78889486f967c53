"""ONNX models whose nodes only move data: the backend, and the part of a model that can be moved to a device.

    >>> import dmlops.onnx, numpy as np
    >>> from onnx import parser
    >>> model = parser.parse_model('''
    ...     <ir_version: 10, opset_import: ["": 21]>
    ...     pack (uint8[1, 4, 6, 3] photo) => (uint8[1, 12, 2, 3] patches) <int64[1] last = {-1}, int64[1] end = {-1000}> {
    ...         nchw = Transpose <perm = [0, 3, 1, 2]> (photo)
    ...         mirrored = Slice (nchw, last, end, last, last)
    ...         patches = SpaceToDepth <blocksize = 2> (mirrored)
    ...     }''')
    >>> photo = np.arange(72, dtype=np.uint8).reshape(1, 4, 6, 3)
    >>> (patches,) = dmlops.onnx.backend.run_model(model, [photo])
    >>> patches.shape, patches[0, 0].tolist()
    ((1, 12, 2, 3), [[15, 9, 3], [51, 45, 39]])

``backend``
    ONNX's interface ``Backend``: ``prepare``, ``run_model``, ``run_node``, ``supports_device`` and ``is_compatible``.
``split``
    Cuts a model into the leading part that only moves data and the rest.
``Session``
    Runs the first part on a device and the rest in onnxruntime, in place of ``onnxruntime.InferenceSession``.

A node that is no movement of data raises ``UnsupportedNodeError``, before anything runs. The packages that this needs are those
of the extra ``onnx``: onnx and onnxruntime.
"""

try:
    from onnx import ModelProto as _ModelProto  # noqa: F401
except ImportError as error:
    raise ImportError("dmlops.onnx needs the package onnx: pip install onnx onnxruntime") from error

from dmlops.onnx import backend
from dmlops.onnx.graph import UnsupportedNodeError
from dmlops.onnx.session import Session
from dmlops.onnx.splitting import split

__all__ = ["Session", "UnsupportedNodeError", "backend", "split"]
