/* Rows: the pattern by which a plan's destination rows are composed of words. Geometry alone: what is possible, not what is
 * best. */
#ifndef DML_KERNELS_ROWS_H
#define DML_KERNELS_ROWS_H

#include "kernels/tunables.h"
#include "plan/plan.h"

enum { DML_MAX_INNERS = 3 };

/* How a plan's axes divide: those inside an element, the one along which a row's elements lie, and those along which rows
 * lie. */
typedef struct dml_rows {
    const dml_plan *plan;
    const dml_tunables *tunables;
    int word;                  /* bytes of the words that are stored: 8, 16 or 32 */
    int row;                   /* axis along which a row lies; -1: a row is one item, and an element is an integer */
    int inner[DML_MAX_INNERS]; /* axes inside an element, the fastest first */
    int inners;
    int stream;         /* 0, or 1 + index into inner of the axis whose indices have streams of their own */
    int window_axis;    /* an outer axis whose neighbours are made from one window; -1: none */
    int64_t per_window; /* so many of them: a divisor of its extent */
    int64_t phase;      /* bytes from a word's begin to where the first of them begins, */
    int64_t skew;       /* and bytes more for each further one; if any, an element has a word more than is stored */
    int64_t element;    /* bytes of an element */
    int64_t reach;      /* source bytes from the first to the last of an element, within a stream and a window */
    int64_t extent;     /* elements of a row */
    int64_t stride;     /* source bytes from one element to the next */
    int64_t head;       /* elements before the first whole word of a row; -1: rows differ */
    int64_t tile;       /* elements that an invocation moves at once */
} dml_rows;

/* Finds rows for words of so many bytes, with the smallest tile: false if there are none. `dst` is where the destination begins
 * in its range. */
bool dml_rows_find(const dml_plan *plan, const dml_tunables *tunables, int word, uint32_t dst, dml_rows *rows);

/* Whether an invocation has the registers for a tile of so many elements. */
bool dml_rows_fits(const dml_rows *rows, int64_t elements);

/* Sets the size of a tile, and lets neighbouring rows that interleave in the source share its window, as many as fit. */
void dml_rows_set_tile(dml_rows *rows, int64_t elements);

int dml_rows_streams(const dml_rows *rows);

/* Elements in the fewest whole words. */
int64_t dml_rows_period(const dml_rows *rows);

/* Whether rows have heads or tails that are no whole words. */
bool dml_rows_have_ends(const dml_rows *rows);

/* Whether what lies between rows in the source is read as other rows, each by an invocation of its own. */
bool dml_rows_fill_gaps(const dml_rows *rows);

/* Whether a row is reversed in itself, up to its length. */
bool dml_rows_are_reversed(const dml_rows *rows);

/* 8-byte words of the window of a tile of so many elements. */
int64_t dml_rows_window_words(const dml_rows *rows, int64_t elements);

/* Whether rows lie along axis k, and what is left of it where neighbours share a window. */
bool dml_rows_is_outer(const dml_rows *rows, int k);
dml_axis dml_rows_outer_axis(const dml_rows *rows, int k);

/* The bits of all that outer axes, gathered ones and streams add to a window's address. */
uint64_t dml_rows_strides(const dml_rows *rows);

/* --- words: a destination without gaps, as rows of scalars that lie one behind the other ------------------------------- */

typedef struct dml_words {
    const dml_plan *plan;
    int axis;       /* along which a row's scalars lie; -1: a row is one item of the plan */
    int32_t scalar; /* bytes */
    int64_t row;    /* bytes of a row in the destination */
    int64_t ratio;  /* source bytes that a row passes for each of these; negative: backwards */
    int64_t pitch;  /* source bytes between neighbouring rows */
    int32_t tile;   /* words that an invocation makes */
} dml_words;

/* False if the plan's destination has gaps. The tile is left to others. */
bool dml_words_find(const dml_plan *plan, int32_t scalar, dml_words *words);

#endif
