/* Weights as vector instructions take them, for sums of bytes. A vector has lanes of 16 bytes, each with 4 sums of 32 bits.
 *
 * Along columns, a block is some neighbouring outputs, a few for each lane. For each group of taps a lane loads 16 bytes of a
 * line from its position on, and shuffles them so that each sum has 4 taps side by side. Where outputs have few taps, the sums
 * of a lane are items of one or more outputs, with 4 taps of each in a group. Else they are of one output (`wide`): the lane
 * has 16 bytes of its inputs, and the sums of an item are added in the end. */
#ifndef DML_HOST_HOST_LANES_H
#define DML_HOST_HOST_LANES_H

#include "host/host_lines.h"

enum {
    DML_LANE = 16,
    DML_LANE_ITEMS = 4,     /* of a pixel, at most */
    DML_MOST_WORDS = 3,     /* of the weights of 4 taps */
    DML_LANE_CHUNK = 64,    /* taps of which the upper bits may be added in 16 bits */
    DML_MOST_ROW_TAPS = 512 /* of an output along rows; those of more are left to plain C */
};

/* How a kernel has the weights of 4 taps, or of the first of them: as some words of 4 bytes. */
typedef void dml_weights_encoder(const int32_t *weights, uint32_t *words);

/* Along columns, for pixels of some items. */
typedef struct dml_lanes {
    int64_t lanes, items;
    int64_t outputs; /* of a lane */
    int64_t taps;    /* of an output in a group */
    int64_t step;    /* bytes of a line from a group to the next */
    int64_t blocks;
    bool wide;
    int64_t words; /* of 4 taps of a sum */
    dml_weights_encoder *encode;
    int64_t joined;  /* the lanes of a block share so many vectors, from the position of the first on; 0: they load their own */
    bool overreads;  /* loads leave the line, which is short, by less than DML_LINE_PAD */
    int32_t *groups; /* of each block, the first of its groups; and behind the last */
    int32_t *positions; /* of each lane of each block, in bytes */
    uint8_t *controls;  /* of each lane of each block, as PSHUFB has them */
    char *weights;      /* of each group: the first words of all sums, the second ones, ... */
    char memory[];
} dml_lanes;

/* Along rows: for each output some taps, without the zeros around them. */
typedef struct dml_row_taps {
    const dml_weights_run *runs; /* of the weights */
    int32_t *at;                 /* of each output, where its weights begin, in 4 bytes; and behind the last */
    uint32_t *weights;           /* groups of `each` taps, with zeros behind the last */
    char memory[];
} dml_row_taps;

/* Both are freed by free(); NULL without memory, or where weights are too large. `encode` makes `words` words
 * of 4 taps. */
dml_lanes *dml_lanes_make(const dml_weights *weights, int64_t items, int64_t lanes, int64_t words, dml_weights_encoder *encode);

/* Joins the lanes of each block, for instructions that shuffle all bytes of one or two vectors, if all blocks have what a group
 * reads in as many. */
void dml_lanes_join(dml_lanes *lanes, int64_t inputs, int64_t vectors);

/* `encode` makes `words` words of `each` taps. */
dml_row_taps *dml_row_taps_make(const dml_weights *weights, int64_t each, int64_t words, dml_weights_encoder *encode);

/* Whether a pass adds bytes to bytes, by integers, of pixels within the line. */
bool dml_lanes_fit(const dml_lines_pass *pass);

/* Chooses a kernel whose `pack` makes a dml_lanes of the weights, for a pass along columns; or a dml_row_taps, for one along
 * rows that fits. False if there are none. `slot` is the kernel's first. */
bool dml_lanes_choose_columns(dml_lines_pass *pass, const dml_lines_kernel *kernel, int slot, dml_weights_pack *pack);
bool dml_lanes_choose_rows(dml_lines_pass *pass, const dml_lines_kernel *kernel, int slot, dml_weights_pack *pack);

/* Pointers to the lines of an output's taps, in groups of `each`, whose last one repeats; NULL if there are too many. */
const char *const *dml_row_lines(const dml_row_taps *taps, const dml_sum_inputs *in, int64_t output, int64_t each,
                                 const char *lines[DML_MOST_ROW_TAPS + 4]);

#endif
