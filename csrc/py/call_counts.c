#include "py/call_counts.h"

#include "py/arguments.h"
#include "py/errors.h"

#define NAME_OF(name) #name,

int dml_call_counts_init(PyObject *module)
{
    static const char *const names[] = {DML_OPERATORS(NAME_OF) "resample", "program", "upload", "download", "copy"};
    for (int row = 0; row < (int)(sizeof names / sizeof names[0]); row++)
        (void)dml_row_named(names[row]);
    return PyModule_AddIntConstant(module, "_FOUND", DML_FOUND);
}

int dml_counted_as_from(PyObject *number, dml_counted_as *as)
{
    const long value = PyLong_AsLong(number), row = value < 0 ? value : value & (DML_FOUND - 1);
    *as = (dml_counted_as){.row = (int)row, .found = value >= DML_FOUND};
    if (row >= dml_call_row_count)
        PyErr_SetString(PyExc_ValueError, "how must be the number of a row");
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *dml_row_number(PyObject *Py_UNUSED(module), PyObject *name)
{
    PyObject *text = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    PyObject *number = text ? PyLong_FromLong(dml_row_named(PyBytes_AsString(text))) : NULL;
    Py_XDECREF(text);
    return number;
}

PyObject *dml_count_programs(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned int made, dropped;
    if (!PyArg_ParseTuple(args, "II:_count_programs", &made, &dropped))
        return NULL;
    dml_count(DML_PROGRAMS_MADE, made);
    dml_count(DML_PROGRAMS_DROPPED, dropped);
    Py_RETURN_NONE;
}

/* What a row has of each device that it was called on. */
static int append_row(PyObject *list, const dml_row *row)
{
    int failed = 0;
    for (int column = 0; column < DML_COUNTED_DEVICES && !failed; column++) {
        if (row->calls[column] == 0)
            continue;
        PyObject *device = column > 0 ? PyLong_FromLong(column - 1) : Py_NewRef(Py_None);
        failed = dml_append(list, Py_BuildValue("NNKK", dml_text(row->name), device, (unsigned long long)row->calls[column],
                                                (unsigned long long)row->bytes[column]));
    }
    return failed;
}

PyObject *dml_counters_list(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *calls = PyList_New(0), *others = PyList_New(0);
    int failed = calls && others ? 0 : -1;
    unsigned long long found = 0;
    for (int number = 0; !failed && number < dml_call_row_count; number++) {
        failed = append_row(calls, &dml_call_rows[number]);
        found += dml_call_rows[number].found;
    }
    failed = failed || dml_append(others, PyLong_FromUnsignedLongLong(found)) < 0;
    for (int i = 0; !failed && i < DML_COUNTERS; i++)
        failed = dml_append(others, PyLong_FromUnsignedLongLong(dml_counted((dml_counter)i)));
    if (!failed)
        return Py_BuildValue("NN", calls, others);
    Py_XDECREF(calls);
    Py_XDECREF(others);
    return NULL;
}
