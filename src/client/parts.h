/* parts.h - inputs that are too large for the body of a job: they go to hotcelld before it, in parts
 * (hotcelld(8), UPLOADS). */
#ifndef HC_CLIENT_PARTS_H
#define HC_CLIENT_PARTS_H

#include "client/http.h"
#include "job/job.h"

/* The uploads of one job. */
struct hc_parts {
    const struct hc_daemon_address *place;    /* borrowed */
    int cancel_fd;                            /* readable: send no further part; -1: no such descriptor */
    char ids[HC_MAX_INPUTS][HC_JOB_NAME + 1]; /* ids of the uploads, in the order in which they were sent */
    size_t count;                             /* used entries of `ids` */
};

/* Send the file of an input. Returns the id of the upload, borrowed from `p`. NULL: the daemon has refused it
 * (HC_EXIT_DATA or as for a job), or it could not be read or sent. */
const char *hc_parts_send(struct hc_parts *p, const struct hc_input *in, struct hc_error *err);

/* Have the daemon remove the uploads, of which a job that has begun has a link of its own. Those that it
 * cannot be asked about go with their age. */
void hc_parts_forget(struct hc_parts *p);

#endif
