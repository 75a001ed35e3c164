/* denial.h - records the guard's refusals while the program runs.
 *
 * Each distinct refusal (layer, rule, what, line) is sent to the launcher when it happens first, and again
 * when its count has doubled, so that a job that is killed has reported its refusals. At most HC_DENIALS_MAX
 * distinct ones are kept. A forked child sends none. The launcher marks these entries as the guest's word. */
#ifndef HC_SHIM_GUARD_DENIAL_H
#define HC_SHIM_GUARD_DENIAL_H

#include "shim/harness/py.h"

#define HC_DENIALS_MAX 64 /* most distinct refusals that are kept */

/* The part of the guard that refused: a replaced function or import; the audit hook. */
enum hc_denial_layer { HC_DENIAL_RUNTIME, HC_DENIAL_AUDIT };

/* Refusals are recorded between these two calls, by the process that made the first one, which also drops
 * earlier entries. HC_FRAME_DENIAL is allowed between HC_FRAME_RUN and the report only. */
void hc_denials_begin(void);
void hc_denials_end(void);

/* Records one refusal. `rule`, static: "imports", "builtins", "attributes", "files", "audit", "modules";
 * `what`: the module, name, path or event, cut to 200 bytes; `hint`: static, or NULL. The line is that of the
 * guest's innermost frame. Keeps a Python exception that is set. */
void hc_denial_note(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint);

/* A refusal that becomes a Python exception. */
struct hc_refusal {
    enum hc_denial_layer layer;     /* layer that refused */
    const char *rule, *what, *hint; /* as for hc_denial_note */
    const char *message; /* template of the exception's message; {name} or {path} stands for `name` */
    const char *name;    /* name or path for the message; NULL: `what` is used */
};

/* Records the refusal, and raises `exception`, a class. A PermissionError gets an errno, as handlers of
 * OSError expect one. */
void hc_refuse(const struct hc_refusal *r, PyObject *exception);

/* Records the refusal, raises `exception` and returns -1. Where the guard only learns, it returns 0 without
 * an exception, so that the program goes on. */
int hc_refuse_or_learn(const struct hc_refusal *r, PyObject *exception);

#endif
