#include "cell/ids.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RUN_DIR "/run/hotcell" /* directory of the file of leases */

/* The next line of an id map in /proc, for example "0 100000 65536", as its first id and its number of ids;
 * NULL at the end of the text. */
static const char *next_extent(const char *text, uint64_t *first, uint64_t *count)
{
    char *rest;
    *first = strtoull(text, &rest, 10);
    if (rest == text)
        return NULL;
    (void)strtoull(rest, &rest, 10); /* the id outside */
    *count = strtoull(rest, &rest, 10);
    return rest;
}

static bool map_has(const char *path, uint64_t start, uint64_t number)
{
    char text[4096];
    uint64_t first, count;
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return true;
    for (const char *at = text; (at = next_extent(at, &first, &count));)
        if (start >= first && start + number <= first + count)
            return true;
    return false;
}

bool hc_ids_exist(uid_t start, uid_t count)
{
    return map_has("/proc/self/uid_map", start, count) && map_has("/proc/self/gid_map", start, count);
}

/* In a container with a user namespace, which most often has 65536 ids, the default range does not exist.
 * Take the third quarter of the most ids in a row: useradd(8) counts from below, systemd and Debian use ids
 * above. */
static void take_ids_of_container(uid_t *start, uid_t *count)
{
    char text[4096];
    uint64_t first, number, most = 0;
    if (hc_ids_exist(*start, *count) || hc_read_attr(AT_FDCWD, "/proc/self/uid_map", text, sizeof text) < 0)
        return;
    uid_t wanted = 0;
    for (const char *at = text; (at = next_extent(at, &first, &number));) {
        if (number <= most)
            continue;
        most = number;
        wanted = (uid_t)(first + number / 2);
    }
    const uid_t part = most / 4 < HC_UID_COUNT ? (uid_t)(most / 4) : HC_UID_COUNT;
    if (wanted < HC_UID_LEAST || part == 0 || !hc_ids_exist(wanted, part))
        return;
    *start = wanted;
    *count = part;
}

int hc_ids_range(uid_t *start, uid_t *count, struct hc_error *err)
{
    *start = HC_UID_START;
    *count = HC_UID_COUNT;
    const char *text = getenv("HOTCELL_UID_RANGE");
    if (!text || !*text) {
        take_ids_of_container(start, count);
        return 0;
    }
    char first[32];
    const char *colon = strchr(text, ':');
    int64_t s = 0, c = 0;
    if (colon && (size_t)(colon - text) < sizeof first) {
        memcpy(first, text, (size_t)(colon - text));
        first[colon - text] = '\0';
        if (hc_parse_int(first, &s) == 0 && hc_parse_int(colon + 1, &c) == 0 && s >= HC_UID_LEAST && c >= 1 &&
            c <= 1 << 24 && s + c <= 0xfffffffeLL) {
            *start = (uid_t)s;
            *count = (uid_t)c;
            return 0;
        }
    }
    return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                      "HOTCELL_UID_RANGE: expected START:COUNT with START of at least %u, got '%s'",
                      HC_UID_LEAST, text);
}

/* Root's directory for leases, gone after a reboot as the leases are. The daemon's socket is there too. */
static int make_run_dir(struct hc_error *err)
{
    if (mkdir(RUN_DIR, 0711) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "make " RUN_DIR);
    return 0;
}

static bool lock_bytes(int fd, off_t at, off_t count)
{
    /* An "open file description" lock: the child of clone3 shares it, and it ends with the last copy of the
     * descriptor. */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = count};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* Lease `count` consecutive ids; `ids` gets the first. */
static int lease_ids(struct hc_ids *ids, uid_t start, uid_t range, uid_t count, struct hc_error *err)
{
    static const char path[] = RUN_DIR "/uids";
    if (make_run_dir(err) < 0)
        return -1;
    hc_autofd fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hc_fail(err, errno, "open the uid leases %s", path);
    /* From a random place: a uid that was just given back is not the next to be used. */
    uint32_t at = 0;
    const uid_t blocks = range / count;
    if (getrandom(&at, sizeof at, 0) != sizeof at)
        return hc_fail(err, errno, "getrandom");
    for (uid_t i = 0; i < blocks; i++) {
        uid_t id = start + (at % blocks + i) % blocks * count;
        if (!lock_bytes(fd, id, count))
            continue;
        *ids = (struct hc_ids){.uid = id, .gid = id, .lease_fd = hc_take(&fd)};
        return 0;
    }
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "all %u host uids of HOTCELL_UID_RANGE are in use", range);
}

