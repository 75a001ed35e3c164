#include "shim/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* The functions here have the names of the C library's, and replace them because the dynamic linker looks
 * first into the executable, which exports them (-rdynamic). */

/* ---- record locks ---- */

/* Cells share the files of the tree, inputs and /dev/null, and would see each other's locks on them. Where a
 * cell has one process only, the filter returns ENOLCK, and this file gives the answer that the process would
 * always get, as record locks are between processes. SQLite, for one, only needs the call to succeed. */

static off_t base_of(int fd, const struct flock *lock)
{
    struct stat st;
    switch (lock->l_whence) {
    case SEEK_SET:
        return 0;
    case SEEK_CUR:
        return lseek(fd, 0, SEEK_CUR);
    case SEEK_END:
        return fstat(fd, &st) < 0 ? -1 : st.st_size;
    default:
        errno = EINVAL;
        return -1;
    }
}

static int fail_errno(int error)
{
    errno = error;
    return -1;
}

/* Answers a record lock of the only process of the cell, after the checks that fcntl(2) describes. */
static int lock_alone(int fd, int command, struct flock *lock)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -1;
    bool is_query = command == F_GETLK;
    if (lock->l_type != F_RDLCK && lock->l_type != F_WRLCK && (is_query || lock->l_type != F_UNLCK))
        return fail_errno(EINVAL);
    int mode = flags & O_ACCMODE;
    if ((flags & O_PATH) || (!is_query && lock->l_type == F_RDLCK && mode == O_WRONLY) ||
        (!is_query && lock->l_type == F_WRLCK && mode == O_RDONLY))
        return fail_errno(EBADF);
    off_t start = base_of(fd, lock), length = lock->l_len;
    if (start < 0)
        return -1;
    if (__builtin_add_overflow(start, lock->l_start, &start))
        return fail_errno(EOVERFLOW);
    if (start < 0 || (length < 0 && start + length < 0))
        return fail_errno(EINVAL);
    if (is_query)
        lock->l_type = F_UNLCK;
    errno = 0;
    return 0;
}

static int call_fcntl(int fd, int command, void *argument)
{
    int before = errno;
    int rc = (int)syscall(SYS_fcntl, fd, command, argument);
    bool refused = rc < 0 && (errno == ENOLCK || errno == ENOSYS); /* ENOSYS comes from the first filter */
    if (!refused || (command != F_GETLK && command != F_SETLK && command != F_SETLKW))
        return rc;
    rc = lock_alone(fd, command, argument);
    if (rc == 0)
        errno = before;
    return rc;
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return call_fcntl(fd, command, argument);
}

int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return call_fcntl(fd, command, argument);
}

int lockf(int fd, int command, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    switch (command) {
    case F_TEST:
        if (call_fcntl(fd, F_GETLK, &lock) < 0)
            return -1;
        return lock.l_type == F_UNLCK || lock.l_pid == getpid() ? 0 : fail_errno(EACCES);
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return call_fcntl(fd, F_SETLK, &lock);
    case F_LOCK:
        return call_fcntl(fd, F_SETLKW, &lock);
    case F_TLOCK:
        return call_fcntl(fd, F_SETLK, &lock);
    default:
        return fail_errno(EINVAL);
    }
}

int lockf64(int fd, int command, off64_t length)
{
    return lockf(fd, command, length);
}

/* ---- memory and time ---- */

static int64_t memory = INT64_C(1) << 30, output_size, tmp_size; /* bytes: see hc_libc_sizes */

void hc_libc_sizes(int64_t memory_bytes, int64_t output, int64_t tmp)
{
    memory = memory_bytes;
    output_size = output;
    tmp_size = tmp;
}

int sysinfo(struct sysinfo *info)
{
    struct timespec up = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    *info = (struct sysinfo){.uptime = up.tv_sec,
                             .totalram = (unsigned long)memory,
                             .freeram = (unsigned long)memory,
                             .procs = 1,
                             .mem_unit = 1};
    return 0;
}

