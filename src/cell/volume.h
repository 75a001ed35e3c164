/* volume.h - named volumes: directories that are kept between the jobs of a tenant; each job gets a copy.
 *
 * Below a directory `root`, a volume is TENANT/NAME/now, with its files in `data` and two numbers in `size`.
 * A commit fills TENANT/NAME/next, has it written to the disk, and exchanges both: if it is killed, the
 * volume is either as before or as after the commit. A job that has the volume holds a lock on TENANT/NAME. A
 * process that makes or commits one of the tenant's volumes holds a lock on TENANT, so that the quota holds
 * for all of them together. Files have mode 0644 or, if the program made them executable, 0755; the
 * permissions of `root` decide which users reach them. */
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

/* Replace the volume's content by that of the open directory `from` (borrowed), which no process changes any
 * more. `size` gets the new size. All or nothing: -1 also if the quota does not suffice, or a file is of a
 * kind that no volume keeps (HC_EXIT_DATA); the volume is then as it was. */
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
