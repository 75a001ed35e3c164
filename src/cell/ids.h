/* ids.h - which host uid a cell runs as, and the id maps of its user namespace. */
#ifndef HC_CELL_IDS_H
#define HC_CELL_IDS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* A job's ids on the host. A root launcher gives every job a host uid (and the gid of the same number) of
 * its own from a range; the lease is a lock on one byte of a file, so the kernel returns it however the
 * launcher ends. An ordinary user has only its own ids. */
struct hc_ids {
    uid_t uid;    /* uid of the job's processes on the host */
    gid_t gid;    /* gid of these processes on the host */
    int lease_fd; /* holds the lock, owned; -1 for an ordinary user */
};

/* The default range: its first uid, 0x7f000000, far above what accounts and subordinate ranges use; its
 * length. */
#define HC_UID_START 2130706432u
#define HC_UID_COUNT 65536u
#define HC_UID_LEAST 1000u /* first uid that a range may have */

/* Read the range from $HOTCELL_UID_RANGE=START:COUNT; without it the default or, where that does not exist in
 * this process's user namespace, a range that does. HC_EXIT_CONFIG if the variable is wrong. */
int hc_ids_range(uid_t *start, uid_t *count, struct hc_error *err);

/* Whether these uids, and the gids of the same numbers, exist in this process's user namespace. */
bool hc_ids_exist(uid_t start, uid_t count);

/* Get ids for one job; hc_ids_release gives them back. HC_EXIT_UNAVAILABLE if all are in use. */
int hc_ids_lease(struct hc_ids *ids, struct hc_error *err);

/* Lease up to `most` consecutive uids for the cells of one zygote; `block` gets the first. Returns their
 * number, or -1. Root only. */
int hc_ids_lease_block(struct hc_ids *block, uid_t most, struct hc_error *err);
void hc_ids_release(struct hc_ids *ids);

/* Write the maps of a process that was just cloned into a new user namespace: one id each. `setgroups` is
 * denied first where the kernel demands it (user_namespaces(7)). */
int hc_ids_write_maps(pid_t pid, uid_t inside_uid, uid_t host_uid, gid_t inside_gid, gid_t host_gid,
                      struct hc_error *err);

/* Write the maps of a zygote that root starts: besides its own id, map `count` ids from `block` on to the ids
 * from `first` on inside. */
int hc_ids_write_block_maps(pid_t pid, uid_t inside, const struct hc_ids *own, uid_t first,
                            const struct hc_ids *block, uid_t count, struct hc_error *err);

/* Make a user namespace that only maps the ids of a file system for an idmapped mount: in the mount, files of
 * `fs_uid` and `fs_gid` belong to `ids`. Returns a descriptor for mount_setattr(MOUNT_ATTR_IDMAP), owned by
 * the caller, or -1. Root only. */
int hc_ids_mapping(uid_t fs_uid, gid_t fs_gid, const struct hc_ids *ids, struct hc_error *err);

#endif
