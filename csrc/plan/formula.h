/* A formula: what becomes of each element, in place of a table where elements have too many values for one. It is a short
 * program of typed instructions, for a machine whose registers hold a block of elements each. The constants among its operands
 * lie in rows, as a table's entries do; a plan's entries are these rows.
 *
 * Registers hold float, double, int32_t or int64_t. Items of fewer bits are held as int32_t, uint32_t as int64_t, float16 as
 * float. After each operation they are narrowed, so that they wrap around or are rounded as NumPy's are. */
#ifndef DML_PLAN_FORMULA_H
#define DML_PLAN_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

enum { DML_FORMULA_REGISTERS = 24, DML_FORMULA_MOST = 256 /* instructions */ };

/* What a register holds. */
typedef enum dml_formula_number { DML_F32, DML_F64, DML_I32, DML_I64, DML_NUMBERS } dml_formula_number;

/* What memory holds. A bool is a byte of 0 or 1. */
typedef enum dml_formula_memory {
    DML_IN_U8,
    DML_IN_I8,
    DML_IN_U16,
    DML_IN_I16,
    DML_IN_I32,
    DML_IN_U32,
    DML_IN_I64,
    DML_IN_F16,
    DML_IN_F32,
    DML_IN_F64,
    DML_MEMORIES
} dml_formula_memory;

/* dmlops/fusion/formulas.py has the same numbers. `number` is that of the operands and of the result, but for
 * comparisons, which result in an int32_t of 0 or 1. */
typedef enum dml_formula_operation {
    DML_DO_CONSTANT, /* to = the constant at `offset` of the row; constants come first */
    DML_DO_LOAD,     /* to = the element, which memory holds as `a`; once, behind the constants */
    DML_DO_STORE,    /* the result is register a, and memory holds it as `b`; the last one */
    DML_DO_CAST,     /* to = register a, which holds numbers `b`; floats are rounded towards zero */
    DML_DO_NARROW,   /* to = register a, as memory that holds it as `b` would give it back */
    DML_DO_WIDEN,    /* to = register a, which holds a float16 as float, as double: a NaN keeps its bits, as NumPy has it */
    DML_DO_WHERE,    /* to = a ? b : c, where a holds int32_t */
    DML_DO_ADD,
    DML_DO_SUBTRACT,
    DML_DO_MULTIPLY,
    DML_DO_DIVIDE, /* of integers rounded down; by 0 it is 0 */
    DML_DO_MINIMUM,
    DML_DO_MAXIMUM,
    DML_DO_RAISE, /* a < b ? b : a, as NumPy clips */
    DML_DO_LOWER, /* a > b ? b : a */
    DML_DO_LESS,
    DML_DO_LESS_EQUAL,
    DML_DO_GREATER,
    DML_DO_GREATER_EQUAL,
    DML_DO_EQUAL,
    DML_DO_NOT_EQUAL,
    DML_DO_AND, /* this and the next two are of integers only, */
    DML_DO_OR,
    DML_DO_XOR,
    DML_DO_NEGATIVE, /* from here on there is one operand */
    DML_DO_ABSOLUTE,
    DML_DO_SQRT, /* and from here on it is of floats */
    DML_DO_FLOOR,
    DML_DO_CEIL,
    DML_DO_TRUNC,
    DML_DO_RINT,
    DML_OPERATIONS
} dml_formula_operation;

typedef struct dml_instruction {
    uint8_t operation, number, to, a, b, c;
    uint16_t offset;
} dml_instruction;

typedef struct dml_formula {
    uint32_t row;       /* bytes of a row of constants */
    uint32_t constants; /* how many instructions are constants */
    uint32_t count;     /* of instructions */
    uint32_t reserved;
    dml_instruction code[];
} dml_formula;

extern const uint8_t dml_memory_bytes_of[DML_MEMORIES]; /* of an element */
extern const uint8_t dml_memory_number[DML_MEMORIES];   /* what register holds it */

/* Whether `left` bytes have a whole formula that makes items of `item` bytes from items of `src_item`, and reads no register
 * before something of the number that it reads is there. */
bool dml_formula_is_whole(const dml_formula *formula, int64_t left, int64_t src_item, int64_t item);

#endif
