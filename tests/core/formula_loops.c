/* Compares the loops of formulas for the processor with plain ones, on random bits and special values. Prints how many loops
 * were compared; ends with 1 where some differ. */
#include <stdio.h>
#include <string.h>

#include "host/host_formulas.h"

enum { COUNT = 200, ROUNDS = 2 * COUNT, BYTES = COUNT * 32 };

static uint64_t state = 1;

static uint32_t drawn(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 32);
}

static _Alignas(64) char operands[3][BYTES], results[2][BYTES];
static int compared, wrong;

/* Words of random bits, or such as are special for some number. */
static void draw_operands(void)
{
    static const uint32_t special[] = {0,          1,          0x80000000, 0xFFFFFFFF, 0x3F800000, 0x7F800000,
                                       0xFF800000, 0x7FC00000, 0x7F800001, 0x4F000000, 0xCF000000, 0x477FF000,
                                       0x38800000, 0x33800000, 0x7FF00000, 0x3FF00000};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < BYTES; i += 4) {
            const uint32_t word = drawn() % 3 ? drawn() : special[drawn() % (sizeof special / sizeof *special)];
            memcpy(&operands[k][i], &word, sizeof word);
        }
}

/* Two NaNs of which a sum or a product is made may be in either order: the first operand has none, then. */
static void compare(dml_formula_loop *plain, dml_formula_loop *other, int64_t count, const char *name, int number)
{
    if (!plain || !other)
        return;
    memset(results, 0xA5, sizeof results);
    plain(results[0], operands[0], operands[1], operands[2], count);
    other(results[1], operands[0], operands[1], operands[2], count);
    compared++;
    if (memcmp(results[0], results[1], BYTES) == 0)
        return;
    wrong++;
    printf("%s %d differs\n", name, number);
}

static void clear_nans(void)
{
    for (size_t i = 0; i < BYTES; i += 4)
        operands[0][i + 3] &= (char)0xBF;
}

int main(void)
{
    const dml_formula_loops *plain = &dml_formula_loops_plain, *other = dml_formula_loops_avx2();
    for (int round = 0; round < ROUNDS && other; round++) {
        const int64_t count = round % COUNT + 1;
        draw_operands();
        for (int from = 0; from < DML_NUMBERS; from++)
            for (int to = 0; to < DML_NUMBERS; to++)
                compare(plain->casts[from][to], other->casts[from][to], count, "cast", 10 * from + to);
        for (int memory = 0; memory < DML_MEMORIES; memory++) {
            compare(plain->narrows[memory], other->narrows[memory], count, "narrow", memory);
            compare(plain->loads[memory], other->loads[memory], count, "load", memory);
            compare(plain->stores[memory], other->stores[memory], count, "store", memory);
        }
        clear_nans();
        for (int operation = 0; operation < DML_OPERATIONS; operation++)
            for (int number = 0; number < DML_NUMBERS; number++)
                compare(plain->operations[operation][number], other->operations[operation][number], count, "operation",
                        10 * operation + number);
    }
    printf("%d loops, %d wrong\n", compared, wrong);
    return wrong > 0;
}
