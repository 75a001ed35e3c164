/* upload.h - prints a job as the body of a request to a daemon, with the contents of its input files, unless
 * they are large. */
#ifndef HC_CLIENT_UPLOAD_H
#define HC_CLIENT_UPLOAD_H

#include "client/parts.h"

/* Can a daemon run this job? -1 with HC_EXIT_USAGE: no; the message names the option that a daemon does not
 * take. */
int hc_upload_check(const struct hc_job *job, struct hc_error *err);

/* Adds the JSON text of the request to `out`. `tools` are the tools that hc_tool_proxy_open has moved out of
 * the job. Inputs that are too large for a body are sent before it, by `parts`. -1 with HC_EXIT_DATA: an
 * input file cannot be read, or the daemon does not take it. */
int hc_upload_print(const struct hc_job *job, const struct hc_tools *tools, struct hc_parts *parts,
                    struct hc_buf *out, struct hc_error *err);

#endif
