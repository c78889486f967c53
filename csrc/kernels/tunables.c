#include "kernels/tunables.h"

/* The lines are the sections of tunables.h. */
const dml_tunables dml_tunables_cpu = {
    .name = "cpu", /* clang-format off */
    .group_size = 0, .max_groups = 32 /* llvmpipe's most threads */, .dynamic = true, .chunks = 128, .min_chunk = 8192,
    .copy_run = 16384, .copy_regions = 64, .copy_row = 512, .copy_bytes = 8388608, .little = 4096,
    .invocation_bytes = 64, .tile_bytes = 128, .long_streams = 2, .wide_row = 32, .narrow_row = 9, .narrow_tiles = 6,
    .side_by_side = 16, .pass_rows = 1536, .rest_row = 256, .rest_bytes = 1048576,
    .max_item = 128, .min_row = 32, .long_row = 128, .near_stride = 64, .max_streams = 8,
    .short_row = 64, .short_scalar = 128, .gathered_row = 512, .min_scalars = 4,
    .blocks_tile = 8, .words_tile = 8, .words_dense = 5, .words_near = 8, .words_sparse = 6,
    .staged_table = 32768,
    .sums_rows = 4, .shuffled_rows = 16,
    .long_walk = 64, .source_order = true, .src_interleave = INT64_MAX, .dst_interleave = 4,
    .overlap_misses = true, .remote_pitch = 4, .remote_row = 512, .even_lines = 2, .sparse_chunks = 1,
    .prefetch_pitch = 8, .prefetched = 256, .cached = 65536, .min_gap = 384, .max_gap = 3072, .ahead_bytes = 256,
    .host_bytes = 32768, .host_run = 4096, .staging_bytes = 4194304,
    .polled_bytes = 8388608, .poll_ns = 1000000, .poll_queued_ns = 200000, .batched_bytes = 65536,
    .busy_bytes = INT64_MAX,
    .call_ns = 40000, .kernel_ns = 40000, .transfer_ns = 0, .copy_ns = 0.15, .byte_ns = 0.7, .scalar_ns = 8,
    .product_ns = 0.2,
}; /* clang-format on */

/* Neighbours' loads coalesce, and workgroups are switched to hide misses: small tiles, many chunks, no prefetch. Kernels copy
 * faster than the copy command does. */
const dml_tunables dml_tunables_gpu = {
    .name = "gpu", /* clang-format off */
    .group_size = 128, .max_groups = UINT32_MAX, .dynamic = false, .chunks = 65536, .min_chunk = 0,
    .copy_regions = 0, .little = 4096,
    .invocation_bytes = 16, .tile_bytes = 128, .long_streams = 0, .wide_row = UINT32_MAX /* words of 16 bytes only */,
    .side_by_side = 16, .pass_rows = 1536, .rest_row = 256, .rest_bytes = 1048576,
    .max_item = 128, .min_row = 32, .long_row = 128, .near_stride = 64, .max_streams = 8,
    .short_row = 0, .short_scalar = 0, .gathered_row = 0, .min_scalars = 4,
    .blocks_tile = 4, .words_tile = 1,
    .sums_rows = 1, .shuffled_rows = 0,
    .long_walk = 8, .source_order = false, .src_interleave = 4, .dst_interleave = 4,
    .overlap_misses = false, .sparse_chunks = 16,
    .prefetch_pitch = 0,
    .host_bytes = 32768, .host_run = 4096, .staging_bytes = 4194304,
    .polled_bytes = 8388608, .poll_ns = 1000000, .poll_queued_ns = 200000, .batched_bytes = 65536,
    .busy_bytes = 134217728,
    .call_ns = 30000, .kernel_ns = 5000, .transfer_ns = 0.1, .copy_ns = 0.001, .byte_ns = 0.001, .scalar_ns = 0.002,
    .product_ns = 0.002,
}; /* clang-format on */

const dml_costs dml_host_costs = {.call_ns = 4000, .step_ns = 300, .byte_ns = 0.15, .item_ns = 0.15, .product_ns = 0.03};

dml_traits dml_traits_of_class(const dml_tunables *tunables)
{
    return (dml_traits){.group_size = tunables->group_size ? tunables->group_size : 8,
                        .max_groups = tunables->max_groups < 65535 ? tunables->max_groups : 65535,
                        .alignment = 16,
                        .kernels = UINT32_MAX,
                        .range = INT64_C(1) << 27,
                        .binding = INT64_C(1) << 27,
                        .tunables = *tunables};
}
