#include "shim/guard/denial.h"

#include "shim/guard/frames.h"
#include "shim/guard/rules.h"
#include "shim/harness/advice.h"
#include "shim/harness/text.h"
#include "shim/harness/wire.h"

#include "wire/handover.h"

#include <errno.h>

#define WHAT_MAX 200 /* most bytes of `what`, without its NUL */

/* One distinct refusal. */
struct entry {
    enum hc_denial_layer layer; /* layer that refused */
    const char *rule, *hint;    /* static texts */
    char what[WHAT_MAX + 1];
    int line;        /* line of the program, from 1; 0: unknown */
    long long count; /* number of refusals so far */
};

static struct entry entries[HC_DENIALS_MAX];
static size_t entry_count; /* used entries of `entries` */
static pid_t recorder;     /* the process whose refusals are recorded; 0: none are */

void hc_denials_begin(void)
{
    entry_count = 0;
    recorder = getpid();
}

void hc_denials_end(void)
{
    recorder = 0;
}

/* The entry of this refusal, which is made if it is new. NULL: there is no room for a new one. */
static struct entry *entry_of(enum hc_denial_layer layer, const char *rule, const char *what, int line)
{
    for (size_t i = 0; i < entry_count; i++) {
        struct entry *e = &entries[i];
        if (e->layer == layer && e->line == line && strcmp(e->rule, rule) == 0 &&
            strncmp(e->what, what, WHAT_MAX) == 0)
            return e;
    }
    if (entry_count == HC_DENIALS_MAX)
        return NULL;
    struct entry *e = &entries[entry_count++];
    *e = (struct entry){.layer = layer, .rule = rule, .line = line};
    (void)snprintf(e->what, sizeof e->what, "%s", what);
    return e;
}

static void send_entry(const struct entry *e)
{
    hc_autobuf b = {.max = 4096};
    (void)hc_buf_fmt(&b, "{\"layer\":\"%s\",\"rule\":\"%s\",\"what\":",
                     e->layer == HC_DENIAL_AUDIT ? "audit" : "runtime", e->rule);
    hc_json_cstr(&b, e->what, 2048);
    (void)hc_buf_str(&b, ",\"line\":");
    (void)(e->line ? hc_buf_fmt(&b, "%d", e->line) : hc_buf_str(&b, "null"));
    (void)hc_buf_fmt(&b, ",\"count\":%lld,\"hint\":", e->count);
    if (e->hint)
        hc_json_cstr(&b, e->hint, 1024);
    else
        (void)hc_buf_str(&b, "null");
    (void)hc_buf_str(&b, "}");
    struct hc_error err; /* ignored: the program may have closed the channel */
    if (!b.failed)
        (void)hc_wire_send(HC_FD_CONTROL, HC_FRAME_DENIAL, b.data, b.len, &err);
}

/* Sends an entry for which the table has no room, once: it tells the launcher that there were more
 * refusals. */
static void send_one_more(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint)
{
    static bool told;
    struct entry e = {.layer = layer, .rule = rule, .hint = hint, .line = hc_guest_line(), .count = 1};
    if (told)
        return;
    told = true;
    (void)snprintf(e.what, sizeof e.what, "%s", what);
    send_entry(&e);
}

void hc_denial_note(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint)
{
    if (recorder == 0 || recorder != getpid())
        return;
    if (hc_asked_through("importlib._bootstrap"))
        return; /* importing modules try which others exist; the program did not ask for those */
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    struct entry *e = entry_of(layer, rule, what, hc_guard.learn ? 0 : hc_guest_line());
    if (e) {
        e->hint = hint;
        e->count++;
        if ((e->count & (e->count - 1)) == 0)
            send_entry(e);
    } else
        send_one_more(layer, rule, what, hint);
    PyErr_Restore(type, error, trace);
}

/* Adds the hint as a note, which tracebacks print behind the exception, also where the program catches it. */
static int add_hint(PyObject *error, const char *hint)
{
    hc_autopy *note = PyUnicode_FromFormat(HC_HINT_NOTE "%s", hint);
    hc_autopy *done = note ? PyObject_CallMethod(error, "add_note", "O", note) : NULL;
    return done ? 0 : -1;
}

static void raise_refusal(PyObject *class, PyObject *message, const char *hint)
{
    hc_autopy *error = PyObject_CallOneArg(class, message);
    if (!error || (hint && add_hint(error, hint) < 0))
        return;
    hc_autopy *number =
        PyObject_IsSubclass(class, PyExc_PermissionError) == 1 ? PyLong_FromLong(EACCES) : NULL;
    if (!number || PyObject_SetAttrString(error, "errno", number) == 0)
        PyErr_SetObject(class, error);
}

void hc_refuse(const struct hc_refusal *r, PyObject *exception)
{
    hc_denial_note(r->layer, r->rule, r->what, r->hint);
    char text[4096];
    hc_guard_message(text, sizeof text, r->message, r->name ? r->name : r->what);
    hc_autopy *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!message)
        return;
    raise_refusal(exception, message, r->hint);
}

int hc_refuse_or_learn(const struct hc_refusal *r, PyObject *exception)
{
    if (hc_guard.learn) {
        hc_denial_note(r->layer, r->rule, r->what, r->hint);
        return 0;
    }
    hc_refuse(r, exception);
    return -1;
}
