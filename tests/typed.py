"""What a type checker makes of the public names; `make check-static` asks mypy and basedpyright. Nothing here is run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import dmlops
from dmlops import directml as dml


class Image:
    """What Pillow's images declare."""

    @property
    def __array_interface__(self) -> dict[str, str | bytes | int | tuple[int, ...]]:
        return {}


x: NDArray[np.float32] = np.zeros((1, 4, 2, 2), np.float32)
lengths: NDArray[np.int32] = np.zeros((1, 4, 2, 1), np.int32)
a = dmlops.asarray(x, device="host")
photo = Image()

assert_type(dmlops.depth_to_space(x, 2), NDArray[np.float32])
assert_type(dmlops.depth_to_space(x, 2, out=x), NDArray[np.float32])
assert_type(dmlops.depth_to_space(a, (2, 2), order="CRD", out=a), dmlops.DeviceArray)
assert_type(dmlops.space_to_depth([[[[1]]]], np.int64(1), layout="NHWC", device=dmlops.devices()[0]), NDArray[Any])
assert_type(dmlops.reverse_subsequences(x, [1], axis=1, batch_axis=0), NDArray[np.float32])
assert_type(dmlops.reverse_subsequences(x, [[[[1]] * 2] * 4], axis=3), NDArray[np.float32])
assert_type(dmlops.reverse_subsequences(x, lengths, axis=3), NDArray[np.float32])
assert_type(dmlops.reverse_subsequences(x, range(1), axis=3, batch_axis=0), NDArray[np.float32])
assert_type(dmlops.reverse_subsequences(a, a, 1), dmlops.DeviceArray)
assert_type(dmlops.reverse_subsequences(a, [1], 1, batch_axis=0), dmlops.DeviceArray)
assert_type(dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[..., ::-1])), NDArray[np.float32])
assert_type(dmlops.slice(a, [0] * 4, a.shape, [1, 1, 1, -1]), dmlops.DeviceArray)
assert_type(dmlops.slice(photo, [0, 0, 0], (5, 5, 3)), NDArray[Any])
assert_type(dmlops.asarray(photo), dmlops.DeviceArray)
assert_type(dmlops.reference.slice(x, [0] * 4, x.shape), NDArray[np.float32])
assert_type(dmlops.padding(x, [0] * 4, (1, 1, 1, 1), mode="edge"), NDArray[np.float32])
assert_type(dmlops.padding(a, x.shape, a.shape, value=np.float32(3), out=a), dmlops.DeviceArray)
assert_type(dmlops.padding(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode="reflect"), NDArray[np.float32])
assert_type(dmlops.padding(a, 1), dmlops.DeviceArray)
assert_type(dmlops.slice(x, np.s_[..., 1:-1, ::-2]), NDArray[np.float32])
assert_type(dmlops.slice(a, np.s_[1:]), dmlops.DeviceArray)
assert_type(dmlops.rearrange(x, "b c h w -> b h w c"), NDArray[np.float32])
assert_type(dmlops.rearrange([a, a], "n b c h w -> (n b) c h w"), dmlops.DeviceArray)
assert_type(dmlops.repeat(a, "b c h w -> b c (h 2) (w n)", n=2), dmlops.DeviceArray)
assert_type(dmlops.sliding_windows(x, (2, 2), axes=(2, 3), strides=2), NDArray[np.float32])
assert_type(dmlops.resize_nearest(a, (7, 7), axes=(2, 3), coordinates=(0.5, [-0.5, 0]), rounding="floor"), dmlops.DeviceArray)
assert_type(dmlops.resize_nearest([1, 2], scales=1.5), NDArray[Any])
assert_type(dmlops.resize_pillow(x, (7, 7), "lanczos", box=(0, 0, 3.5, 4), reducing_gap=2.0), NDArray[np.float32])
assert_type(dmlops.resize_pillow(photo, (7, 7), 3, version="12.1"), NDArray[Any])
assert_type(dmlops.resize_opencv(a, fx=0.5, fy=1, interpolation="area", axes=(1, 2)), dmlops.DeviceArray)
assert_type(dmlops.resize_torchvision(a, 224, "nearest-exact", antialias=False), dmlops.DeviceArray)
assert_type(dmlops.one_hot([1, 2], 3), NDArray[Any])
assert_type(dmlops.one_hot(a, 3, axis=0, on=2.5, dtype=np.float32), dmlops.DeviceArray)
assert_type(dmlops.roll(a, (1, 2), axis=(0, 1)), dmlops.DeviceArray)
assert_type(dmlops.array_api.concat([a, a], axis=1), dmlops.DeviceArray)
assert_type(a.mT.to_device("host"), dmlops.DeviceArray)
assert_type(dmlops.tile([[1, 2]], [2, np.int8(3)]), NDArray[Any])
assert_type(dmlops.join([x, [[[[1.0]]]], x], axis=np.int64(1)), NDArray[Any])
assert_type(dmlops.join([x, x], 0), NDArray[np.float32])
assert_type(dmlops.join((a, a), -1, out=a), dmlops.DeviceArray)
assert_type(dmlops.split(x, 0, [1], out=[x]), list[NDArray[np.float32]])
assert_type(dmlops.split(a, 1, (2, 2)), list[dmlops.DeviceArray])
assert_type(dmlops.transpose(a, (0, 2, 3, 1)), dmlops.DeviceArray)
assert_type(dmlops.transpose(x), NDArray[np.float32])
assert_type(dmlops.upsample(x, 2, layout="NHWC"), NDArray[np.float32])
assert_type(dmlops.upsample(a, (2, 2)), dmlops.DeviceArray)
assert_type(dmlops.slice_grad(x, x.shape, [0] * 4, x.shape, [1, 1, -1, 1]), NDArray[np.float32])
assert_type(dmlops.slice_grad(a, [9] * 4, [0] * 4, a.shape), dmlops.DeviceArray)
assert_type(dmlops.take(x, [[0, 1]], 1), NDArray[np.float32])
assert_type(dmlops.take_along_axis(a, np.zeros((1, 1, 1, 1), np.uint8), 1), dmlops.DeviceArray)
assert_type(dmlops.gather_nd(a, a, batch_dims=1), dmlops.DeviceArray)
assert_type(dmlops.put_along_axis(x, [[[[0]]]], 1.5, axis=None), NDArray[np.float32])
assert_type(dmlops.scatter_nd([1, 2], [[0]], [3]), NDArray[Any])
assert_type(dmlops.reference.split(a, 1, [4]), list[dmlops.DeviceArray])
assert_type(dmlops.devices()[0].index, int | None)
assert_type(dmlops.default_device(), dmlops.Device)
assert_type(a.device.name, str)
assert_type(dmlops.memory_info("cpu").pool_bytes, int)
assert_type(dmlops.counters().calls[0].device, int | str)
assert_type(dmlops.counters().compile_seconds, float)
assert_type(dmlops.slice_from_key((3, 4), np.s_[1:]), tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]])
assert_type(dmlops.reference.depth_to_space(a, 2), dmlops.DeviceArray)
assert_type(a.reshape([2, 8]).transpose([1, 0]), dmlops.DeviceArray)
assert_type(a[..., None, 0].reshape(2, 2).T.ravel().squeeze().swapaxes(0, 0), dmlops.DeviceArray)
assert_type(a.reshape(2, 8, order="F", copy=True).ravel("K").flatten("A").copy(order=None), dmlops.DeviceArray)
assert_type(a.tobytes("F"), bytes)
assert_type(a.numpy(), NDArray[Any])
assert_type(a.numpy(x), NDArray[np.float32])
assert_type((int(a), float(a), complex(a), bool(a)), tuple[int, float, complex, bool])
assert_type(np.asarray(a), NDArray[Any])
a[0] = 1.5
a[:] = x
np.array(a)
np.from_dlpack(a)
dmlops.from_dlpack(x)
dmlops.empty((2, 3)).numpy()

