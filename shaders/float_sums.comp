// A plan with a sum, by floats that are rounded to nearest even.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_spirv_intrinsics : require
#define FLOATS
#include "sums.glsl"

spirv_execution_mode(capabilities = [4467], 4462, 32); // RoundingModeRTE, of 32 bits
