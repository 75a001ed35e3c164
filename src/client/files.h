/* files.h - what a job left with the daemon, brought into a directory of this host. */
#ifndef HC_CLIENT_FILES_H
#define HC_CLIENT_FILES_H

#include "cell/collect.h"
#include "client/http.h"

#include <cjson/cJSON.h>

/* Every file and figure that the manifest lists, and the program where it was kept. Names come from a guest:
 * each must lie below the directory, and its content be what the manifest says. `job` is the path of the job
 * in the daemon, "/v1/jobs/ID". */
int hc_files_fetch(const struct hc_place *place, const char *job, const cJSON *manifest, struct hc_dest *dest,
                   struct hc_error *err);

#endif
