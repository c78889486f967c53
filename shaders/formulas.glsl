// What tables.glsl computes by a formula: a few steps, each a specialisation constant, so that code is made of these alone.
//
// A step: the operation, whether its operands are floats, the register that it writes, and those that it reads.
layout(constant_id = DML_FORMULAS_ENDS) const uint ENDS = 0;
layout(constant_id = DML_FORMULAS_STEPS + 0) const uint STEP_0 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 1) const uint STEP_1 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 2) const uint STEP_2 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 3) const uint STEP_3 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 4) const uint STEP_4 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 5) const uint STEP_5 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 6) const uint STEP_6 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 7) const uint STEP_7 = 0;
layout(constant_id = DML_FORMULAS_STEPS + 8) const uint STEP_8 = 0;

#define FIELD(word, from) ((word) >> (from) & 31u)
#define CONSTANTS FIELD(ENDS, DML_FORMULA_A)
#define Row uvec4 // its constants

Row row_at(uint entry)
{
    Row row = Row(0);
    [[unroll]] for (uint i = 0; i < CONSTANTS; i++)
        row[i] = entries[entry / 4 + i];
    return row;
}

// The bits that an element has.
uint number_at(uint src)
{
    if ((ENDS & DML_FORMULA_ALIGNED) != 0)
        return AT(src4, 2, src >> 2);
    return source_byte(src) | source_byte(src + 1) << 8 | source_byte(src + 2) << 16 | source_byte(src + 3) << 24;
}

uint of_floats(uint operation, float a, float b)
{
    precise float made = a;
    switch (operation) {
    case DML_STEP_ADD: made = a + b; break;
    case DML_STEP_SUBTRACT: made = a - b; break;
    case DML_STEP_MULTIPLY: made = a * b; break;
    case DML_STEP_DIVIDE: made = a / b; break;
    case DML_STEP_SQRT: made = sqrt(a); break;
    case DML_STEP_FLOOR: made = floor(a); break;
    case DML_STEP_CEIL: made = ceil(a); break;
    case DML_STEP_TRUNC: made = trunc(a); break;
    case DML_STEP_RINT: made = roundEven(a); break;
    }
    return floatBitsToUint(made);
}

uint of_integers(uint operation, uint a, uint b)
{
    switch (operation) {
    case DML_STEP_ADD: return a + b;
    case DML_STEP_SUBTRACT: return a - b;
    case DML_STEP_MULTIPLY: return a * b;
    case DML_STEP_AND: return a & b;
    case DML_STEP_OR: return a | b;
    case DML_STEP_XOR: return a ^ b;
    case DML_STEP_NEGATIVE: return 0 - a;
    default: return int(a) < 0 ? 0 - a : a; // DML_STEP_ABSOLUTE
    }
}

// Numbers of both kinds: is a less, are they equal?
bool compares(uint operation, uint a, uint b, bool floats)
{
    float x = uintBitsToFloat(a), y = uintBitsToFloat(b);
    switch (operation) {
    case DML_STEP_LESS: return floats ? x < y : int(a) < int(b);
    case DML_STEP_LESS_EQUAL: return floats ? x <= y : int(a) <= int(b);
    case DML_STEP_GREATER: return floats ? x > y : int(a) > int(b);
    case DML_STEP_GREATER_EQUAL: return floats ? x >= y : int(a) >= int(b);
    case DML_STEP_EQUAL: return floats ? x == y : a == b;
    default: return floats ? !(x == y) : a != b; // DML_STEP_NOT_EQUAL
    }
}

// As the host casts: what int32 has not becomes its lowest number.
uint cast_of(uint a, bool floats)
{
    float x = uintBitsToFloat(a);
    if (floats)
        return floatBitsToUint(float(int(a)));
    return x >= -2147483648.0 && x < 2147483648.0 ? uint(int(x)) : 0x80000000u;
}

// As an integer of fewer bits would give it back.
uint narrow(uint a, uint memory)
{
    int bits = memory < DML_STEP_IN_16 ? 8 : 16;
    return memory % 2 == 0 ? bitfieldExtract(a, 0, bits) : uint(bitfieldExtract(int(a), 0, bits));
}

bool is_nan(uint a)
{
    return (a & 0x7fffffffu) > 0x7f800000u;
}

// What a step makes; all but the operands is constant.
uint step_of(uint word, uint a, uint b, uint c)
{
    uint operation = FIELD(word, 0);
    bool floats = (word & DML_FORMULA_FLOATS) != 0;
    switch (operation) {
    case DML_STEP_CAST: return cast_of(a, floats);
    case DML_STEP_NARROW: return narrow(a, FIELD(word, DML_FORMULA_B));
    case DML_STEP_WHERE: return a != 0 ? b : c;
    case DML_STEP_MINIMUM: return compares(DML_STEP_LESS, a, b, floats) || (floats && is_nan(a)) ? a : b;
    case DML_STEP_MAXIMUM: return compares(DML_STEP_GREATER, a, b, floats) || (floats && is_nan(a)) ? a : b;
    case DML_STEP_RAISE: return compares(DML_STEP_LESS, a, b, floats) ? b : a;
    case DML_STEP_LOWER: return compares(DML_STEP_GREATER, a, b, floats) ? b : a;
    }
    if (operation >= DML_STEP_LESS && operation <= DML_STEP_NOT_EQUAL)
        return uint(compares(operation, a, b, floats));
    if (floats && operation == DML_STEP_NEGATIVE)
        return a ^ 0x80000000u;
    if (floats && operation == DML_STEP_ABSOLUTE)
        return a & 0x7fffffffu;
    return floats ? of_floats(operation, uintBitsToFloat(a), uintBitsToFloat(b)) : of_integers(operation, a, b);
}

uint registers[DML_FORMULA_WORDS];

uint computed(Row row, uint number)
{
    [[unroll]] for (uint i = 0; i < CONSTANTS; i++)
        registers[i] = row[i];
    registers[FIELD(ENDS, DML_FORMULA_TO)] = number;
    uint steps[DML_FORMULAS_MOST_STEPS] = uint[](STEP_0, STEP_1, STEP_2, STEP_3, STEP_4, STEP_5, STEP_6, STEP_7, STEP_8);
    [[unroll]] for (uint i = 0; i < DML_FORMULAS_MOST_STEPS; i++) { // Mesa does not do it of its own accord
        uint word = steps[i];
        if (word != 0)
            registers[FIELD(word, DML_FORMULA_TO)] =
                step_of(word, registers[FIELD(word, DML_FORMULA_A)], registers[FIELD(word, DML_FORMULA_B)],
                        registers[FIELD(word, DML_FORMULA_C)]);
    }
    return registers[FIELD(ENDS, DML_FORMULA_B)];
}
