// A plan with a sum, by integers alone, on a device whose workgroups are subgroups that shuffle.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#define SHUFFLES
#include "sums.glsl"
