/* upload.h - a job as the body of a request: what it names on this host goes along as content. */
#ifndef HC_CLIENT_UPLOAD_H
#define HC_CLIENT_UPLOAD_H

#include "job/job.h"

/* HC_EXIT_USAGE: the job has something that is not for a daemon, and the message names it. */
int hc_upload_check(const struct hc_job *job, struct hc_error *err);

/* `tools` are those that the job has given away. HC_EXIT_DATA: a file. */
int hc_upload_print(const struct hc_job *job, const struct hc_tools *tools, struct hc_buf *out,
                    struct hc_error *err);

#endif