dmlops.slice(x, [0] * 4, x.shape, progress=True)
dmlops.slice(a, [0] * 4, x.shape, progress=lambda done, total: print(done / total))
assert_type(bool(dmlops.compare(dmlops.slice, x, [0] * 4, x.shape, devices=["host"])), bool)
dmlops.warm_up(dmlops.slice, x, [0] * 4, x.shape, device="host")
assert_type(dmlops.compare("slice", x, [0] * 4, x.shape).rows[0].milliseconds, float)

a.reshape(16, order="K")  # type: ignore[arg-type]
dmlops.slice(x, [0] * 4, x.shape, progress=5)  # type: ignore[call-overload]
dmlops.depth_to_spce(x, 2)  # type: ignore[attr-defined]
dmlops.depth_to_space(x, 2, order="RCD")  # type: ignore[call-overload]
dmlops.depth_to_space(x, 2, out=a)  # type: ignore[call-overload]
dmlops.depth_to_space(a, 2, out=x)  # type: ignore[call-overload]
dmlops.slice(a, [0] * 4, a.shape, out=x)  # type: ignore[call-overload]
dmlops.reverse_subsequences(x, [1.5], axis=1, batch_axis=0)  # type: ignore[list-item]
dmlops.reverse_subsequences(a, [1.5], axis=1, batch_axis=0)  # type: ignore[list-item]
dmlops.reverse_subsequences(x, x, axis=1)  # type: ignore[arg-type]
dmlops.reverse_subsequences(x, a, axis=1)  # type: ignore[call-overload]
dmlops.slice(x, [0.5] * 4, x.shape)  # type: ignore[list-item]
dmlops.padding(x, [0] * 4, [0] * 4, mode="mirror")  # type: ignore[call-overload]
dmlops.padding(x, [0] * 4, [0] * 4, value=[1])  # type: ignore[call-overload]
dmlops.split(x, 0, [1], out=x)  # type: ignore[call-overload]
dmlops.devices()[0]._asdict()  # type: ignore[attr-defined]
dmlops.devices()[0].name = "other"  # type: ignore[misc]
dmlops.asarray(x, device=1.5)  # type: ignore[arg-type]
np.concatenate(a)  # type: ignore[arg-type]

tensor = dml.TENSOR_DESC("FLOAT32", (2, 2), Strides=[1, 2])
desc = dml.PADDING_OPERATOR_DESC(tensor, tensor, "EDGE", 0, 2, [0, 0], np.zeros(2, int).tolist())
assert_type(dml.validate(desc), None)
assert_type(dml.lowest_feature_level(desc), str | None)
assert_type(dml.execute(desc, {"InputTensor": x}, feature_level=None, device="host"), dict[str, Any])
assert_type(dml.DirectMLError("").problems, tuple[dml.Problem, ...])
assert_type(dml.load("model.json"), dml.Model)
assert_type(dml.run(dml.load("model.json"), write=print), dict[str, NDArray[Any]])
