/* What kernel choice depends on: a device's limits, and the thresholds of its class, all of them in one structure.
 *
 * Each threshold says its unit and what it trades. Quoted are the sections of docs/tuning.md that have the measurements.
 */
#ifndef DML_KERNELS_TUNABLES_H
#define DML_KERNELS_TUNABLES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dml_tunables {
    const char *name; /* of the class of devices */

    /* "Workgroup size", "Work chunks and dynamic scheduling" */
    uint32_t group_size;  /* most invocations of a workgroup; 0: a subgroup. Occupancy against what is idle on short rows */
    uint32_t max_groups;  /* workgroups of a dispatch; if chunks are dynamic, no more than there may be threads */
    bool dynamic;         /* workgroups take chunks from an atomic counter: even load against a thread's cost of a workgroup */
    bool segments_always; /* "Mesa 25.1 and later with AVX-512": segments also for ranges that one descriptor can bind */
    uint32_t chunks;      /* worth cutting the work into: even load against the cost of a chunk */
    int64_t min_chunk;    /* destination bytes worth a chunk, the same; 0: any */

    /* "Copy command", "Pipelines and first calls" */
    int64_t copy_run;     /* bytes of one of several regions, from which a copy command beats the kernels */
    int64_t copy_regions; /* most regions of a copy command: its length against a pipeline; 0: no copy command */
    int64_t copy_row;     /* bytes of a region, from which a copy of no more regions than a region has bytes */
    int64_t copy_bytes;   /* and of no more bytes than these beats waking several threads; 0: never */
    int64_t little;       /* bytes up to which a pipeline of its own is not worth compiling */

    /* "Bytes per invocation", "Word size" */
    uint32_t invocation_bytes; /* source bytes that an invocation had better load: loads in flight against registers */
    int64_t tile_bytes;        /* most destination bytes of a tile, twice as many of 8-byte words: registers */
    int64_t long_streams;      /* most streams of which sequential unaligned reads get twice as long tiles; 0: never */
    int64_t wide_row;   /* row bytes an invocation of a workgroup, from which words have 32 bytes: fewer stores, fewer tiles */
    int64_t narrow_row; /* least bytes of a short row, several of which are words of 8 bytes together; 0: never */
    int64_t narrow_tiles; /* and the fewest such tiles along their axis: heads and tails are left at its ends */

    /* "Transposes" */
    int64_t side_by_side; /* most source rows to read at a time for whole lines of rows that begin anywhere */
    int64_t pass_rows;    /* most rows to go on with before the next words of each: the lines written stay in the cache */
    int64_t rest_row;     /* bytes of rows whose ends are worth dispatches of their own, */
    int64_t rest_bytes;   /* and of all rows */

    /* "Patterns" */
    int64_t max_item;    /* bytes of an item that is moved by a pattern; a longer one is a row of its own */
    int64_t min_row;     /* bytes of a row worth moving by words */
    int64_t long_row;    /* bytes of a row that needs no further axes to become longer */
    int64_t near_stride; /* source bytes between items that share a window: bytes loaded in vain against streams */
    int64_t max_streams; /* of a row: loads against registers */

    /* "Words against rows" */
    int64_t short_row;    /* bytes: shorter rows with heads or tails are made by words; 0: none. If words have the same rows, */
    int64_t short_scalar; /* so many more, divided by the bytes of a scalar, as heads and tails of small scalars cost more */
    int64_t gathered_row; /* bytes: shorter rows whose indices are entries are made by words */
    int64_t min_scalars;  /* scalars of a row of words, and so many more for each source byte it spans per byte */

    /* "Blocks" */
    int32_t blocks_tile; /* most words of a row that an invocation makes: rows located less often, against locality */

    /* The same section: tiles of words. */
    int32_t words_tile;   /* most words of an invocation: it goes on with a row, but neighbours read further apart */
    int64_t words_dense;  /* twice the pitch of rows, in rows, up to which it is that; beyond, */
    int64_t words_near;   /* of rows of less than a word, the pitch in rows up to which it is two, and then one; */
    int64_t words_sparse; /* of others, the pitch in rows' spans up to which it is half, and then all: nothing is near anyway */

    /* "Tables" */
    int64_t staged_table; /* elements, from which numbers that lie apart are transposed first: loads against a pass; 0: never */

    /* "Sums" */
    int32_t sums_rows; /* that share the weights of an invocation: loads of weights against registers, and idle invocations */
    int32_t shuffled_rows; /* the same of a subgroup that makes them one after the other: loads against rows near each other */

    /* "Traversal order" */
    int64_t long_walk;      /* indices of an axis worth walking along: locality against locating rows more often */
    bool source_order;      /* keep the destination's order if it is the source's: locality against longer walks */
    int64_t src_interleave; /* most indices of an axis that goes inside the walk to fill gaps in the source, */
    int64_t dst_interleave; /* or in the destination: one pass through memory against more streams at a time */

    /* "Rows per workgroup" */
    bool overlap_misses;    /* each invocation a row, where rows begin far apart; else rows enough for all to have a tile */
    int64_t remote_pitch;   /* pitch in rows' spans above which hardware does not prefetch the next row, */
    int64_t remote_row;     /* but for rows of such a span in bytes that a workgroup reads at once, */
    int64_t even_lines;     /* and for rows of so many cache lines that begin at equal distances */
    uint32_t sparse_chunks; /* one of so many chunks must be left when rows are put together: busy invocations against groups */

    /* "Software prefetch" */
    int32_t prefetch_ahead; /* iterations of a workgroup by which rows read forwards are prefetched; 0: hardware does it */
    int64_t prefetch_pitch; /* most pitch in rows' spans at which gaps are read: bytes in vain against misses; 0: no prefetch */
    int64_t prefetched;     /* bytes of pitch up to which hardware prefetches by itself */
    int64_t cached;         /* bytes of pitch up to which what was prefetched is still in the cache */
    int64_t min_gap;        /* bytes between rows, from which hardware loses track */
    int64_t max_gap;        /* and up to which it is worth reading them */
    int64_t ahead_bytes;    /* most source bytes of a tile for that: loads in vain against misses */

    /* "Transfers by the host", "Staging chunk size" */
    int64_t host_bytes;    /* most bytes that the host itself moves, where it sees both sides, */
    int64_t host_run;      /* but for items of so many bytes: its caches against a submission */
    int64_t staging_bytes; /* of either side of a staged chunk: packing and kernels overlap, against the cost of a submission */

    /* "Fence polling", "Batched submissions" */
    int64_t polled_bytes;   /* written by a submission that is polled before the caller sleeps: wake-up against a core, */
    int64_t poll_ns;        /* so long; */
    int64_t poll_queued_ns; /* and what is queued, whatever it writes */
    int64_t batched_bytes;  /* written by a submission that may be batched: its cost against an idle device; */
    int64_t busy_bytes;     /* and in flight, so that larger ones may be, too, less than that in all */

    /* "Estimates", in nanoseconds: only kernels/cost.c uses them */
    double call_ns;     /* a call between host arrays, whatever it moves, */
    double kernel_ns;   /* and each step that is a kernel */
    double transfer_ns; /* a byte of the result: upload and download */
    double copy_ns;     /* a byte that the copy command moves; */
    double byte_ns;     /* one that rows or words move, */
    double scalar_ns;   /* and a scalar that elements move; */
    double product_ns;  /* and a product that sums add; on a CPU of one core */
} dml_tunables;

