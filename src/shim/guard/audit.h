/* audit.h - checks the interpreter's audit events: actions with an effect outside the program, whichever code
 * causes them. */
#ifndef HC_SHIM_GUARD_AUDIT_H
#define HC_SHIM_GUARD_AUDIT_H

/* Adds the audit hook, which lets all events pass; called before the interpreter starts. -1: no memory. */
int hc_audit_prepare(void);

/* Has the hook check events from now on. */
void hc_audit_watch(void);

#endif
