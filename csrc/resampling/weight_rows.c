#include "resampling/weight_rules.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS_BYTES = 1 << 30 };

/* Taps outside the inputs are added to those at the edge. */
static void fold(dml_weights_draft *draft, int64_t i)
{
    int32_t *row = dml_draft_row(draft, i);
    const int64_t most = draft->key->inputs - 1, begin = draft->first[i], first = dml_clamp(begin, 0, most);
    const int64_t last = dml_clamp(begin + draft->count[i] - 1, 0, most);
    int32_t sum = 0;
    for (int64_t k = 0; k < draft->count[i]; k++) {
        const int64_t at = dml_clamp(begin + k, 0, most) - first;
        sum = k > 0 && at == dml_clamp(begin + k - 1, 0, most) - first ? sum + row[k] : row[k];
        row[at] = sum;
    }
    draft->first[i] = first;
    draft->count[i] = last - first + 1;
}

/* Drops weights of 0 at both ends. */
static void trim(dml_weights_draft *draft, int64_t i)
{
    int32_t *row = dml_draft_row(draft, i);
    int64_t begin = 0, end = draft->count[i];
    while (end > 0 && row[end - 1] == 0)
        end--;
    while (begin < end && row[begin] == 0)
        begin++;
    draft->first[i] += begin;
    draft->count[i] = end - begin;
    if (begin > 0)
        memmove(row, row + begin, (size_t)(end - begin) * sizeof *row);
}

/* Where row i begins, at least: as far in front that no later row begins earlier. */
static int64_t begin_of(const dml_weights_draft *draft, int64_t i, int64_t next)
{
    return draft->count[i] > 0 && draft->first[i] < next ? draft->first[i] : next;
}

/* Trims all rows, and finds how many taps they need. */
static void measure(dml_weights_draft *draft, dml_weights *made)
{
    int64_t next = INT32_MAX;
    made->taps = 1;
    made->inside = true;
    for (int64_t i = draft->key->outputs - 1; i >= 0; i--) {
        if (draft->folds)
            fold(draft, i);
        trim(draft, i);
        next = begin_of(draft, i, next);
        const int64_t end = draft->count[i] > 0 ? draft->first[i] + draft->count[i] : next;
        made->taps = dml_larger(end - next, made->taps);
        made->inside &= draft->count[i] == 0 || (next >= 0 && end <= draft->key->inputs);
    }
}

static bool is_identity(const dml_weights_draft *draft)
{
    const float unit = 1.0F;
    int32_t one = (int32_t)1 << draft->shift;
    if (draft->is_float)
        memcpy(&one, &unit, sizeof one);
    bool same = draft->key->inputs == draft->key->outputs;
    for (int64_t i = 0; same && i < draft->key->outputs; i++)
        same = draft->count[i] == 1 && draft->first[i] == i && dml_draft_row(draft, i)[0] == one;
    return same;
}

/* Copies the taps of an output, and notes how large its weights are. */
static void write_taps(const dml_weights_draft *draft, int64_t output, int32_t *to, dml_weights *made)
{
    const int32_t *from = dml_draft_row(draft, output);
    int64_t sum = 0, magnitudes = 0, largest = made->largest;
    for (int64_t k = 0; k < draft->count[output]; k++) {
        const int64_t magnitude = dml_magnitude(from[k]);
        to[k] = from[k];
        sum += from[k];
        magnitudes += magnitude;
        largest = dml_larger(magnitude, largest);
    }
    magnitudes += dml_magnitude(sum);
    if (!draft->is_float) {
        made->sums = dml_larger(magnitudes, made->sums);
        made->largest = largest;
    }
}

/* Rows that are inside end with the inputs, at the latest. */
static void write_rows(const dml_weights_draft *draft, dml_weights *made)
{
    const int64_t most = made->inputs - made->taps;
    int64_t next = made->inside ? most : INT32_MAX;
    for (int64_t i = made->outputs - 1; i >= 0; i--) {
        int32_t *row = made->rows + i * (1 + made->taps);
        next = begin_of(draft, i, next);
        next = next < INT32_MAX ? next : 0;
        row[0] = (int32_t)next;
        made->runs[i] = (dml_weights_run){(int32_t)next, 1};
        if (draft->count[i] > 0) {
            made->runs[i] = (dml_weights_run){(int32_t)draft->first[i], (int32_t)draft->count[i]};
            write_taps(draft, i, row + 1 + (draft->first[i] - next), made);
        }
    }
}

/* What makes the weights of a rule. */
typedef struct library {
    int64_t (*room)(const dml_weights_key *key);
    void (*fill)(dml_weights_draft *draft);
} library;

static library library_of(int32_t rule)
{
    if (rule == DML_RULE_PILLOW)
        return (library){dml_pillow_room, dml_pillow_weights};
    if (rule <= DML_RULE_TORCHVISION_PLAIN)
        return (library){dml_torchvision_room, dml_torchvision_weights};
    return (library){dml_opencv_room, dml_opencv_weights};
}

static dml_weights *finish(dml_weights_draft *draft)
{
    const dml_weights_key *key = draft->key;
    dml_weights *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (dml_weights){.inputs = key->inputs, .outputs = key->outputs, .shift = draft->shift, .is_float = draft->is_float};
    measure(draft, made);
    made->identity = is_identity(draft);
    made->rows = calloc((size_t)key->outputs, sizeof *made->rows * (size_t)(1 + made->taps) + sizeof *made->runs);
    if (made->rows) {
        made->runs = (dml_weights_run *)(void *)(made->rows + key->outputs * (1 + made->taps));
        write_rows(draft, made);
        return made;
    }
    free(made);  /* uncovered: no memory for what there was memory for just before */
    return NULL; /* uncovered: likewise */
}

dml_weights *dml_weights_make(const dml_weights_key *key)
{
    const library library = library_of(key->rule);
    dml_weights_draft draft = {.key = key, .room = dml_larger(library.room(key), 1)};
    dml_weights *made = NULL;
    if (key->inputs >= INT32_MAX || key->outputs >= INT32_MAX || draft.room + 2 > MOST_ROWS_BYTES / 4 / key->outputs)
        return NULL;
    draft.first = calloc((size_t)key->outputs, sizeof *draft.first);
    draft.count = calloc((size_t)key->outputs, sizeof *draft.count);
    draft.values = malloc((size_t)(key->outputs * draft.room + DML_TAPS_TOGETHER) * sizeof *draft.values);
    draft.scratch = malloc((size_t)(key->outputs * draft.room + DML_TAPS_TOGETHER) * sizeof *draft.scratch);
    if (draft.first && draft.count && draft.values && draft.scratch) {
        library.fill(&draft);
        made = finish(&draft);
    }
    free(draft.first);
    free(draft.count);
    free(draft.values);
    free(draft.scratch);
    return made;
}
