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

/* Marks the bytes of all elements, the first of which is at byte `at`, in a bitmap: a bit stands for `unit` bytes, which divide
 * the item and all strides. True if a bit is set already. */
static bool marks_collide(unsigned char *marks, int64_t unit, int64_t at, const dml_tensor *tensor)
{
    int64_t index[DML_MAX_RANK] = {0};
    bool collide = false, more = true;
    while (more && !collide) {
        for (int64_t u = at / unit; u < (at + tensor->item) / unit && !collide; u++) {
            collide = marks[u / 8] >> (u % 8) & 1;
            marks[u / 8] = (unsigned char)(marks[u / 8] | 1 << (u % 8));
        }
        more = false;
        for (int k = tensor->rank - 1; k >= 0 && !more; k--) {
            more = ++index[k] < tensor->shape[k];
            at += more ? tensor->strides[k] : -(tensor->shape[k] - 1) * tensor->strides[k];
            if (!more)
                index[k] = 0;
        }
    }
    return collide;
}

/* Whether two elements of one or two tensors share a byte, by a bitmap of the `span` bytes that all reach; `at` is where the
 * first element of each is in it. 1, 0, or -1 without memory. */
static int elements_collide(const dml_tensor *const *tensors, const int64_t *at, int count, int64_t span)
{
    int64_t unit = tensors[0]->item;
    for (int i = 0; i < count; i++) {
        unit = gcd(unit, at[i]);
        for (int k = 0; k < tensors[i]->rank; k++)
            unit = gcd(unit, tensors[i]->shape[k] > 1 ? dml_magnitude(tensors[i]->strides[k]) : 0);
    }
    unsigned char *marks = calloc((size_t)(span / unit / 8 + 1), 1);
    bool collide = false;
    for (int i = 0; i < count && marks && !collide; i++)
        collide = marks_collide(marks, unit, at[i], tensors[i]);
    free(marks);
    return marks ? collide : -1;
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
    int64_t first = 0;
    for (int k = 0; k < tensor->rank; k++)
        first += tensor->strides[k] < 0 ? (1 - tensor->shape[k]) * tensor->strides[k] : 0;
    return nested ? 0 : elements_collide(&tensor, &first, 1, span);
}

static bool same_shape(const dml_tensor *found, const dml_tensor *wanted)
{
    return found->rank == wanted->rank &&
           memcmp(found->shape, wanted->shape, sizeof found->shape[0] * (size_t)found->rank) == 0;
}

int dml_out_check(PyObject *out, const char *name, PyArray_Descr *dtype, const char *like, const dml_tensor *shape)
{
    dml_tensor tensor;
    dml_array_describe(out, &tensor);
    if (!same_shape(&tensor, shape))
        return dml_wrong_shape("%s must have the result's shape %R, not %R", name, shape, &tensor);
    if (!PyArray_EquivTypes(dml_array_dtype(out), dtype)) {
        PyErr_Format(PyExc_ValueError, "%s must have %s's dtype %S, not %S", name, like, (PyObject *)dtype,
                     (PyObject *)dml_array_dtype(out));
        return -1;
    }
    if (!PyArray_Check(out))
        return 0; /* device arrays are writable, and their elements share no memory */
    if (!PyArray_ISWRITEABLE((PyArrayObject *)out)) {
        PyErr_Format(PyExc_ValueError, "%s must be writable; it is read-only", name);
        return -1;
    }
    int overlaps = overlaps_itself(&tensor);
    if (overlaps > 0)
        PyErr_Format(PyExc_ValueError, "%s must not have elements that share memory with each other", name);
    else if (overlaps < 0)
        PyErr_NoMemory();
    return overlaps ? -1 : 0;
}

/* Where an array is: addresses where the host sees its memory, since NumPy may have a view of it by DLPack; else
 * offsets in the allocation. */
typedef struct byte_range {
    const dml_allocation *allocation;
    bool addresses;
    int64_t first; /* byte of the first element */
    int64_t begin; /* the first byte that is used, */
    int64_t end;   /* and one past the last; the same if the array is empty */
    dml_tensor tensor;
} byte_range;

static void range_of(PyObject *array, byte_range *range)
{
    const dml_operand operand = dml_array_operand(array);
    char *address = operand.allocation ? dml_allocation_data(operand.allocation) : operand.data;
    dml_array_describe(array, &range->tensor);
    range->allocation = operand.allocation;
    range->addresses = !operand.allocation || address;
    range->first = range->begin = range->end = (int64_t)(intptr_t)address + (int64_t)operand.offset;
    if (dml_tensor_is_empty(&range->tensor))
        return;
    for (int k = 0; k < range->tensor.rank; k++) {
        int64_t reach = (range->tensor.shape[k] - 1) * range->tensor.strides[k];
        *(reach < 0 ? &range->begin : &range->end) += reach;
    }
    range->end += range->tensor.item;
}

static bool may_overlap(const byte_range *a, const byte_range *b)
{
    bool comparable = a->allocation == b->allocation || (a->addresses && b->addresses);
    bool empty = a->begin == a->end || b->begin == b->end;
    return comparable && !empty && a->begin < b->end && b->begin < a->end;
}

bool dml_arrays_may_overlap(PyObject *a, PyObject *b)
{
    byte_range a_range, b_range;
    range_of(a, &a_range);
    range_of(b, &b_range);
    return may_overlap(&a_range, &b_range);
}

int dml_arrays_collide(PyObject *a, PyObject *b)
{
    byte_range a_range, b_range;
    range_of(a, &a_range);
    range_of(b, &b_range);
    if (!may_overlap(&a_range, &b_range))
        return 0;
    int64_t begin = a_range.begin < b_range.begin ? a_range.begin : b_range.begin;
    int64_t end = a_range.end > b_range.end ? a_range.end : b_range.end;
    const dml_tensor *const tensors[] = {&a_range.tensor, &b_range.tensor};
    const int64_t at[] = {a_range.first - begin, b_range.first - begin};
    int collide = elements_collide(tensors, at, 2, end - begin);
    if (collide < 0)
        PyErr_NoMemory();
    return collide;
}
