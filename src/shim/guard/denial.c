#include "shim/guard/denial.h"

#include "shim/guard/frames.h"
#include "shim/guard/rules.h"
#include "shim/harness/text.h"
#include "shim/harness/wire.h"

#include "wire/handover.h"

#include <errno.h>

#define WHAT_MAX 200

struct entry {
    enum hc_denial_layer layer;
    const char *rule, *hint; /* static */
    char what[WHAT_MAX + 1];
    int line;
    long long count;
};

static struct entry entries[HC_DENIALS_MAX];
static size_t entry_count;
static pid_t teller; /* 0: nobody listens yet, or no longer */

void hc_denials_begin(void)
{
    entry_count = 0;
    teller = getpid();
}

void hc_denials_end(void)
{
    teller = 0;
}

/* NULL: it is new and there is no room. */
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

static void tell(const struct entry *e)
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
    struct hc_error err; /* the program may have closed the channel: then there is nobody to tell */
    if (!b.failed)
        (void)hc_wire_send(HC_FD_CONTROL, HC_FRAME_DENIAL, b.data, b.len, &err);
}

/* One beyond those that there is room for, once: the launcher then knows that there were more. */
static void tell_more(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint)
{
    static bool told;
    struct entry e = {.layer = layer, .rule = rule, .hint = hint, .line = hc_guest_line(), .count = 1};
    if (told)
        return;
    told = true;
    (void)snprintf(e.what, sizeof e.what, "%s", what);
    tell(&e);
}

void hc_denial_note(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint)
{
    if (teller == 0 || teller != getpid())
        return;
    if (hc_asked_through("importlib._bootstrap"))
        return; /* a library that loads looks for what there is, and is ready not to find it: nothing that the
                   program did */
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    struct entry *e = entry_of(layer, rule, what, hc_guard.learn ? 0 : hc_guest_line());
    if (e) {
        e->hint = hint;
        e->count++;
        if ((e->count & (e->count - 1)) == 0)
            tell(e);
    } else
        tell_more(layer, rule, what, hint);
    PyErr_Restore(type, error, trace);
}

static void raise_permission(PyObject *class, PyObject *message)
{
    hc_autopy *error = PyObject_CallOneArg(class, message);
    hc_autopy *number = error ? PyLong_FromLong(EACCES) : NULL;
    if (number && PyObject_SetAttrString(error, "errno", number) == 0)
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
    if (PyObject_IsSubclass(exception, PyExc_PermissionError) == 1)
        raise_permission(exception, message);
    else
        PyErr_SetObject(exception, message);
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
