#include "shim/warmup.h"

#include "shim/guard/guard.h"
#include "shim/harness/ending.h"
#include "shim/harness/results.h"
#include "shim/source.h"

/* A program that does what nearly every program does, and that no policy forbids. */
static const char program_text[] = "numbers = [1, 2.5, 3]\n"
                                   "total = 0\n"
                                   "for number in numbers:\n"
                                   "    total += number\n"
                                   "text = 'total'\n"
                                   "{text: total, 'numbers': numbers, 'rest': None}\n";

static void run_once(PyObject *space, const struct hc_handover_job *policy)
{
    struct hc_program program;
    struct hc_outcome outcome = {0};
    struct hc_findings found = {0};
    struct hc_report report;
    hc_report_init(&report, 1 << 16);
    if (hc_program_compile(&program, program_text, &found) == 0) {
        hc_program_run(&program, space, &outcome);
        hc_results_gather(policy, space, &outcome, &report);
    }
    PyErr_Clear();
    Py_CLEAR(outcome.value);
    Py_CLEAR(outcome.error_type);
    Py_CLEAR(outcome.error_message);
    Py_CLEAR(outcome.error_trace);
    Py_CLEAR(program.text);
    Py_CLEAR(program.body);
    Py_CLEAR(program.last);
    hc_findings_finish(&found);
    hc_report_finish(&report);
}

void hc_warmup(const struct hc_handover_job *policy)
{
    /* copying them writes their reference counts, as the guard will do in each copy */
    hc_autopy *builtins = PyDict_Copy(PyEval_GetBuiltins());
    hc_autopy *space = builtins ? Py_BuildValue("{s:O}", "__builtins__", builtins) : NULL;
    if (space)
        run_once(space, policy);
    PyErr_Clear();
    hc_flush_streams();
}
