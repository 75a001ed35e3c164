#include "batch/job_ids.h"

#include "base/fd.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define FIRST_PLACES 4096 /* places of a new table */

/* One place of an open-addressing table; line 0: free. IDs with the same first 16 bytes of SHA-256 count
 * as equal. */
struct place {
    uint64_t hash[2]; /* first 16 bytes of the ID's SHA-256 */
    int64_t line;     /* number of the ID's first line */
};

int hc_job_ids_file(int dir, struct hc_error *err)
{
    hc_autofd fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { /* a file system without unnamed files */
        fd = openat(dir, ".seen", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0)
            (void)unlinkat(dir, ".seen", 0);
    }
    return fd >= 0 ? hc_take(&fd) : hc_fail(err, errno, "a file for the IDs of jobs");
}

static int new_file(int dir, uint64_t places, struct hc_error *err)
{
    hc_autofd fd = hc_job_ids_file(dir, err);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)(places * sizeof(struct place))) < 0)
        return hc_fail(err, errno, "a file for the IDs of jobs");
    return hc_take(&fd);
}

int hc_job_ids_open(struct hc_job_ids *ids, int dir, struct hc_error *err)
{
    *ids = (struct hc_job_ids){.fd = new_file(dir, FIRST_PLACES, err), .dir = dir, .places = FIRST_PLACES};
    return ids->fd < 0 ? -1 : 0;
}

void hc_job_ids_finish(struct hc_job_ids *ids)
{
    hc_close_fd(&ids->fd);
}

static int fail_file(ssize_t n, struct hc_error *err)
{
    return hc_fail(err, n < 0 ? errno : EIO, "the IDs of jobs");
}

static int read_place(int fd, uint64_t i, struct place *p, struct hc_error *err)
{
    ssize_t n = pread(fd, p, sizeof *p, (off_t)(i * sizeof *p));
    return n == (ssize_t)sizeof *p ? 0 : fail_file(n, err);
}

static int write_place(int fd, uint64_t i, const struct place *p, struct hc_error *err)
{
    ssize_t n = pwrite(fd, p, sizeof *p, (off_t)(i * sizeof *p));
    return n == (ssize_t)sizeof *p ? 0 : fail_file(n, err);
}

static int put_place(int fd, uint64_t places, const struct place *p, int64_t *first, struct hc_error *err)
{
    for (uint64_t i = p->hash[0] & (places - 1);; i = (i + 1) & (places - 1)) {
        struct place there;
        if (read_place(fd, i, &there, err) < 0)
            return -1;
        *first = there.line ? there.line : p->line;
        if (there.line == 0)
            return write_place(fd, i, p, err);
        if (there.hash[0] == p->hash[0] && there.hash[1] == p->hash[1])
            return 0;
    }
}

static int grow(struct hc_job_ids *ids, struct hc_error *err)
{
    hc_autofd fd = new_file(ids->dir, ids->places * 2, err);
    if (fd < 0)
        return -1;
    for (uint64_t i = 0; i < ids->places; i++) {
        struct place p;
        int64_t first;
        if (read_place(ids->fd, i, &p, err) < 0)
            return -1;
        if (p.line && put_place(fd, ids->places * 2, &p, &first, err) < 0)
            return -1;
    }
    hc_close_fd(&ids->fd);
    ids->fd = hc_take(&fd);
    ids->places *= 2;
    return 0;
}

int hc_job_ids_put(struct hc_job_ids *ids, const char *id, int64_t line, int64_t *first, struct hc_error *err)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    struct place p = {.line = line};
    (void)crypto_hash_sha256(hash, (const unsigned char *)id, strlen(id));
    memcpy(p.hash, hash, sizeof p.hash);
    if (ids->taken >= ids->places / 2 && grow(ids, err) < 0)
        return -1;
    if (put_place(ids->fd, ids->places, &p, first, err) < 0)
        return -1;
    ids->taken += *first == line; /* an ID that the same line adds twice counts twice */
    return 0;
}
