#include "vk/formulas.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocking.h"
#include "host/host.h"
#include "kernels/formula_words.h"
#include "vk/context.h"
#include "vk/verdicts.h"

enum {
    ROW_BYTES = DML_FORMULA_ROW * 4, /* of constants */
    VALUES = 2048,                   /* that a formula is tried with, */
    ROWS = 128,                      /* by so many rows of its constants at most */
    KINDS = 16,                      /* of a constant */
    AT_ONCE = 1 << 14                /* bytes of constants that are looked at within some 10 us */
};

/* A plan with a formula, and the rows of its constants that stand for all. */
typedef struct trial {
    dml_plan plan;
    int64_t rows;
    uint32_t constants[ROWS * DML_FORMULA_ROW];
} trial;

dml_code dml_vk_check_words(const dml_context *context, const dml_program *program, dml_status *status)
{
    if (context->traits.rounds && context->traits.keeps && dml_formula_words_suffice(program, context->traits.cpu))
        return DML_OK;
    return dml_fail(
        status, DML_VALUE_ERROR,
        "this map of items of 4 or 8 bytes is computed by the host alone: give the call device=\"host\" or \"auto\", "
        "and NumPy's arrays");
}

/* Floats that bring out differences, each with both signs; the constants, so that a subtraction gives zero and a comparison
 * finds what is equal; then small integers, small floats and random bits. */
static void make_values(const trial *trial, uint32_t values[VALUES])
{
    static const uint32_t special[] = {0x00000000, 0x00000001, 0x007FFFFF, 0x00400001, 0x00800000, 0x00800001, 0x00FFFFFF,
                                       0x33800000, 0x3EAAAAAB, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000,
                                       0x40200000, 0x42FE0000, 0x437F0000, 0x437F8000, 0x4B000001, 0x4B800001, 0x4EFFFFFF,
                                       0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FC12345};
    const int count = 2 * sizeof special / sizeof special[0], own = count + (int)(trial->rows * DML_FORMULA_ROW);
    uint64_t state = 1;
    for (int i = 0; i < VALUES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = (uint32_t)(state >> 32);
        const float small = (float)((int32_t)values[i] >> 8) / 65536;
        if (i < count)
            values[i] = special[i / 2] ^ (uint32_t)i << 31;
        else if (i < own)
            values[i] = trial->constants[i - count];
        else if (i % 4 == 0)
            values[i] = (uint32_t)(i / 4 - VALUES / 8);
        else if (i % 4 == 1)
            memcpy(&values[i], &small, sizeof small);
    }
}

/* Of a constant's bits: its sign, and whether it is zero, denormal, infinite, NaN or how large. */
static uint32_t kind_of(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF, exponent = magnitude >> 23;
    uint32_t kind = 4 + exponent / 64;
    if (exponent == 0)
        kind = magnitude != 0;
    else if (exponent == 255)
        kind = magnitude > 0x7F800000 ? 3 : 2;
    return kind + KINDS / 2 * (bits >> 31);
}

/* Finds the first row of each kind, which is the kinds of its constants: of a zero or an infinity a device may make a NaN of
 * its own, and of denormals zeros, where other rows bring out neither. */
static void find_rows(const dml_plan *of, trial *trial)
{
    uint8_t seen[KINDS * KINDS * KINDS * KINDS / 8] = {0};
    const dml_span span = dml_plan_entry_span(of);
    const size_t bytes = (size_t)dml_smaller(of->entries.item, ROW_BYTES);
    if (span.end - span.begin > AT_ONCE)
        dml_about_to_block();
    trial->rows = 0;
    for (int64_t at = span.begin; at < span.end && trial->rows < ROWS; at += of->entries.item) {
        uint32_t *row = &trial->constants[trial->rows * DML_FORMULA_ROW], kind = 0;
        memset(row, 0, ROW_BYTES);
        memcpy(row, (const char *)of->entries.data + at, bytes);
        for (int i = 0; i < DML_FORMULA_ROW; i++)
            kind = kind * KINDS + kind_of(row[i]);
        trial->rows += !(seen[kind / 8] >> kind % 8 & 1);
        seen[kind / 8] |= (uint8_t)(1 << kind % 8);
    }
}

/* What is tried: the rows found with all values. */
static void make_trial(const dml_plan *of, trial *trial)
{
    find_rows(of, trial);
    dml_plan *plan = &trial->plan;
    dml_plan_begin(plan, of->item);
    plan->src_item = of->src_item;
    plan->entries = (dml_entries){.data = trial->constants, .item = ROW_BYTES};
    plan->formula = of->formula;
    dml_plan_add(plan, trial->rows, 0, of->item * VALUES * DML_VERDICT_APART);
    plan->axes[0].entry_stride = plan->entries.item;
    dml_plan_add(plan, VALUES, of->src_item, DML_VERDICT_APART * of->item);
}

static uint64_t mixed(uint64_t key, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key = (key ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
    return key;
}

/* A hash of a formula and of the constants that it is tried with. */
static uint64_t key_of(const trial *trial)
{
    const dml_formula *formula = trial->plan.formula;
    const uint64_t key =
        mixed(UINT64_C(0xCBF29CE484222325), formula, sizeof *formula + formula->count * sizeof formula->code[0]);
    return mixed(key, trial->constants, (size_t)trial->rows * DML_FORMULA_ROW * 4);
}

/* What the device makes of a plan, beside what the host does. */
static dml_code try(dml_context *context, const trial *trial, bool *same, dml_status *status)
{
    const size_t bytes = (size_t)(trial->rows * trial->plan.axes[0].dst_stride);
    uint32_t *values = calloc(1, VALUES * sizeof *values + 2 * bytes);
    if (!values)
        return dml_fail(status, DML_NO_MEMORY, "no memory for %zu bytes", 2 * bytes);
    char *made = (char *)(values + VALUES);
    make_values(trial, values);
    const dml_code code = dml_verdict_try(context, &trial->plan, values, made, status);
    if (!code)
        dml_host_run(&trial->plan, values, made + bytes, NULL);
    *same = !code && memcmp(made, made + bytes, bytes) == 0;
    dml_free_unused(values, code, status);
    return code;
}

dml_code dml_vk_check_formulas(dml_context *context, const dml_program *program, dml_status *status)
{
    if (dml_vk_check_words(context, program, status))
        return status->code;
    for (int64_t i = 0; i < program->count; i++) {
        dml_step step;
        trial trial;
        bool same = true;
        dml_program_step(program, i, &step);
        if (!step.plan.formula || dml_plan_count(&step.plan) == 0)
            continue;
        make_trial(&step.plan, &trial);
        const uint64_t key = key_of(&trial);
        if (!dml_verdict_find(context, key, &same)) {
            if (try(context, &trial, &same, status))
                return status->code;
            dml_verdict_add(context, key, same);
        }
        if (!same)
            return dml_fail(status, DML_VALUE_ERROR,
                            "this device computes a map of items of 4 bytes to other bits than NumPy: "
                            "give the call device=\"host\" or \"auto\", and NumPy's arrays");
    }
    return DML_OK;
}
