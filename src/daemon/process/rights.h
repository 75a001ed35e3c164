/* rights.h - take their rights away from those processes of the daemon that need none. */
#ifndef HC_DAEMON_PROCESS_RIGHTS_H
#define HC_DAEMON_PROCESS_RIGHTS_H

#include "base/error.h"

#include <sys/types.h>

/* Find the uid that such processes run as: the daemon's own; if that is root, the last uid before the range
 * of the jobs' uids, which no account and no job has. */
int hc_front_uid(uid_t *uid, struct hc_error *err);

/* Change to that uid and drop all rights; called when all descriptors are open. A process that parses what
 * strangers send needs no rights to do so. The process still ends with its parent. */
int hc_drop_rights(struct hc_error *err);

#endif
