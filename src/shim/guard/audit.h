/* audit.h - the interpreter's audit events: what has an effect outside the program is judged here, whoever
 * causes it and by whatever way. */
#ifndef HC_SHIM_GUARD_AUDIT_H
#define HC_SHIM_GUARD_AUDIT_H

#include <stdbool.h>

/* Before the interpreter starts. -1: no memory. */
int hc_audit_prepare(void);

/* Judge from now on, or no longer. */
void hc_audit_watch(bool on);

#endif
