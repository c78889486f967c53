#include "py/out.h"

#include <stdlib.h>
#include <string.h>

#include "py/arrays.h"
#include "py/shapes.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Axes of more than one element with their strides made positive, the smallest first. Returns how many. */
static int sorted_axes(const dml_tensor *tensor, int64_t *extents, int64_t *strides)
{
    int count = 0;
    for (int k = 0; k < tensor->rank; k++) {
        if (tensor->shape[k] < 2)
            continue;
        int64_t stride = tensor->strides[k] < 0 ? -tensor->strides[k] : tensor->strides[k];
        int at = count++;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            extents[at] = extents[at - 1];
        }
        strides[at] = stride;
        extents[at] = tensor->shape[k];
    }
    return count;
}

/* Whether two elements share a byte, by a bitmap of the `span` bytes that the array reaches; a bit stands for as many bytes as
 * divide the item size and all strides. 1, 0, or -1 without memory. */
static int marks_collide(int64_t item, int axes, const int64_t *extents, const int64_t *strides, int64_t span)
{
    int64_t unit = item;
    for (int k = 0; k < axes; k++)
        unit = gcd(unit, strides[k]);
    unsigned char *marks = calloc((size_t)(span / unit / 8 + 1), 1);
    if (!marks)
        return -1;
    int64_t index[DML_MAX_RANK] = {0}, at = 0;
    bool collide = false, more = true;
    while (more && !collide) {
        for (int64_t u = at / unit; u < (at + item) / unit && !collide; u++) {
            collide = marks[u / 8] >> (u % 8) & 1;
            marks[u / 8] = (unsigned char)(marks[u / 8] | 1 << (u % 8));
        }
        more = false;
        for (int k = 0; k < axes && !more; k++) {
            more = ++index[k] < extents[k];
            at += more ? strides[k] : -(extents[k] - 1) * strides[k];
            if (!more)
                index[k] = 0;
        }
    }
    free(marks);
    return collide;
}

/* Whether two elements of one array share a byte. 1, 0, or -1 without memory. */
static int overlaps_itself(const dml_tensor *tensor)
{
    if (dml_tensor_is_empty(tensor))
        return 0;
    int64_t extents[DML_MAX_RANK], strides[DML_MAX_RANK];
    int axes = sorted_axes(tensor, extents, strides);
    int64_t span = tensor->item, bytes = tensor->item;
    bool nested = true; /* each stride steps over all that the smaller ones reach, as in nearly every array */
    for (int k = 0; k < axes; k++) {
        nested = nested && strides[k] >= span;
        span += (extents[k] - 1) * strides[k];
        bytes *= extents[k];
        if (bytes > span)
            return 1;
    }
    return nested ? 0 : marks_collide(tensor->item, axes, extents, strides, span);
}

static bool same_shape(const dml_tensor *found, const dml_tensor *wanted)
{
    return found->rank == wanted->rank &&
           memcmp(found->shape, wanted->shape, sizeof found->shape[0] * (size_t)found->rank) == 0;
}

int dml_out_check(PyObject *out, PyArray_Descr *dtype, const dml_tensor *shape)
{
    dml_tensor tensor;
    dml_array_describe(out, &tensor);
    if (!same_shape(&tensor, shape))
        return dml_wrong_shape("out must have the result's shape %R, not %R", shape, &tensor);
    if (!PyArray_EquivTypes(dml_array_dtype(out), dtype)) {
        PyErr_Format(PyExc_ValueError, "out must have input's dtype %S, not %S", (PyObject *)dtype,
                     (PyObject *)dml_array_dtype(out));
        return -1;
    }
    if (!PyArray_Check(out))
        return 0; /* device arrays are writable, and their elements share no memory */
    if (!PyArray_ISWRITEABLE((PyArrayObject *)out)) {
        PyErr_SetString(PyExc_ValueError, "out must be writable; it is read-only");
        return -1;
    }
    int overlaps = overlaps_itself(&tensor);
    if (overlaps > 0)
        PyErr_SetString(PyExc_ValueError, "out must not have elements that share memory with each other");
    else if (overlaps < 0)
        PyErr_NoMemory();
    return overlaps ? -1 : 0;
}

/* The first byte that an array uses, and one past the last; the same if it is empty. These are addresses where the host sees
 * the memory, since NumPy may have a view of it by DLPack; else offsets in the allocation. */
static void byte_range(PyObject *array, const dml_operand *operand, int64_t *begin, int64_t *end)
{
    dml_tensor tensor;
    dml_array_describe(array, &tensor);
    char *address = operand->allocation ? dml_allocation_data(operand->allocation) : operand->data;
    *begin = *end = (int64_t)(intptr_t)address + (int64_t)operand->offset;
    if (dml_tensor_is_empty(&tensor))
        return;
    for (int k = 0; k < tensor.rank; k++) {
        int64_t reach = (tensor.shape[k] - 1) * tensor.strides[k];
        *(reach < 0 ? begin : end) += reach;
    }
    *end += tensor.item;
}

bool dml_arrays_may_overlap(PyObject *a, PyObject *b)
{
    dml_operand a_operand = dml_array_operand(a), b_operand = dml_array_operand(b);
    bool addresses = !a_operand.allocation || !b_operand.allocation ||
                     (dml_allocation_data(a_operand.allocation) && dml_allocation_data(b_operand.allocation));
    if (a_operand.allocation != b_operand.allocation && !addresses)
        return false;
    int64_t a_begin, a_end, b_begin, b_end;
    byte_range(a, &a_operand, &a_begin, &a_end);
    byte_range(b, &b_operand, &b_begin, &b_end);
    return a_begin < b_end && b_begin < a_end;
}
