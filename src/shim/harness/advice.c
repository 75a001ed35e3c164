#include "shim/harness/advice.h"

#include "shim/harness/frozen.h"
#include "shim/harness/words.h"

#include "base/units.h"
#include "policy/rules.h"

#include <sys/resource.h>

static const struct hc_handover_job *given; /* the job that advice is for; borrowed; NULL: none yet */

void hc_advice_prepare(const struct hc_handover_job *job)
{
    given = job;
}

/* Adds one limit: its value as text, or NULL where only its name is known here, and the words that raise it.
 */
static int add_row(PyObject *all, const char *name, const char *flag, const char *value)
{
    const struct hc_interface *as = hc_words_interface();
    hc_autopy *row = as->before_limit
                         ? Py_BuildValue("zN", value,
                                         PyUnicode_FromFormat("%s%s%s", as->before_limit,
                                                              as->flags ? flag : name, as->after_limit))
                         : Py_BuildValue("zO", value, Py_None);
    return row ? PyDict_SetItemString(all, name, row) : -1;
}

static int add_limit(PyObject *all, const char *name, const char *flag, int64_t bytes)
{
    char value[32];
    (void)hc_format_size(bytes, value, sizeof value);
    return add_row(all, name, flag, value);
}

/* New reference: a dict, name of a limit -> (value or None, the words that raise it or None). */
static PyObject *limits(void)
{
    struct rlimit file;
    hc_autopy *all = PyDict_New();
    if (!all || add_limit(all, "memory", "memory", given->memory) < 0 ||
        add_limit(all, "tmp", "tmp-size", given->tmp) < 0 || add_row(all, "tmp_files", "tmp-files", NULL) < 0)
        return NULL;
    if (given->output && (add_limit(all, "output", "output-size", given->output) < 0 ||
                          add_row(all, "output_files", "output-files", NULL) < 0))
        return NULL;
    if (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY &&
        add_limit(all, "file", "file-size", (int64_t)file.rlim_cur) < 0)
        return NULL;
    return hc_py_take(&all);
}

/* New reference: a list of (name, path). */
static PyObject *inputs(void)
{
    hc_autopy *all = PyList_New(0);
    for (size_t i = 0; all && i < given->input_count; i++) {
        hc_autopy *row = Py_BuildValue("ss", given->inputs[i].name, given->inputs[i].path);
        if (!row || PyList_Append(all, row) < 0)
            return NULL;
    }
    return hc_py_take(&all);
}

/* Does the policy let a program import modules that are not the tree's? Under guarded writes no code is made
 * at run time. */
static bool imports_own_modules(void)
{
    return strcmp(hc_rules_text(given->rules, "code", "writes", ""), "guarded") != 0;
}

PyObject *hc_advice_for(PyObject *error)
{
    if (!given)
        return NULL;
    hc_autopy *files = inputs();
    hc_autopy *all = files ? limits() : NULL;
    PyObject *said =
        all ? hc_frozen_call("advice", "advise", "(O{s:O,s:O,s:s,s:s,s:z,s:z,s:O,s:O,s:O})", error, "inputs",
                             files, "limits", all, "input", hc_words_interface()->input, "dir",
                             hc_words_interface()->dir, "stdin", hc_words_interface()->input_stream, "files",
                             hc_words_interface()->files, "network", given->network ? Py_True : Py_False,
                             "processes", given->processes ? Py_True : Py_False, "own_modules",
                             imports_own_modules() ? Py_True : Py_False)
            : NULL;
    PyErr_Clear();
    if (said && !PyUnicode_CheckExact(said))
        Py_CLEAR(said);
    return said;
}
