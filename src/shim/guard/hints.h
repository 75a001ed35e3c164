/* hints.h - finds for a refusal one sentence that tells the writer of the program (often a model) what to do
 * instead. */
#ifndef HC_SHIM_GUARD_HINTS_H
#define HC_SHIM_GUARD_HINTS_H

/* The hint for a refused module, call, attribute, audit event, or file (`writing`: it was to be written). All
 * are static texts; NULL: there is no hint. */
const char *hc_hint_for_module(const char *dotted);     /* "socket": "Network is off in this policy; ..." */
const char *hc_hint_for_call(const char *name);         /* "eval", "input", "open" */
const char *hc_hint_for_attribute(const char *name);    /* "__subclasses__" */
const char *hc_hint_for_event(const char *audit_event); /* "subprocess.Popen" */
const char *hc_hint_for_file(const char *path, int writing);

#endif
