/* files.h - fetches the files of a job from the daemon into a directory of this host. */
#ifndef HC_CLIENT_FILES_H
#define HC_CLIENT_FILES_H

#include "cell/collect.h"
#include "client/http.h"

#include <cjson/cJSON.h>

/* Fetches every file and figure that `manifest` lists, and the program if the daemon saved it, into `dest`.
 * The names come from a guest: each must lie below `dest`, and the content must have the size and hash that
 * the manifest gives. `job` is the job's path in the daemon, "/v1/jobs/ID". */
int hc_files_fetch(const struct hc_daemon_address *place, const char *job, const cJSON *manifest,
                   struct hc_dest *dest, struct hc_error *err);

#endif
