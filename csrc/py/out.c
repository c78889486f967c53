#include "py/out.h"

#include <string.h>

#include "plan/overlap.h"
#include "py/arrays.h"
#include "py/device_array.h"

/* Where an array is. */
typedef struct place {
    const void
        *space;    /* NULL for addresses, since NumPy may have a view of what the host sees by DLPack; else the allocation */
    int64_t first; /* byte of the first element, in the allocation or an address */
    dml_tensor tensor;
} place;

static void place_of(PyObject *array, place *place)
{
    const dml_operand operand = dml_array_operand(array);
    char *address = operand.allocation ? operand.allocation->data : operand.data;
    place->space = operand.allocation && !address ? operand.allocation : NULL;
    place->first = (int64_t)(intptr_t)address + (int64_t)operand.offset;
    dml_array_describe(array, &place->tensor);
}

bool dml_arrays_may_overlap(PyObject *a, PyObject *b)
{
    place one, other;
    dml_span span, other_span;
    place_of(a, &one);
    place_of(b, &other);
    if (one.space != other.space || dml_tensor_is_empty(&one.tensor) || dml_tensor_is_empty(&other.tensor))
        return false;
    bool known = dml_tensor_span(&one.tensor, &span) && dml_tensor_span(&other.tensor, &other_span);
    return !known ||
           (one.first + span.begin < other.first + other_span.end && other.first + other_span.begin < one.first + span.end);
}

/* Where all arrays that are not empty are. Returns how many. */
static int64_t footprints_of(PyObject *const *arrays, int64_t count, dml_footprint *footprints, dml_reach *axes)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        place place;
        place_of(arrays[i], &place);
        if (dml_tensor_is_empty(&place.tensor))
            continue;
        dml_footprint_init(&footprints[found], place.space, place.first, &place.tensor, axes);
        footprints[found++].index = i;
        axes += place.tensor.rank;
    }
    return found;
}

static int rank_of(PyObject *array)
{
    return PyArray_Check(array) ? PyArray_NDIM((PyArrayObject *)array) : ((dml_device_array *)array)->tensor.rank;
}

int dml_arrays_overlap(PyObject *const *arrays, int64_t count, int64_t pair[2])
{
    int64_t ranks = 0;
    for (int64_t i = 0; i < count; i++)
        ranks += rank_of(arrays[i]);
    dml_footprint one, *footprints = count > 1 ? PyMem_Malloc((size_t)count * sizeof *footprints) : &one;
    dml_reach few[DML_MAX_RANK], *axes = ranks > DML_MAX_RANK ? PyMem_Malloc((size_t)ranks * sizeof *axes) : few;
    int found = -1;
    if (footprints && axes)
        found = dml_find_overlap(footprints, footprints_of(arrays, count, footprints, axes), pair);
    else
        PyErr_NoMemory();
    if (footprints != &one)
        PyMem_Free(footprints);
    if (axes != few)
        PyMem_Free(axes);
    return found;
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
    int64_t pair[2];
    int overlaps = dml_arrays_overlap(&out, 1, pair);
    if (overlaps > 0)
        PyErr_Format(PyExc_ValueError, "%s must not have elements that share memory with each other", name);
    return overlaps ? -1 : 0;
}