long sysconf(int name)
{
    static long (*real)(int);
    if (!real)
        real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES)
        return memory / real(_SC_PAGESIZE);
    return real(name);
}

#define TICKS 100 /* clock ticks a second: sysconf(_SC_CLK_TCK) on x86-64 and arm64 */

static clock_t ticks(const struct timeval *t)
{
    return t->tv_sec * TICKS + t->tv_usec / (1000000 / TICKS);
}

/* What times(2) returns is the host's uptime: no time namespace changes it. */
clock_t times(struct tms *out)
{
    struct rusage own, children;
    struct timespec up;
    if (getrusage(RUSAGE_SELF, &own) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0 ||
        clock_gettime(CLOCK_BOOTTIME, &up) < 0)
        return -1;
    if (out)
        *out = (struct tms){.tms_utime = ticks(&own.ru_utime),
                            .tms_stime = ticks(&own.ru_stime),
                            .tms_cutime = ticks(&children.ru_utime),
                            .tms_cstime = ticks(&children.ru_stime)};
    return up.tv_sec * TICKS + up.tv_nsec / (1000000000 / TICKS);
}

/* ---- file systems ---- */

/* The filter refuses statfs(2), as it would describe the tree's file system, which is the host's disk. For
 * /output and /tmp, which are small, the files are counted here. */

#define BLOCK 4096 /* bytes of a block in our answers */

static _Thread_local int64_t counted; /* bytes of the files below one directory */

static int count_blocks(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)path;
    (void)kind;
    (void)at;
    counted += st->st_blocks * 512;
    return 0;
}

static int fill_statvfs(const char *root, int64_t size, dev_t dev, struct statvfs *out)
{
    struct stat st;
    if (!size || stat(root, &st) < 0 || st.st_dev != dev)
        return -1;
    counted = 0;
    if (nftw(root, count_blocks, 16, FTW_PHYS | FTW_MOUNT) != 0)
        return -1;
    fsblkcnt_t all = (fsblkcnt_t)size / BLOCK, used = (fsblkcnt_t)counted / BLOCK;
    fsblkcnt_t left = used < all ? all - used : 0;
    *out = (struct statvfs){.f_bsize = BLOCK,
                            .f_frsize = BLOCK,
                            .f_blocks = all,
                            .f_bfree = left,
                            .f_bavail = left,
                            .f_flag = ST_NOSUID | ST_NODEV | ST_NOEXEC,
                            .f_namemax = 255};
    return 0;
}

static int answer_for_cell(int looked, const struct stat *st, struct statvfs *out)
{
    if (looked < 0 || fill_statvfs("/output", output_size, st->st_dev, out) == 0 ||
        fill_statvfs("/tmp", tmp_size, st->st_dev, out) == 0)
        return looked;
    return fail_errno(EPERM);
}

int statvfs(const char *path, struct statvfs *out)
{
    static int (*real)(const char *, struct statvfs *);
    struct stat st;
    if (!real)
        real = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    int rc = real(path, out);
    return rc < 0 && errno == EPERM ? answer_for_cell(stat(path, &st), &st, out) : rc;
}

int fstatvfs(int fd, struct statvfs *out)
{
    static int (*real)(int, struct statvfs *);
    struct stat st;
    if (!real)
        real = (int (*)(int, struct statvfs *))dlsym(RTLD_NEXT, "fstatvfs");
    int rc = real(fd, out);
    return rc < 0 && errno == EPERM ? answer_for_cell(fstat(fd, &st), &st, out) : rc;
}

int statvfs64(const char *path, struct statvfs64 *out)
{
    return statvfs(path, (struct statvfs *)(void *)out); /* the same struct where off_t has 64 bits */
}

int fstatvfs64(int fd, struct statvfs64 *out)
{
    return fstatvfs(fd, (struct statvfs *)(void *)out);
}