int hc_ids_lease(struct hc_ids *ids, struct hc_error *err)
{
    uid_t start, range;
    *ids = (struct hc_ids){.uid = geteuid(), .gid = getegid(), .lease_fd = -1};
    if (ids->uid != 0)
        return 0;
    return hc_ids_range(&start, &range, err) < 0 ? -1 : lease_ids(ids, start, range, 1, err);
}

int hc_ids_lease_block(struct hc_ids *block, uid_t most, struct hc_error *err)
{
    uid_t start, range;
    *block = (struct hc_ids){.lease_fd = -1};
    if (hc_ids_range(&start, &range, err) < 0)
        return -1;
    /* At most an eighth of the range, so that one zygote cannot take all ids. */
    uid_t count = most <= range / 8 ? most : range / 8;
    count = count ? count : 1;
    /* An eighth is left to cells without a zygote; the block is smaller where no such block is free. */
    const uid_t part = range - range / 8;
    for (; count > 0; count /= 2)
        if (lease_ids(block, start, part, count, err) == 0)
            return (int)count;
    return -1;
}

void hc_ids_release(struct hc_ids *ids)
{
    hc_close_fd(&ids->lease_fd);
}

static int write_map(int proc, const char *file, unsigned inside, unsigned host, struct hc_error *err)
{
    char line[48];
    (void)snprintf(line, sizeof line, "%u %u 1", inside, host);
    return hc_write_attr(proc, file, line, err);
}

int hc_ids_write_maps(pid_t pid, uid_t inside_uid, uid_t host_uid, gid_t inside_gid, gid_t host_gid,
                      struct hc_error *err)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    hc_autofd proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return hc_fail(err, errno, "open %s", path);
    if (geteuid() != 0 && hc_write_attr(proc, "setgroups", "deny", err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    if (write_map(proc, "uid_map", inside_uid, host_uid, err) < 0 ||
        write_map(proc, "gid_map", inside_gid, host_gid, err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    return 0;
}

static int write_block_map(int proc, const char *file, unsigned inside, unsigned host, unsigned first,
                           unsigned block, unsigned count, struct hc_error *err)
{
    char lines[96];
    (void)snprintf(lines, sizeof lines, "%u %u 1\n%u %u %u\n", inside, host, first, block, count);
    return hc_write_attr(proc, file, lines, err);
}

int hc_ids_write_block_maps(pid_t pid, uid_t inside, const struct hc_ids *own, uid_t first,
                            const struct hc_ids *block, uid_t count, struct hc_error *err)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d", pid);
    hc_autofd proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return hc_fail(err, errno, "open %s", path);
    if (write_block_map(proc, "uid_map", inside, own->uid, first, block->uid, count, err) < 0 ||
        write_block_map(proc, "gid_map", inside, own->gid, first, block->gid, count, err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    return 0;
}

int hc_ids_mapping(uid_t fs_uid, gid_t fs_gid, const struct hc_ids *ids, struct hc_error *err)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    hc_autofd read_end = pipe_fds[0];
    hc_autofd write_end = pipe_fds[1];
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    pid_t pid = hc_clone3(&args);
    if (pid < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make a user namespace for an idmapped mount");
    if (pid == 0) {
        hc_close_fd(&write_end);
        char byte;
        (void)!read(read_end, &byte, 1); /* end of file: the launcher has opened the namespace, or is gone */
        _exit(0);
    }
    int fd = -1;
    if (hc_ids_write_maps(pid, fs_uid, ids->uid, fs_gid, ids->gid, err) == 0) {
        char path[48];
        (void)snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            (void)hc_fail(err, errno, "open %s", path);
    }
    hc_close_fd(&write_end);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return fd;
}
