/* volume.h - named volumes: directories that are kept between the jobs of a tenant; each job gets a copy.
 *
 * Below a directory `root`, a volume is TENANT/NAME/now, with its files in `data` and two numbers in `size`.
 * A commit fills TENANT/NAME/next, has it written to the disk, and exchanges both: whenever it is killed, the
 * volume is as before, or as after. Who has the volume, or removes it, holds a lock on TENANT/NAME. A lock on
 * TENANT is held for the moments in which the tenant's volumes grow, that is while one is made and while both
 * contents are exchanged, so that the quota holds for all of them together. Files are 0644 or, if
 * the program made them executable, 0755: what users may do with them is decided by who may enter `root`. */
#ifndef HC_CELL_VOLUME_H
#define HC_CELL_VOLUME_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_VOLUME_NAME 65                        /* bytes of a volume's or tenant's name, with the NUL */
#define HC_VOLUME_PATH (2 * HC_VOLUME_NAME + 32) /* bytes of a path below `root`, with the NUL */

struct hc_deadline;

/* What a tenant's volumes may be together. */
struct hc_volume_quota {
    /* Most volumes, 0: the tenant may have none; most bytes in all of them; most files, directories and links
     * in all of them. The latter two: 0: no limit. */
    int64_t count, bytes, files;
};

/* A volume that a job has. */
struct hc_volume {
    int tenant_fd, fd;            /* TENANT and TENANT/NAME, the lock is on `fd`; owned. -1: not open */
    char name[HC_VOLUME_NAME];    /* name of the volume */
    struct hc_volume_quota quota; /* quota of the tenant for all of its volumes */
    bool is_new;                  /* the volume was made when it was opened */
};

/* The size of a volume's content. */
struct hc_volume_size {
    int64_t bytes, files; /* bytes of its files; number of its files, directories and links */
};

/* Open and lock the volume; a new one is empty. `path` gets the path of its files below `root`. HC_EXIT_DATA;
 * with EBUSY in err->sys: another job has it. */
int hc_volume_open(struct hc_volume *v, int root, const char *tenant, const char *name,
                   const struct hc_volume_quota *quota, char path[HC_VOLUME_PATH], struct hc_error *err);
void hc_volume_close(struct hc_volume *v); /* gives the lock back; may be called again */

/* Close a volume whose job did not begin: if it was made for that job, and is empty, there is none again. */
void hc_volume_undo(struct hc_volume *v);

/* Put the content of the open directory `from`, which no process changes any more, in the place of the
 * volume's. All or nothing: -1 also if the quota does not suffice, or a file is of a kind that no volume
 * keeps (HC_EXIT_DATA); the volume is as it was then. */
int hc_volume_commit(const struct hc_volume *v, int from, struct hc_deadline *until,
                     struct hc_volume_size *size, struct hc_error *err);

/* Remove the volume. HC_EXIT_DATA with ENOENT in err->sys: there is none; with EBUSY: a job has it. */
int hc_volume_remove(int root, const char *tenant, const char *name, struct hc_error *err);

/* Call `take` for each of the tenant's volumes; it returns -1 to end the list. `changed`: time of the last
 * commit, in ms since 1970. Returns -1 if `take` did, or if the tenant's directory cannot be read. */
int hc_volume_list(int root, const char *tenant,
                   int (*take)(void *ctx, const char *name, const struct hc_volume_size *size,
                               int64_t changed),
                   void *ctx);

#endif
