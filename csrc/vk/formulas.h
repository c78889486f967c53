/* Formulas on a device. */
#ifndef DML_VK_FORMULAS_H
#define DML_VK_FORMULAS_H

#include "base/status.h"
#include "plan/program.h"

typedef struct dml_context dml_context;

/* Whether the device has a kernel for all formulas of a program; DML_VALUE_ERROR where only the host computes them. */
dml_code dml_vk_check_words(const dml_context *context, const dml_program *program, dml_status *status);

/* The same, and whether the device makes what the host does. It has to make it of some values, special and random ones, by
 * rows of constants of each kind, when a formula is first used: Vulkan promises neither denormals nor which NaN comes out. */
dml_code dml_vk_check_formulas(dml_context *context, const dml_program *program, dml_status *status);

#endif
