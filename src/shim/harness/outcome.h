/* outcome.h - runs the program, and keeps how it ended: a value, an exception, an exit status. */
#ifndef HC_SHIM_HARNESS_OUTCOME_H
#define HC_SHIM_HARNESS_OUTCOME_H

#include "policy/rules.h"
#include "shim/harness/py.h"

/* A compiled program (source.h). */
struct hc_program {
    const char *filename; /* file name in its tracebacks, such as "<cell>"; borrowed */
    PyObject *text;       /* text of the program, a str; owned */
    PyObject *body;       /* code of the program without its last expression; owned */
    PyObject *last;       /* code of the last expression, owned; NULL if the program does not end in one */
    bool awaits;          /* `body` or `last` has an await at its top level, and evaluates to a coroutine */
    bool whole_traceback; /* rule code.traceback: frames of libraries are shown, too */
    bool exit_fails;      /* rule code.exit: SystemExit is an exception like others */
    bool finish_tasks;    /* rule code.finish_tasks: tasks that the program leaves running are awaited */
};

/* How a program ended. All references are owned. */
struct hc_outcome {
    PyObject *value;      /* value of the last expression; NULL if the program has none, or it is None */
    PyObject *error_type; /* str: the exception's class; the error_* are NULL unless one ended the program */
    PyObject *error_classes;      /* list of str: see hc_class_names; NULL for a built-in class */
    PyObject *error_message;      /* str: str(exception) */
    PyObject *error_trace;        /* str: the whole traceback */
    PyObject *error_hint;         /* str: what to do about the exception; NULL: there is no hint */
    int line, column, end_column; /* place of the exception in the program, from 1; 0: not known */
    int status;                   /* exit status of the process */
};

/* Remembers sys.excepthook, which the guest may replace; called before the guest runs. */
void hc_outcome_prepare(void);

/* Sets the three members of `program` that are rules, from the policy's rules. */
void hc_program_take_rules(struct hc_program *program, const cJSON *rules);

/* Runs the program in `space` (the dict of __main__, borrowed) and fills `out`. An exception that ends it is
 * shown on stderr. */
void hc_program_run(const struct hc_program *program, PyObject *space, struct hc_outcome *out);

/* str(object), or "<unprintable TYPE object>" if that raises. New reference; NULL only without memory. No
 * exception is left set. */
PyObject *hc_safe_str(PyObject *object);

/* The qualified name of an object's type, read without its metaclass. New reference; NULL without memory. */
PyObject *hc_type_name(PyObject *object);

/* The full names of an exception's class and of its bases up to the first built-in one, such as
 * ["json.decoder.JSONDecodeError", "ValueError"], read without a metaclass. New reference; NULL, without an
 * exception set, if its class is built in, or without memory. */
PyObject *hc_class_names(PyObject *error);

#endif
