/* What instructions the processor has. */
#ifndef DML_BASE_PROCESSOR_H
#define DML_BASE_PROCESSOR_H

#include <stdbool.h>

/* Of x86: each has those before it, and its registers are saved by the system. Casts to float16 come with AVX2. */
typedef enum dml_instructions { DML_SSSE3, DML_AVX2, DML_AVX512, DML_AVX512_VNNI, DML_AVX512_VBMI } dml_instructions;

bool dml_processor_has(dml_instructions instructions);

#endif
