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

#define NO_ANSWER 0 /* no packet has come, or more packets of the message follow */

static bool bound;           /* the program has `tools` */
static bool may_call;        /* calls are allowed now */
static struct hc_buf answer; /* the packets received so far of one answer; owned */

static PyObject *raise_os_error(const struct hc_error *err)
{
    return PyErr_Format(PyExc_OSError, "tools: %s", err->text);
}

/* Checks that the launcher can parse a call. One with a NUL, two members of one name or too many levels would
 * end the connection, and the report would be lost. New reference: the reason as a str, or None. */
static PyObject *check_call(const char *utf8, size_t len)
{
    struct hc_error err;
    hc_autoscan scan = {0};
    if (hc_scan(&scan, "call", utf8, len, 0, &err) == 0)
        return Py_NewRef(Py_None);
    return PyUnicode_DecodeUTF8(err.text, (Py_ssize_t)strlen(err.text), "replace");
}

/* send(text) -> True if the call was sent, False if calls are not allowed now, or a str: why the text is not
 * a valid call. Holds the interpreter's lock, so that no other message gets between the packets of this one;
 * it does not block for long, as the launcher always reads. */
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
    hc_autopy *why = check_call(utf8, (size_t)len);
    if (why != Py_None)
        return Py_XNewRef(why);
    if (hc_wire_send(HC_FD_CONTROL, HC_FRAME_TOOL_CALL, utf8, (size_t)len, &err) < 0)
        return raise_os_error(&err);
    return Py_NewRef(Py_True);
}

/* Waits until the channel is readable. -1 with an exception set: the handler of a signal has raised it. */
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

/* Reads one packet if there is one. 1: `answer` is whole; NO_ANSWER; -1: the launcher is gone, or sent
 * something else. */
static int receive_packet(struct hc_error *err)
{
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1];
    struct hc_frame_head head;
    const void *payload;
    ssize_t n = recv(HC_FD_CONTROL, packet, sizeof packet, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return NO_ANSWER;
    if (n <= 0)
        return hc_fail(err, n < 0 ? errno : 0, "the launcher does not answer any more");
    if (hc_frame_parse(packet, (size_t)n, &head, &payload, err) < 0)
        return -1;
    if (head.type != HC_FRAME_TOOL_RESULT)
        return hc_fail(err, 0, "frame %d instead of an answer", head.type);
    if (hc_buf_add(&answer, payload, head.len) < 0)
        return hc_fail(err, ENOMEM, "an answer");
    return head.flags & HC_FRAME_LAST ? 1 : NO_ANSWER;
}

/* receive(wait) -> the text of the next answer; None if it has not arrived and `wait` is false. */
static PyObject *receive_answer(PyObject *self, PyObject *wait)
{
    struct hc_error err;
    int whole;
    (void)self;
    do {
        if (wait == Py_True && await_packet() < 0)
            return NULL;
        whole = receive_packet(&err);
    } while (whole == NO_ANSWER && wait == Py_True);
    if (whole < 0)
        return raise_os_error(&err);
    if (whole == NO_ANSWER)
        return Py_NewRef(Py_None);
    PyObject *text = PyUnicode_DecodeUTF8(answer.data, (Py_ssize_t)answer.len, "replace");
    hc_buf_finish(&answer);
    return text;
}

int hc_tools_bind(const cJSON *list, PyObject *space)
{
    static PyMethodDef functions[] = {
        {"send", send_call, METH_O, NULL},
        {"receive", receive_answer, METH_O, NULL},
    };
    if (!list || !list->child)
        return 0;
    hc_autopy *described = hc_py_from_json(list);
    hc_autopy *send = PyCFunction_NewEx(&functions[0], NULL, NULL);
    hc_autopy *receive_function = PyCFunction_NewEx(&functions[1], NULL, NULL);
    hc_autopy *names =
        described && send && receive_function
            ? hc_frozen_call("tools", "bind", "(OOOi)", described, send, receive_function, HC_FD_CONTROL)
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
