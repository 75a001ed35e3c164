/* audit.h - the interpreter's audit events: what has an effect outside the program is judged here, whoever
 * causes it and by whatever way. */
#ifndef HC_SHIM_GUARD_AUDIT_H
#define HC_SHIM_GUARD_AUDIT_H

/* Before the interpreter starts. -1: no memory. */
int hc_audit_prepare(void);

/* Judge from now on. */
void hc_audit_watch(void);

#endif
