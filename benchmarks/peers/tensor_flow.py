"""TensorFlow on the CPU, eagerly. Its shuffles know NHWC there; for NCHW people reshape and transpose."""

from .peer import Peer


class TensorFlow(Peer):
    name = "TensorFlow"
    distributions = ("tensorflow-cpu", "tensorflow")

    def __init__(self, threads, device=None):
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(threads)
        tensorflow.config.set_visible_devices([], "GPU")
        self.tf = tensorflow

    def _shuffle(self, function, operator, x):
        if (operator.order, operator.layout) == ("DCR", "NHWC"):
            return lambda: function(x, operator.block).numpy()
        tf, (split, axes, result) = self.tf, operator.steps(x.shape)
        return lambda: tf.reshape(tf.transpose(tf.reshape(x, split), axes), result).numpy()

    def depth_to_space(self, operator, x):
        return self._shuffle(self.tf.nn.depth_to_space, operator, x)

    def space_to_depth(self, operator, x):
        return self._shuffle(self.tf.nn.space_to_depth, operator, x)

    def reverse(self, operator, x):
        lengths = operator.lengths(x.shape)
        return lambda: self.tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0).numpy()

    def transpose(self, operator, x):
        return lambda: self.tf.transpose(x, operator.axes).numpy()

    def padding(self, operator, x):
        how = {"mode": operator.numpy_mode.upper(), "constant_values": operator.value}
        return lambda: self.tf.pad(x, operator.pairs(x.ndim), **how).numpy()

    def tile(self, operator, x):
        return lambda: self.tf.tile(x, operator.repeats(x.ndim)).numpy()

    def upsample(self, operator, x):
        repeat, scale = self.tf.repeat, operator.scale
        return lambda: repeat(repeat(x, scale, axis=2), scale, axis=3).numpy()

    def join(self, operator, x):
        return lambda: self.tf.concat(list(x), operator.axis).numpy()

    def split(self, operator, x):
        return lambda: [part.numpy() for part in self.tf.split(x, operator.sizes(x), operator.axis)]

    def slice(self, operator, x):
        return lambda: self.tf.convert_to_tensor(x)[operator.key].numpy()

    def gather(self, operator, x):
        indices = operator.indices(x.shape)
        return lambda: self.tf.gather(x, indices).numpy()

    def take_along_axis(self, operator, x):
        indices = operator.indices(x.shape)
        return lambda: self.tf.gather(x, indices, batch_dims=1).numpy()

    def scatter_nd(self, operator, x):
        indices = operator.indices(x.shape)[:, None]
        return lambda: self.tf.tensor_scatter_nd_update(x, indices, x[: len(indices)]).numpy()

    def one_hot(self, operator, x):
        return lambda: self.tf.one_hot(x, operator.depth).numpy()

    def sliding_windows(self, operator, x):
        return lambda: self.tf.signal.frame(x, operator.size, operator.step).numpy()

    def roll(self, operator, x):
        return lambda: self.tf.roll(x, operator.shift, operator.axes).numpy()
