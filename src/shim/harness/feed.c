#include "shim/harness/feed.h"

#include "base/fd.h"
#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"
#include "shim/harness/wire.h"
#include "wire/handover.h"

#include <errno.h>
#include <fcntl.h>

#define MOST_PROMPT 4096 /* bytes of a prompt that the launcher is told; a longer one is only printed */

int hc_feed_take(int fd, struct hc_error *err)
{
    hc_autofd from = fd;
    return from >= 0 && dup2(from, STDIN_FILENO) < 0 ? hc_fail(err, errno, "take standard input") : 0;
}

int hc_feed_end(struct hc_error *err)
{
    hc_autofd nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ? hc_fail(err, errno, "end standard input") : 0;
}

static bool interactive; /* the current run is */

/* Print the prompt, as input() does where standard input is no terminal, and tell the launcher. */
static int ask_client(PyObject *prompt)
{
    hc_autobuf json = {.max = HC_FRAME_CHUNK};
    struct hc_error gone;
    PyObject *out = PySys_GetObject("stdout"); /* borrowed */
    hc_autopy *text = prompt ? PyObject_Str(prompt) : PyUnicode_FromString("");
    Py_ssize_t len = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    if (!utf8)
        return -1;
    if (out && PyFile_WriteObject(text, out, Py_PRINT_RAW) < 0)
        return -1;
    hc_autopy *flushed = out ? PyObject_CallMethod(out, "flush", NULL) : Py_NewRef(Py_None);
    if (!flushed)
        return -1;
    (void)hc_buf_str(&json, "{\"prompt\": ");
    hc_json_quote(&json, utf8, (size_t)(len < MOST_PROMPT ? len : 0));
    (void)hc_buf_str(&json, "}");
    if (!json.failed) /* without a launcher no answer comes either */
        (void)hc_wire_send(HC_FD_CONTROL, HC_FRAME_INPUT, json.data, json.len, &gone);
    return 0;
}

/* input(prompt); `own` is the interpreter's function. */
static PyObject *watched_input(PyObject *own, PyObject *args)
{
    PyObject *prompt = NULL;
    if (!interactive)
        return PyObject_Call(own, args, NULL);
    if (!PyArg_ParseTuple(args, "|O:input", &prompt) || ask_client(prompt) < 0)
        return NULL;
    /* An interrupt that came while the launcher was told would not be noticed by the read that waits now. */
    return PyErr_CheckSignals() < 0 ? NULL : PyObject_CallNoArgs(own);
}

int hc_feed_watch_input(void)
{
    static PyMethodDef function = {"input", watched_input, METH_VARARGS,
                                   "Read a line from standard input, which the client answers."};
    hc_autopy *builtins = PyImport_ImportModule("builtins");
    hc_autopy *own = builtins ? PyObject_GetAttrString(builtins, "input") : NULL;
    hc_autopy *watched = own ? PyCFunction_NewEx(&function, own, NULL) : NULL;
    return watched ? PyObject_SetAttrString(builtins, "input", watched) : -1;
}

int hc_feed_begin(const struct hc_handover_job *job, bool run)
{
    interactive = job->interactive;
    static bool given; /* this job, or an earlier run of the session, has got input */
    given = given || job->args || job->env || job->has_stdin;
    if (!given)
        return 0;
    hc_autopy *args = job->args ? hc_py_from_json(job->args) : PyList_New(0);
    hc_autopy *env = job->env ? hc_py_from_json(job->env) : PyDict_New();
    hc_autopy *done =
        args && env ? hc_frozen_call("hooks", "feed", "(OOii)", args, env, (int)job->has_stdin, (int)run)
                    : NULL;
    return done ? 0 : -1;
}