/* The same of the host: a call, each of its steps, a byte and an item of one, and a product of a sum, on one core. */
typedef struct dml_costs {
    double call_ns;
    double step_ns;
    double byte_ns;
    double item_ns;
    double product_ns;
} dml_costs;

extern const dml_costs dml_host_costs;

/* Measured on lavapipe. */
extern const dml_tunables dml_tunables_cpu;

/* Estimates, some of which were measured on an NVIDIA H200: "GPU values". */
extern const dml_tunables dml_tunables_gpu;

/* A device. `range` is less than 2**32; where it is more than `binding`, it is less than DML_MAX_SEGMENTS times the largest
 * power of two that a binding has room for. */
typedef struct dml_traits {
    uint32_t group_size; /* invocations of a workgroup */
    uint32_t max_groups; /* workgroups of a dispatch */
    uint32_t alignment;  /* of a range's first byte: a power of two, 16 or more */
    bool shuffles;       /* a workgroup is a subgroup of DML_SUBGROUP, whose invocations may read each other's registers */
    uint32_t kernels;    /* a bit for each dml_kernel that may be chosen; elements move what no other can in any case */
    int64_t range;       /* most bytes that a piece spans on either side, */
    int64_t binding;     /* and that one descriptor has: larger ranges are bound as segments of equal size, and with
                          * `tunables.segments_always` all are: then the device has descriptor arrays */
    dml_tunables tunables;
} dml_traits;

/* A device as many of its class are. */
dml_traits dml_traits_of_class(const dml_tunables *tunables);

#endif
