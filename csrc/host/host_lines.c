#include "host/host_lines.h"

#include <string.h>

static const dml_lines_kernel *const kernels[] = {
#ifdef DML_LINES_X86
    &dml_lines_vbmi,   &dml_lines_vnni,  &dml_lines_avx2,   &dml_lines_halves,
    &dml_lines_linear, &dml_lines_words, &dml_lines_floats,
#endif
#ifdef DML_LINES_NEON
    &dml_lines_neon,
#endif
    &dml_lines_plain,
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static int fastest; /* of those that run */

const char *dml_lines_kernel_name(int index)
{
    for (int k = 0; k < KERNELS; k++)
        if (kernels[k]->is_supported() && index-- == 0)
            return kernels[k]->name;
    return NULL;
}

bool dml_lines_start_at(const char *name)
{
    int found = name ? KERNELS : 0;
    for (int k = 0; name && k < KERNELS; k++)
        if (kernels[k]->is_supported() && strcmp(kernels[k]->name, name) == 0)
            found = k;
    if (found < KERNELS)
        fastest = found;
    return found < KERNELS;
}

void dml_lines_choose(dml_lines_pass *pass, bool by_columns, bool plain)
{
    for (int k = plain ? KERNELS - 1 : fastest; k < KERNELS; k++) {
        dml_lines_chooser *choose = by_columns ? kernels[k]->choose_columns : kernels[k]->choose_rows;
        if (choose && kernels[k]->is_supported() && choose(pass))
            return;
    }
}

bool dml_lines_choose_pairs(dml_lines_pass *pass)
{
    for (int k = fastest; k < KERNELS; k++)
        if (kernels[k]->choose_pairs && kernels[k]->is_supported() && kernels[k]->choose_pairs(pass))
            return true;
    return false;
}

dml_alpha_kernel *dml_lines_alpha(void)
{
    for (int k = fastest; k < KERNELS; k++)
        if (kernels[k]->alpha && kernels[k]->is_supported())
            return kernels[k]->alpha;
    return NULL;
}
