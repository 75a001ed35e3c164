/* decoys.h - harmless objects on the host that attacks try to reach, made for the length of a drill. */
#ifndef HC_CELL_DOCTOR_DECOYS_H
#define HC_CELL_DOCTOR_DECOYS_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <mqueue.h>

#define HC_DECOYS_DIR 1024 /* bytes of a directory's path, with its NUL */

struct hc_decoys {
    /* A new directory; a file in it, readable for every user. */
    char dir[HC_DECOYS_DIR], file[HC_DECOYS_DIR + 8];
    char given[HC_DECOYS_DIR + 8],
        copied[HC_DECOYS_DIR + 8]; /* directories in it, for programs to be given */
    int pipe_fd;                   /* descriptor of a FIFO in `given`, open for reading and writing; owned */
    char secret[33];               /* content of the file, the segment and the queue's message */
    char abstract[40];             /* a name of the abstract socket namespace: unix(7) */
    char queue[40];                /* a name of a POSIX message queue */
    int abstract_fd, tcp_fd;       /* listening sockets, owned */
    int port;                      /* port of tcp_fd, on 127.0.0.1 */
    int shm_key;                   /* key of the System V segment */
    int shm_id;                    /* identifier of the segment; -1: this kernel has none */
    pid_t pid;                     /* a process of the host: this one, or a child of it; owned */
    mqd_t mq;                      /* the message queue, owned; (mqd_t)-1: this kernel has none */
};

/* Places in the cell of the two directories `given` (for reading) and `copied` (as a copy). */
#define HC_DECOYS_GIVEN  "/mnt/hotcell-given"
#define HC_DECOYS_COPIED "/mnt/hotcell-copied"

/* Make all decoys. Kinds that this kernel lacks (System V and POSIX IPC) are left out of hc_decoys_print;
 * other failures are -1. The caller calls hc_decoys_remove in either case. */
int hc_decoys_put_up(struct hc_decoys *l, struct hc_error *err);
void hc_decoys_remove(struct hc_decoys *l);

/* Make a new directory "hotcell-WHAT-..." in $TMPDIR, or /tmp. `out` gets its path; empty on failure. */
int hc_decoys_make_dir(char *out, size_t size, const char *what, struct hc_error *err);

/* The JSON object of decoys that attacks get. Owned by the caller; NULL: no memory. */
cJSON *hc_decoys_print(const struct hc_decoys *l);

#endif
