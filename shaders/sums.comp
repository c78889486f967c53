// A plan with a sum, by integers alone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "sums.glsl"
