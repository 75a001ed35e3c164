/* immortal.c - makes the zygote's objects immortal. Each reference to an object is counted in the object, so
 * a copy of the zygote writes to, and the kernel copies, the pages of all objects that a program only looks
 * at. An immortal object (PEP 683) is not counted, and never freed: the zygote frees none of its own anyway,
 * and its copies end with the cell.
 *
 * The objects are found from those that the garbage collector knows, by what these refer to. Of objects that
 * it does not know, such as numpy's arrays, only code objects are followed: what others alone refer to stays
 * counted. */
#include "shim/cpython/cpython.h"

#include "shim/immortal.h"

#if HC_HAS_IMMORTAL

#include <stdlib.h>

/* Objects that are immortal, and whose references have not been followed. */
static struct {
    PyObject **list;    /* borrowed; the list is owned */
    size_t count, room; /* used entries of `list`, and entries that there is memory for */
} open;

/* Without memory for a longer list, what the object refers to may stay counted. */
static void add(PyObject *object)
{
    if (!object || _Py_IsImmortal(object))
        return;
    Py_SET_REFCNT(object, _Py_IMMORTAL_REFCNT);
    if (!PyObject_IS_GC(object) && !PyCode_Check(object))
        return;
    if (open.count == open.room) {
        const size_t room = open.room ? 2 * open.room : 4096;
        PyObject **grown = realloc(open.list, room * sizeof *grown);
        if (!grown)
            return;
        open.list = grown;
        open.room = room;
    }
    open.list[open.count++] = object;
}

static int visit(PyObject *object, void *ctx)
{
    (void)ctx;
    add(object);
    return 0;
}

/* The collector does not know code objects, and they have no tp_traverse. */
static void follow_code(const PyCodeObject *code)
{
    add(code->co_consts);
    add(code->co_names);
    add(code->co_exceptiontable);
    add(code->co_localsplusnames);
    add(code->co_localspluskinds);
    add(code->co_filename);
    add(code->co_name);
    add(code->co_qualname);
    add(code->co_linetable);
}

static void follow_all(void)
{
    while (open.count) {
        PyObject *object = open.list[--open.count];
        if (PyCode_Check(object))
            follow_code((PyCodeObject *)object);
        else if (Py_TYPE(object)->tp_traverse)
            (void)Py_TYPE(object)->tp_traverse(object, visit, NULL);
    }
}

static int begin_with(PyObject *object, void *ctx)
{
    (void)ctx;
    add(object);
    return 1; /* go on */
}

void hc_immortal_make_all(void)
{
    PyUnstable_GC_VisitObjects(begin_with, NULL);
    follow_all();
    free(open.list);
    open.list = NULL;
    open.room = 0;
}

#else

void hc_immortal_make_all(void)
{
}

#endif
