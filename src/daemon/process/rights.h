/* rights.h - what a process of the daemon that needs no rights does away with. */
#ifndef HC_DAEMON_PROCESS_RIGHTS_H
#define HC_DAEMON_PROCESS_RIGHTS_H

#include "base/error.h"

#include <sys/types.h>

/* As which uid such processes serve: their own, or as root the one beside those of jobs, which no account and
 * no job has. */
int hc_front_uid(uid_t *uid, struct hc_error *err);

/* Once everything is open: what parses what strangers send need not be able to do anything else. The process
 * still ends with its parent. */
int hc_drop_rights(struct hc_error *err);

#endif
