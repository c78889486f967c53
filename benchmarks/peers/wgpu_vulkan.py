"""wgpu on Vulkan: a WGSL kernel, one invocation an element of the result."""

import math

import numpy as np

from .peer import Peer, Unsupported

ELEMENTS = {4: "u32", 8: "vec2<u32>"}
GROUP = 64
SHADER = """
@group(0) @binding(0) var<storage, read> x: array<{element}>;
@group(0) @binding(1) var<storage, read_write> y: array<{element}>;

const b = {block}u; const channels = {channels}u; const height = {height}u; const width = {width}u;

@compute @workgroup_size({group})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let w = id.x; let h = id.y; let c = id.z % channels; let n = id.z / channels;
    if (w >= width) {{ return; }}
    let place = (h % b) * b + w % b;
    let depth = place * {spread}u + c * {step}u;
    let row = ((n * channels * b * b + depth) * (height / b) + h / b) * (width / b);
    y[(id.z * height + h) * width + w] = x[row + w / b];
}}
"""


class Wgpu(Peer):
    name = "wgpu"
    distributions = ("wgpu",)
    where = "vulkan"

    def __init__(self, threads, device=None):
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        set_instance_extras(backends=["Vulkan"])  # OpenGL's drivers would be loaded, too
        adapters = [a for a in wgpu.gpu.enumerate_adapters_sync() if str(device or "").lower() in a.info["device"].lower()]
        if not adapters:
            raise Unsupported("wgpu found no such Vulkan device")
        self.wgpu, self.adapter = wgpu, adapters[0]
        self.limit = self.adapter.limits["max-storage-buffer-binding-size"]
        self.device = self.adapter.request_device_sync(
            required_limits={name: self.adapter.limits[name] for name in ("max-storage-buffer-binding-size", "max-buffer-size")}
        )

    def depth_to_space(self, operator, x):
        if operator.layout != "NCHW":
            raise Unsupported("the kernel is written for NCHW")
        if x.itemsize not in ELEMENTS:
            raise Unsupported("WGSL has no elements of 8 or 16 bits in buffers")
        if x.nbytes > self.limit:
            raise Unsupported("larger than a storage buffer may be")
        shape = operator.steps(x.shape)[2]
        pipeline = self._pipeline(operator, x, shape)
        groups = (math.ceil(shape[3] / GROUP), shape[2], shape[0] * shape[1])
        wgpu, device = self.wgpu, self.device

        def call():
            usage = wgpu.BufferUsage
            source = device.create_buffer_with_data(data=x, usage=usage.STORAGE)
            target = device.create_buffer(size=x.nbytes, usage=usage.STORAGE | usage.COPY_SRC)
            entries = [{"binding": at, "resource": {"buffer": buffer}} for at, buffer in enumerate((source, target))]
            encoder = device.create_command_encoder()
            work = encoder.begin_compute_pass()
            work.set_pipeline(pipeline)
            work.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
            work.dispatch_workgroups(*groups)
            work.end()
            device.queue.submit([encoder.finish()])
            return np.frombuffer(device.queue.read_buffer(target), x.dtype).reshape(shape)

        return call

    def _pipeline(self, operator, x, shape):
        _, channels, height, width = shape
        spread, step = (channels, 1) if operator.order == "DCR" else (1, operator.block**2)
        code = SHADER.format(
            element=ELEMENTS[x.itemsize],
            block=operator.block,
            channels=channels,
            height=height,
            width=width,
            spread=spread,
            step=step,
            group=GROUP,
        )
        module = self.device.create_shader_module(code=code)
        return self.device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
