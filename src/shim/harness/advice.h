/* advice.h - one sentence for the writer of a program (often a model) that an exception has ended: which
 * columns, files, inputs or libraries there are instead, or which limit was reached.
 *
 * The guest has run, and what an exception holds is its word: frozen Python (guest_advice.py) looks at it as
 * long as the job's time lasts, all it says is bounded, and no exception in it is passed on. */
#ifndef HC_SHIM_HARNESS_ADVICE_H
#define HC_SHIM_HARNESS_ADVICE_H

#include "shim/harness/py.h"
#include "wire/handover.h"

#define HC_HINT_NOTE "hint: " /* a refusal's exception has a note that begins so */

/* Remembers the job, borrowed for the life of the process; called before the guest runs. */
void hc_advice_prepare(const struct hc_handover_job *job);

/* The advice about an exception with its traceback. New reference to a str; NULL: there is none. No exception
 * is left set. */
PyObject *hc_advice_for(PyObject *error);

#endif
