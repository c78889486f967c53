// A plan with a table.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tables.glsl"
