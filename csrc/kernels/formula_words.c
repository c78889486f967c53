#include "kernels/formula_words.h"

/* shaders/abi.h has them once more. */
_Static_assert(DML_STEP_CAST == DML_DO_CAST && DML_STEP_WHERE == DML_DO_WHERE && DML_STEP_ADD == DML_DO_ADD, "the same");
_Static_assert(DML_STEP_LESS == DML_DO_LESS && DML_STEP_AND == DML_DO_AND && DML_STEP_RINT == DML_DO_RINT, "the same");
_Static_assert(DML_STEP_IN_16 == DML_IN_U16 && DML_FORMULA_WORDS == DML_FORMULA_REGISTERS, "the same");

static bool is_constant(const dml_instruction *one, uint32_t place)
{
    return one->number != DML_F64 && one->number != DML_I64 && one->to == place && one->offset == 4 * place;
}

/* Whether the kernel has it: in registers of 32 bits, and but for float16. */
static bool is_step(const dml_instruction *one, bool divides)
{
    if (one->number == DML_F64 || one->number == DML_I64 || one->operation == DML_DO_WIDEN)
        return false;
    if (one->operation == DML_DO_CAST)
        return one->b == DML_F32 || one->b == DML_I32;
    if (one->operation == DML_DO_NARROW)
        return one->b < DML_IN_I32;
    const bool divided = one->operation == DML_DO_DIVIDE || one->operation == DML_DO_SQRT;
    return !divided || (divides && one->number == DML_F32);
}

static uint32_t word_of(const dml_instruction *one)
{
    const uint32_t flags = one->number == DML_F32 ? DML_FORMULA_FLOATS : 0;
    return one->operation | flags | (uint32_t)one->to << DML_FORMULA_TO | (uint32_t)one->a << DML_FORMULA_A |
           (uint32_t)one->b << DML_FORMULA_B | (uint32_t)one->c << DML_FORMULA_C;
}

bool dml_formula_words_find(const dml_formula *formula, bool divides, dml_formula_words *words)
{
    const uint32_t first = formula->constants, last = formula->count - 1;
    const dml_instruction *load = &formula->code[first], *store = &formula->code[last];
    *words = (dml_formula_words){.ends = (uint32_t)load->to << DML_FORMULA_TO | first << DML_FORMULA_A |
                                         (uint32_t)store->a << DML_FORMULA_B};
    bool all = first <= DML_FORMULA_ROW && last - first - 1 <= DML_FORMULAS_MOST_STEPS &&
               (load->a == DML_IN_I32 || load->a == DML_IN_F32) && store->b <= DML_IN_F32 && store->b != DML_IN_U32 &&
               store->b != DML_IN_I64 && store->b != DML_IN_F16;
    for (uint32_t i = 0; i < first && all; i++)
        all = is_constant(&formula->code[i], i);
    for (uint32_t i = first + 1; i < last && all; i++) {
        all = is_step(&formula->code[i], divides);
        words->steps[i - first - 1] = word_of(&formula->code[i]);
    }
    return all;
}

bool dml_formula_words_suffice(const dml_program *program, bool divides)
{
    bool all = true;
    for (int64_t i = 0; i < program->count && all; i++) {
        dml_step step;
        dml_formula_words words;
        dml_program_step(program, i, &step);
        all = !step.plan.formula || dml_formula_words_find(step.plan.formula, divides, &words);
    }
    return all;
}
