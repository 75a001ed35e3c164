/* decoys.h - things of the host that an attack may try for, put up for the length of a drill, and harmless.
 */
#ifndef HC_CELL_DOCTOR_DECOYS_H
#define HC_CELL_DOCTOR_DECOYS_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <mqueue.h>

#define HC_DECOYS_DIR 1024

struct hc_decoys {
    char dir[HC_DECOYS_DIR],
        file[HC_DECOYS_DIR + 8]; /* a directory of our own, and a file in it that everybody may read */
    char secret[33];             /* what the file and the segment hold */
    char abstract[40];           /* a name of the abstract socket namespace: unix(7) */
    char queue[40];              /* a POSIX queue's */
    int abstract_fd, tcp_fd;
    int port;    /* of 127.0.0.1 */
    int shm_key; /* of a System V segment */
    int shm_id;
    mqd_t mq;
};

/* Put up all of them. What this host does not have is left out of hc_decoys_print; -1 only for what every
 * host has. Whatever came out, hc_decoys_remove is to be called. */
int hc_decoys_put_up(struct hc_decoys *l, struct hc_error *err);
void hc_decoys_remove(struct hc_decoys *l);

/* A new directory in $TMPDIR, or /tmp. `out` gets its path; empty on failure. */
int hc_decoys_make_dir(char *out, size_t size, const char *what, struct hc_error *err);

/* The object that attacks get. Owned by the caller; NULL without memory. */
cJSON *hc_decoys_print(const struct hc_decoys *l);

#endif
