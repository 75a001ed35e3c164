/* denial.h - the record of what was refused while the program ran.
 *
 * Each distinct refusal (layer, rule, what, line) is told to the launcher when it happens first, and again
 * when its count has doubled, so that a job which is killed has told; at most HC_DENIALS_MAX distinct ones
 * are kept. A forked child tells nothing. The launcher marks these entries as the guest's word. */
#ifndef HC_SHIM_GUARD_DENIAL_H
#define HC_SHIM_GUARD_DENIAL_H

#include "shim/harness/py.h"

#define HC_DENIALS_MAX 64

enum hc_denial_layer { HC_DENIAL_RUNTIME, HC_DENIAL_AUDIT };

/* Between HC_FRAME_RUN and the report, by the process that called this. What was noted before is forgotten.
 */
void hc_denials_begin(void);
void hc_denials_end(void);

/* `rule` static: "imports", "builtins", "attributes", "files", "audit", "modules"; `what`: the module, name,
 * path or event, cut to 200 bytes; `hint` static or NULL. File and line are those of the innermost frame of
 * the guest. Keeps a Python exception that is set. */
void hc_denial_note(enum hc_denial_layer layer, const char *rule, const char *what, const char *hint);

struct hc_refusal {
    enum hc_denial_layer layer;
    const char *rule, *what, *hint; /* as above */
    const char *message;            /* with {name} or {path}, for which `name` is put */
    const char *name;               /* NULL: `what` */
};

/* Note it and raise it. A PermissionError has an errno, so that whoever expects OSError can look at it. */
void hc_refuse(const struct hc_refusal *r, PyObject *exception);

/* The same, and -1; or 0 where the guard only learns: what follows from it must be able to follow. */
int hc_refuse_or_learn(const struct hc_refusal *r, PyObject *exception);

#endif
