#include "shim/harness/tools.h"

#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"
#include "shim/harness/wire.h"

#include "base/buf.h"
#include "json/scan.h"
#include "wire/handover.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define NOTHING 0 /* no packet, or one that does not end a message */

static bool bound, may_call;
static struct hc_buf answer; /* what has come of the message that is on its way */

static PyObject *failed(const struct hc_error *err)
{
    return PyErr_Format(PyExc_OSError, "tools: %s", err->text);
}

/* A call that the launcher cannot read would break the whole conversation, and the report would be lost: NUL,
 * two members of one name, more levels than there may be. New reference: why, or None. */
static PyObject *why_unreadable(const char *utf8, size_t len)
{
    struct hc_error err;
    hc_autoscan scan = {0};
    if (hc_scan(&scan, "call", utf8, len, 0, &err) == 0)
        return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(err.text, (Py_ssize_t)strlen(err.text), "replace");
}

/* send(text) -> whether it is the time for calls, or a text: why it is none. One call, whole. The lock of the
 * interpreter is kept, so that no other message gets between its packets; the launcher always reads. */
static PyObject *send_call(PyObject *self, PyObject *text)
{
    Py_ssize_t len;
    struct hc_error err;
    (void)self;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &len);
    if (!utf8)
        return NULL;
    if (!may_call)
        return Py_NewRef(Py_False);
    hc_autopy *why = why_unreadable(utf8, (size_t)len);
    if (why != Py_None)
        return Py_XNewRef(why);
    if (hc_wire_send(HC_FD_CONTROL, HC_FRAME_TOOL_CALL, utf8, (size_t)len, &err) < 0)
        return failed(&err);
    return Py_NewRef(Py_True);
}

/* Wait until there is something to read; a signal's handler may end the waiting. 0, or -1 with an exception.
 */
static int await_packet(void)
{
    struct pollfd fd = {.fd = HC_FD_CONTROL, .events = POLLIN};
    for (;;) {
        int rc, why;
        Py_BEGIN_ALLOW_THREADS;
        rc = poll(&fd, 1, -1);
        why = errno;
        Py_END_ALLOW_THREADS;
        if (rc > 0)
            return 0;
        if (rc < 0 && why != EINTR) {
            errno = why;
            (void)PyErr_SetFromErrno(PyExc_OSError);
            return -1;
        }
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
}

/* One packet, if there is one. 1: `answer` is whole; NOTHING; -1. */
static int take_packet(struct hc_error *err)
{
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1];
    struct hc_frame_head head;
    const void *payload;
    ssize_t n = recv(HC_FD_CONTROL, packet, sizeof packet, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return NOTHING;
    if (n <= 0)
        return hc_fail(err, n < 0 ? errno : 0, "the launcher does not answer any more");
    if (hc_frame_parse(packet, (size_t)n, &head, &payload, err) < 0)
        return -1;
    if (head.type != HC_FRAME_TOOL_RESULT)
        return hc_fail(err, 0, "frame %d instead of an answer", head.type);
    if (hc_buf_add(&answer, payload, head.len) < 0)
        return hc_fail(err, ENOMEM, "an answer");
    return head.flags & HC_FRAME_LAST ? 1 : NOTHING;
}

/* receive(wait) -> the next answer's text, or None if there is none yet. */
static PyObject *receive(PyObject *self, PyObject *wait)
{
    struct hc_error err;
    int whole;
    (void)self;
    do {
        if (wait == Py_True && await_packet() < 0)
            return NULL;
        whole = take_packet(&err);
    } while (whole == NOTHING && wait == Py_True);
    if (whole < 0)
        return failed(&err);
    if (whole == NOTHING)
        return Py_NewRef(Py_None);
    PyObject *text = PyUnicode_DecodeUTF8(answer.data, (Py_ssize_t)answer.len, "replace");
    hc_buf_finish(&answer);
    return text;
}

int hc_tools_bind(const cJSON *list, PyObject *space)
{
    static PyMethodDef functions[] = {
        {"send", send_call, METH_O, NULL},
        {"receive", receive, METH_O, NULL},
    };
    if (!list || !list->child)
        return 0;
    hc_autopy *described = hc_py_from_json(list);
    hc_autopy *send = PyCFunction_NewEx(&functions[0], NULL, NULL);
    hc_autopy *hear = PyCFunction_NewEx(&functions[1], NULL, NULL);
    hc_autopy *names = described && send && hear
                           ? hc_frozen_call("tools", "bind", "(OOOi)", described, send, hear, HC_FD_CONTROL)
                           : NULL;
    bound = names && PyDict_Update(space, names) == 0;
    return bound ? 0 : -1;
}

int hc_tools_begin_run(void)
{
    hc_buf_finish(&answer);
    hc_autopy *done = bound ? hc_frozen_call("tools", "begin_run", "()") : Py_NewRef(Py_None);
    return done ? 0 : -1;
}

void hc_tools_open(bool open)
{
    may_call = open;
}
