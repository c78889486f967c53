#include "plan/formula.h"

#include <stddef.h>

const uint8_t dml_memory_bytes_of[DML_MEMORIES] = {1, 1, 2, 2, 4, 4, 8, 2, 4, 8};
const uint8_t dml_memory_number[DML_MEMORIES] = {DML_I32, DML_I32, DML_I32, DML_I32, DML_I32,
                                                 DML_I64, DML_I64, DML_F32, DML_F32, DML_F64};

enum { EMPTY = DML_NUMBERS };

/* What is known while a formula is read: what each register holds. */
typedef struct reader {
    const dml_formula *formula;
    uint8_t held[DML_FORMULA_REGISTERS];
    int64_t src_item, item;
} reader;

static bool holds(const reader *reader, uint8_t at, uint8_t number)
{
    return at < DML_FORMULA_REGISTERS && reader->held[at] == number;
}

static bool is_float(uint8_t number)
{
    return number == DML_F32 || number == DML_F64;
}

/* Whether the operands of an operation proper are there. */
static bool has_operands(const reader *reader, const dml_instruction *one)
{
    const uint8_t operation = one->operation, number = one->number;
    if (operation >= DML_OPERATIONS || (operation >= DML_DO_SQRT && !is_float(number)) ||
        (operation >= DML_DO_AND && operation <= DML_DO_XOR && is_float(number)))
        return false;
    return holds(reader, one->a, number) && (operation >= DML_DO_NEGATIVE || holds(reader, one->b, number));
}

static bool has_memory(const dml_instruction *one, uint8_t memory, int64_t item)
{
    return memory < DML_MEMORIES && dml_memory_number[memory] == one->number && dml_memory_bytes_of[memory] == item;
}

/* Whether an instruction may stand at that place. */
static bool is_possible(const reader *reader, const dml_instruction *one, uint32_t place)
{
    const dml_formula *formula = reader->formula;
    const uint32_t bytes = one->number == DML_F32 || one->number == DML_I32 ? 4 : 8;
    const uint8_t most = DML_FORMULA_REGISTERS; /* also of fields without use: loops find addresses for all */
    if (one->number >= DML_NUMBERS || one->to >= most || one->a >= most || one->b >= most || one->c >= most ||
        (place < formula->constants) != (one->operation == DML_DO_CONSTANT) ||
        (place == formula->constants) != (one->operation == DML_DO_LOAD) ||
        (place + 1 == formula->count) != (one->operation == DML_DO_STORE))
        return false;
    switch (one->operation) {
    case DML_DO_CONSTANT:
        return one->offset + bytes <= formula->row;
    case DML_DO_LOAD:
        return has_memory(one, one->a, reader->src_item);
    case DML_DO_STORE:
        return has_memory(one, one->b, reader->item) && holds(reader, one->a, one->number);
    case DML_DO_CAST:
        return one->b < DML_NUMBERS && one->b != one->number && holds(reader, one->a, one->b);
    case DML_DO_NARROW:
        return one->b < DML_MEMORIES && dml_memory_number[one->b] == one->number && holds(reader, one->a, one->number);
    case DML_DO_WIDEN:
        return one->number == DML_F64 && holds(reader, one->a, DML_F32);
    case DML_DO_WHERE:
        return holds(reader, one->a, DML_I32) && holds(reader, one->b, one->number) && holds(reader, one->c, one->number);
    default:
        return has_operands(reader, one);
    }
}

/* Whether a register that is written is read by the same instruction: loops take it that they differ. */
static bool overlaps(const dml_instruction *one)
{
    const bool operands = one->operation > DML_DO_STORE;
    const bool second = one->operation == DML_DO_WHERE || (one->operation >= DML_DO_ADD && one->operation < DML_DO_NEGATIVE);
    return operands &&
           (one->to == one->a || (second && one->to == one->b) || (one->operation == DML_DO_WHERE && one->to == one->c));
}

bool dml_formula_is_whole(const dml_formula *formula, int64_t left, int64_t src_item, int64_t item)
{
    const int64_t head = (int64_t)offsetof(dml_formula, code), size = (int64_t)sizeof(dml_instruction);
    if (left < head || formula->count > DML_FORMULA_MOST || formula->count > (left - head) / size ||
        formula->constants + 2 > formula->count || formula->row < 1)
        return false;
    reader reader = {.formula = formula, .src_item = src_item, .item = item};
    for (int k = 0; k < DML_FORMULA_REGISTERS; k++)
        reader.held[k] = EMPTY;
    for (uint32_t i = 0; i < formula->count; i++) {
        const dml_instruction *one = &formula->code[i];
        if (!is_possible(&reader, one, i) || overlaps(one))
            return false;
        const bool compares = one->operation >= DML_DO_LESS && one->operation <= DML_DO_NOT_EQUAL;
        if (one->operation != DML_DO_STORE)
            reader.held[one->to] = compares ? DML_I32 : one->number;
    }
    return true;
}
