/* The passes of a resize over lines: rows of an image whose items lie side by side. Kernels of several instruction sets make
 * them; all give the same bytes. */
#ifndef DML_HOST_HOST_LINES_H
#define DML_HOST_HOST_LINES_H

#include "host/host_sums.h"
#include "resampling/weights.h"

enum {
    DML_LINES = 4, /* that a pass along columns makes at once */
    DML_LINE_PAD =
        128 /* bytes before and behind a line that a kernel along columns may write, and behind it that it may read */
};

typedef struct dml_lines_kernel dml_lines_kernel;

/* A pass as a kernel sees it: along columns or along rows. A pixel is an input or output of the axis, and has `items` items. */
typedef struct dml_lines_pass {
    const dml_lines_kernel *kernel;
    dml_weights *weights; /* borrowed */
    const void *packed;   /* what the kernel has made of them; or NULL */
    bool overreads;       /* along columns, it reads behind a line of the input */
    dml_summing summing;
    int64_t items;
    int64_t from, to; /* bytes of an item that is read, and of one that is written */
} dml_lines_pass;

/* Makes pixels [begin, end) along columns, of DML_LINES lines, some of which may be the same. Pixel `begin` is written to
 * `out`, and pixel 0 read from `in`. */
typedef void dml_columns_kernel(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin,
                                int64_t end);

/* Makes `count` items of the line of pixel `output` along rows. Writes no other bytes. */
typedef void dml_rows_kernel(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count);

/* Multiplies the first three channels of pixels of four bytes by the last one, or divides them. */
typedef void dml_alpha_kernel(const unsigned char *in, unsigned char *out, int64_t pixels, bool multiplies);

/* Whether this processor runs a kernel. */
typedef bool dml_lines_probe(void);

/* Chooses a kernel for a pass: false if it is none for that pass, which is then unchanged. */
typedef bool dml_lines_chooser(dml_lines_pass *pass);

/* NULL: what it is not for. */
struct dml_lines_kernel {
    const char *name;
    dml_lines_probe *is_supported;
    dml_lines_chooser *choose_columns, *choose_rows;
    dml_lines_chooser *choose_pairs; /* along rows: an item is a byte and that of the next pixel, which are added as well */
    dml_columns_kernel *columns;
    dml_rows_kernel *rows;
    dml_alpha_kernel *alpha;
};

/* Which kernel runs from now on, where it is for a pass, and else those behind it: NULL for the first. False if this processor
 * has none of that name. */
bool dml_lines_start_at(const char *name);

/* The names of the kernels that this processor has, the fastest first; NULL behind the last. */
const char *dml_lines_kernel_name(int index);

/* Chooses the fastest kernel that is for a pass, or plain C. */
void dml_lines_choose(dml_lines_pass *pass, bool by_columns, bool plain);

/* The same for a pass of pairs along rows; false if there is none. */
bool dml_lines_choose_pairs(dml_lines_pass *pass);

/* The fastest kernel for alpha; NULL for plain C. */
dml_alpha_kernel *dml_lines_alpha(void);

/* For every pass, and processor. */
extern const dml_lines_kernel dml_lines_plain;

/* For sums of bytes to bytes, by DML_SUM_CLIP, and of no more than four items: others are left to plain C. */
#if defined(__GNUC__) && defined(__x86_64__)
#define DML_LINES_X86
bool dml_lines_have_avx2(void);
void dml_alpha_avx2(const unsigned char *in, unsigned char *out, int64_t pixels, bool multiplies);
extern const dml_lines_kernel dml_lines_avx2, dml_lines_vnni, dml_lines_vbmi;

/* For sums of one or two taps, of which that along columns makes words of 16 bits, by AVX2. */
extern const dml_lines_kernel dml_lines_linear;

/* For means of blocks of 2 x 2, by AVX2: a pass of pairs. */
extern const dml_lines_kernel dml_lines_halves;

/* For sums with 32 bits between the passes, by AVX2; along columns, of integers, and of floats. */
extern const dml_lines_kernel dml_lines_words, dml_lines_floats;
#endif

/* The same on ARM, by dot products. */
#if defined(__GNUC__) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define DML_LINES_NEON
extern const dml_lines_kernel dml_lines_neon;
#endif

/* Which of the slots that weights have for what kernels make of them are a kernel's: one for rows, then those for columns of so
 * many items; of the last three the latter alone. */
enum { DML_SLOT_NEON = 0, DML_SLOT_VNNI = 0, DML_SLOT_AVX2 = 5, DML_SLOT_LINEAR = 9, DML_SLOT_WORDS = 13, DML_SLOT_VBMI = 17 };

#endif
