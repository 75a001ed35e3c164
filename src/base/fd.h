/* fd.h - descriptors with one owner, and whole reads and writes. Every descriptor is born close-on-exec. */
#ifndef HC_BASE_FD_H
#define HC_BASE_FD_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* A local descriptor that is closed at the end of its scope. "None" is -1; 0 is a valid descriptor. */
#define hc_autofd __attribute__((cleanup(hc_close_fd))) int

void hc_close_fd(int *fd); /* closes if >= 0 and sets -1; keeps errno */

/* Move a descriptor out of its owner. */
static inline int hc_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* Read to the end of the file and append the bytes to `out`. -1: reading failed; or there were more than
 * `max` bytes (HC_EXIT_DATA, EFBIG in err->sys). */
int hc_read_all(int fd, struct hc_buf *out, size_t max, struct hc_error *err);

/* Append the whole content of a file, at most `max` bytes, to `out`. `dir_fd` as for openat. HC_EXIT_DATA:
 * the file cannot be opened, is no regular file, or has more bytes. */
int hc_read_file(int dir_fd, const char *path, struct hc_buf *out, size_t max, struct hc_error *err);

/* Open for reading without changing the access time, which would reveal to later readers when the file was
 * read. Only the file's owner may do that; for other users the access time changes. `dir_fd` and errno as
 * for openat. */
int hc_open_quietly(int dir_fd, const char *path, int flags);

/* Write all `len` bytes, repeating after EINTR. */
int hc_write_all(int fd, const void *data, size_t len, struct hc_error *err);

/* Write as much as can be written without blocking, to any kind of file, and without SIGPIPE for sockets.
 * Returns the number of bytes, or -1 with errno; EAGAIN: none could be written. */
ssize_t hc_write_some(int fd, const char *data, size_t len);

/* Open the existing file `name` below `dir_fd` and write the text `value`: for cgroup, proc and sys files. */
int hc_write_attr(int dir_fd, const char *name, const char *value, struct hc_error *err);

/* Read the first `size` - 1 bytes of an attribute file into `out`, without the newline at their end. 0, or -1
 * with errno set. */
int hc_read_attr(int dir_fd, const char *name, char *out, size_t size);

/* The same for a file that the kernel gives whole in one read, such as /proc/PID/status and stat: they are
 * one record each. */
int hc_read_record(int dir_fd, const char *name, char *out, size_t size);

/* Make a memfd with this content, at offset 0, which is sealed against writing, growing, shrinking and
 * further seals. Returns its descriptor, owned by the caller, or -1. `name` is for people who look into
 * /proc. */
int hc_sealed_memfd(const char *name, const void *data, size_t len, struct hc_error *err);

#define HC_MEMFD_FLAGS (MFD_CLOEXEC | MFD_ALLOW_SEALING) /* flags of memfd_create(2) for these memfds */
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3 */
#endif
/* Make such a memfd of a program, to be run by execveat. -1 also where the host forbids executable memfds. */
int hc_sealed_program(const char *name, const void *data, size_t len, struct hc_error *err);

/* mkdir -p for a path that hotcell or its user chose (never a guest). `mode` is for the last part; missing
 * parents get 0755, as other users' files may lie there. */
int hc_make_dirs(const char *path, mode_t mode, struct hc_error *err);

#endif
