#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

void hc_close_fd(int *fd)
{
    int saved = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

int hc_read_all(int fd, struct hc_buf *out, size_t max, struct hc_error *err)
{
    size_t total = 0;
    char chunk[16384];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hc_fail(err, errno, "read");
        if (n == 0)
            return 0;
        total += (size_t)n;
        if (total > max)
            return hc_fail_as(err, HC_EXIT_DATA, EFBIG, "more than %zu bytes", max);
        if (hc_buf_add(out, chunk, (size_t)n) < 0)
            return hc_fail(err, ENOMEM, "read");
    }
}

int hc_read_file(int dir_fd, const char *path, struct hc_buf *out, size_t max, struct hc_error *err)
{
    /* O_NONBLOCK: a FIFO where a file was expected must not hang us before fstat can tell. */
    hc_autofd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hc_fail(err, errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, S_ISDIR(st.st_mode) ? EISDIR : 0, "%s%s", path,
                          S_ISDIR(st.st_mode) ? "" : ": not a regular file");
    if (hc_read_all(fd, out, max, err) < 0)
        return hc_ctx(err, "%s", path);
    return 0;
}

int hc_open_quietly(int dir_fd, const char *path, int flags)
{
    flags |= O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(dir_fd, path, flags | O_NOATIME);
    return fd < 0 && errno == EPERM ? openat(dir_fd, path, flags) : fd;
}

int hc_write_all(int fd, const void *data, size_t len, struct hc_error *err)
{
    const char *p = data;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hc_fail(err, errno, "write");
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Write without ever blocking, whatever the caller gave us as standard output: sockets can be told so per
 * call; a pipe that polls writable takes PIPE_BUF bytes; regular files always poll writable. Our own
 * O_NONBLOCK would change the caller's open file too. */
ssize_t hc_write_some(int fd, const char *data, size_t len)
{
    size_t n = len < PIPE_BUF ? len : PIPE_BUF;
    ssize_t sent = send(fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (poll(&p, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(fd, data, n);
}

int hc_write_attr(int dir_fd, const char *name, const char *value, struct hc_error *err)
{
    hc_autofd fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "open %s", name);
    /* One write: the kernel parses an attribute per write call. */
    ssize_t n = TEMP_FAILURE_RETRY(write(fd, value, strlen(value)));
    if (n < 0)
        return hc_fail(err, errno, "write '%s' to %s", value, name);
    return 0;
}

static void end_text(char *out, size_t used)
{
    while (used && out[used - 1] == '\n')
        used--;
    out[used] = '\0';
}

int hc_read_attr(int dir_fd, const char *name, char *out, size_t size)
{
    hc_autofd fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t used = 0;
    while (used + 1 < size) {
        ssize_t n = TEMP_FAILURE_RETRY(read(fd, out + used, size - 1 - used));
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        used += (size_t)n;
    }
    end_text(out, used);
    return 0;
}

int hc_read_record(int dir_fd, const char *name, char *out, size_t size)
{
    hc_autofd fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : TEMP_FAILURE_RETRY(read(fd, out, size - 1));
    if (n < 0)
        return -1;
    end_text(out, (size_t)n);
    return 0;
}

static int fill_and_seal(int made, const char *name, const void *data, size_t len, struct hc_error *err)
{
    hc_autofd fd = made;
    if (fd < 0)
        return hc_fail(err, errno, "memfd_create");
    if (hc_write_all(fd, data, len, err) < 0)
        return hc_ctx(err, "fill memfd '%s'", name);
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return hc_fail(err, errno, "seal memfd '%s'", name);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "rewind memfd '%s'", name);
    return hc_take(&fd);
}

int hc_sealed_memfd(const char *name, const void *data, size_t len, struct hc_error *err)
{
    return fill_and_seal(memfd_create(name, HC_MEMFD_FLAGS), name, data, len, err);
}

int hc_sealed_program(const char *name, const void *data, size_t len, struct hc_error *err)
{
    int fd = memfd_create(name, HC_MEMFD_FLAGS | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) /* kernels before 6.3 lack the flag, and need none */
        fd = memfd_create(name, HC_MEMFD_FLAGS);
    return fill_and_seal(fd, name, data, len, err);
}

int hc_make_dirs(const char *path, mode_t mode, struct hc_error *err)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return hc_fail(err, ENAMETOOLONG, "mkdir %s", path);
    for (char *p = part + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char was = *p;
        *p = '\0';
        if (mkdir(part, was ? 0755 : mode) < 0 && errno != EEXIST)
            return hc_fail(err, errno, "mkdir %s", part);
        if (!was)
            break;
        *p = was;
    }
    struct stat st;
    if (stat(path, &st) < 0)
        return hc_fail(err, errno, "%s", path);
    return S_ISDIR(st.st_mode) ? 0 : hc_fail(err, ENOTDIR, "%s", path);
}
