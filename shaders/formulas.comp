// A plan with a formula. Floats are rounded to nearest even, and NaN, infinities and signs of zeros are kept.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_spirv_intrinsics : require
#define FORMULAS
#include "tables.glsl"

spirv_execution_mode(capabilities = [4467], 4462, 32); // RoundingModeRTE, of 32 bits
spirv_execution_mode(capabilities = [4466], 4461, 32); // SignedZeroInfNanPreserve, of 32 bits
