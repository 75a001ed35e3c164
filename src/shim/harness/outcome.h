/* outcome.h - running the program, and what came of it. */
#ifndef HC_SHIM_HARNESS_OUTCOME_H
#define HC_SHIM_HARNESS_OUTCOME_H

#include "shim/harness/py.h"

/* A program as code (source.h). */
struct hc_program {
    const char *filename; /* that its tracebacks name, such as "<cell>"; lent */
    PyObject *text;       /* str, owned */
    PyObject *body;       /* code, owned */
    PyObject *last;       /* code of the last expression, owned; NULL if the program does not end in one */
    bool awaits;          /* one of them has an await at its top level and gives a coroutine */
    bool finish_tasks;    /* with `awaits`: what it leaves running is awaited. The caller's to set */
};

struct hc_outcome {
    PyObject *value;      /* of the last expression, owned; NULL if there is none or it is None */
    PyObject *error_type; /* str, owned, like the two below; NULL unless an exception ended the program */
    PyObject *error_message;
    PyObject *error_trace;
    int status; /* that the process ends with */
};

/* Note what is needed later and may be changed by the guest: sys.excepthook. */
void hc_outcome_prepare(void);

/* Run in `space` (the dict of __main__, borrowed). An exception is shown on stderr. */
void hc_program_run(const struct hc_program *program, PyObject *space, struct hc_outcome *out);

/* str(object) whatever the object does: a str that says so if it fails. New reference; NULL only without
 * memory. No exception is left set. */
PyObject *hc_safe_str(PyObject *object);

/* The name of an object's type, read past whatever its metaclass does. New reference; NULL without memory. */
PyObject *hc_type_name(PyObject *object);

#endif
